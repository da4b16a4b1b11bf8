/** A JSON parser that keeps all digits of numbers and the position of each part in the text. */

export interface JsonPart {
  readonly kind: 'object' | 'array' | 'text' | 'other';
  /** Offsets in the text. */
  readonly from: number;
  readonly to: number;
  /** Members of an object or array: names or indexes, in order. */
  readonly children: readonly (readonly [name: string | number, part: JsonPart])[];
}

interface Reader {
  readonly text: string;
  at: number;
}

/** @param text valid for `JSON.parse`. @throws SyntaxError otherwise */
export function jsonParts(text: string): JsonPart {
  JSON.parse(text);
  return partAt({ text, at: 0 });
}

export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Indented by two. @throws SyntaxError */
export function indentedJson(text: string): string {
  return written(text, jsonParts(text), '');
}

function written(text: string, { kind, from, to, children }: JsonPart, indent: string): string {
  if (children.length === 0) return kind === 'object' ? '{}' : kind === 'array' ? '[]' : text.slice(from, to);
  const inner = `${indent}  `;
  const lines = children.map(([name, part]) => {
    const value = written(text, part, inner);
    return inner + (kind === 'object' ? `${JSON.stringify(name)}: ${value}` : value);
  });
  const [open, close] = kind === 'object' ? '{}' : '[]';
  return `${open}\n${lines.join(',\n')}\n${indent}${close}`;
}

function partAt(reader: Reader): JsonPart {
  skipSpace(reader);
  const from = reader.at;
  const mark = reader.text[from];
  if (mark === '{' || mark === '[') return containerAt(reader, mark === '{');
  if (mark === '"') {
    skipString(reader);
    return { kind: 'text', from, to: reader.at, children: [] };
  }
  while (reader.at < reader.text.length && !/[\s,\]}]/.test(reader.text[reader.at] as string)) reader.at += 1;
  return { kind: 'other', from, to: reader.at, children: [] };
}

function containerAt(reader: Reader, isObject: boolean): JsonPart {
  const from = reader.at;
  const children: (readonly [string | number, JsonPart])[] = [];
  reader.at += 1;
  for (;;) {
    skipSpace(reader);
    if (/[\]}]/.test(reader.text[reader.at] as string)) break;
    if (reader.text[reader.at] === ',') reader.at += 1;
    children.push([isObject ? nameAt(reader) : children.length, partAt(reader)]);
  }
  reader.at += 1;
  return { kind: isObject ? 'object' : 'array', from, to: reader.at, children };
}

/** A name and its colon. */
function nameAt(reader: Reader): string {
  skipSpace(reader);
  const from = reader.at;
  skipString(reader);
  const name = JSON.parse(reader.text.slice(from, reader.at)) as string;
  skipSpace(reader);
  reader.at += 1;
  return name;
}

function skipString(reader: Reader): void {
  reader.at += 1;
  while (reader.text[reader.at] !== '"') reader.at += reader.text[reader.at] === '\\' ? 2 : 1;
  reader.at += 1;
}

function skipSpace(reader: Reader): void {
  while (/\s/.test(reader.text[reader.at] ?? '')) reader.at += 1;
}
