/**
 * The shape of a RESP3 reply: its types without its values. Names in maps are included, because clients look fields
 * up by name.
 */

/** A parsed reply: the sign of its type and its content. */
interface WireReply {
  readonly sign: string;
  readonly text: string;
  /** The items of lists, sets, pushes and maps; those of a map are name, value, name, value … */
  readonly items: readonly WireReply[];
}

const BULKS = '$=!';
const LISTS = '*~>';
/** The shape of a container with more items lists only its different parts. */
const LONG = 4;

/** @returns the reply at `at` and the start of the next; undefined if it is incomplete */
function readReply(bytes: string, at = 0): { readonly reply: WireReply; readonly end: number } | undefined {
  const line = bytes.indexOf('\r\n', at);
  if (line < 0) return undefined;
  const sign = bytes.charAt(at);
  const text = bytes.slice(at + 1, line);
  let end = line + 2;
  if (BULKS.includes(sign) && text !== '-1') {
    const from = end;
    end += Number(text) + 2;
    return end > bytes.length ? undefined : { reply: { sign, text: bytes.slice(from, end - 2), items: [] }, end };
  }
  const count = LISTS.includes(sign) ? Number(text) : sign === '%' ? Number(text) * 2 : 0;
  const items: WireReply[] = [];
  for (let i = 0; i < count; i += 1) {
    const step = readReply(bytes, end);
    if (step === undefined) return undefined;
    items.push(step.reply);
    end = step.end;
  }
  return { reply: { sign, text, items }, end };
}

/** The content of a reply, with maps by name and sorted sets. */
export function contentOf(bytes: string): unknown {
  const read = readReply(bytes);
  return read === undefined ? undefined : plain(read.reply);
}

function plain({ sign, text, items }: WireReply): unknown {
  if (sign === '_' || text === '-1') return null;
  if (sign === '%') {
    const fields: Record<string, unknown> = {};
    for (let i = 0; i < items.length; i += 2) fields[items[i]?.text ?? ''] = plain(items[i + 1] as WireReply);
    return fields;
  }
  if (!LISTS.includes(sign)) return text;
  const values = items.map(plain);
  return sign === '~' ? values.sort() : values;
}

/** The shape of a complete raw reply. */
export function shapesOf(bytes: string): string {
  const read = readReply(bytes);
  if (read === undefined) throw new Error(`half a reply: ${bytes.slice(0, 200)}`);
  return shapeOf(read.reply);
}

/** `$` a bulk string, `*[$ :]` a list of a string and an integer, `%{name=$}` a map, `*3[$]` a long list of strings. */
function shapeOf({ sign, text, items }: WireReply): string {
  if (text === '-1' && '$*'.includes(sign)) return `${sign}-1`;
  if (sign === '-') return `-${text.split(' ')[0]}`;
  if (sign === '=') return `=${text.slice(0, 3)}`;
  if (sign === '%') {
    const fields: string[] = [];
    for (let i = 0; i < items.length; i += 2) {
      const [name, value] = [items[i] as WireReply, items[i + 1] as WireReply];
      // A text of the server.
      if (name.text === 'notes') continue;
      fields.push(`${name.sign}${name.text}=${shapeOf(value)}`);
    }
    // The server sends the fields in the order of a hash table.
    return `%{${fields.sort().join(' ')}}`;
  }
  if (!LISTS.includes(sign)) return sign;
  const shapes = items.map(shapeOf);
  return `${sign}[${(items.length > LONG || sign === '~' ? [...new Set(shapes)].sort() : shapes).join(' ')}]`;
}
