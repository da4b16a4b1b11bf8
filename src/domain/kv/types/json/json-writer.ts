/** Writes JSON text without recursion and in slices; compact, or formatted by JSON.GET's options. */
import type { ByteString } from '../../../../kernel/index.js';
import { inOneStep, type Steps } from '../../steps.js';
import { SLICE_VALUES } from './json-limits.js';
import { formatNumber } from './json-numbers.js';
import { isContainer, type JsonNumber, type JsonValue, lengthOfJson } from './json-value.js';

export interface JsonLayout {
  /** Before each item, once per level. */
  readonly indent: ByteString;
  /** Before each item and before a closing bracket. */
  readonly newline: ByteString;
  /** After each colon. */
  readonly space: ByteString;
}

export const COMPACT: JsonLayout = { indent: '', newline: '', space: '' };

interface OpenContainer {
  readonly isArray: boolean;
  readonly items: Iterator<JsonValue | [ByteString, JsonValue]>;
  isFirst: boolean;
}

/**
 * @param level the depth of the value in a surrounding text @param onBytes called now and then with the bytes written
 * since the last call; may throw
 */
export function* writeJson(
  value: JsonValue,
  layout: JsonLayout = COMPACT,
  level = 0,
  onBytes?: (bytes: number) => void,
): Steps<ByteString> {
  if (!isContainer(value)) {
    const scalar = scalarText(value);
    onBytes?.(scalar.length);
    return scalar;
  }
  const text = new JsonText(layout, level);
  const pieces: Buffer[] = [];
  text.begin(value);
  while (!text.isWhole) {
    if (text.met >= SLICE_VALUES) {
      text.met = 0;
      yield;
    }
    if (text.written.length >= PIECE_BYTES) {
      onBytes?.(text.written.length);
      pieces.push(Buffer.from(text.written, 'latin1'));
      text.written = '';
    }
    text.goOn();
  }
  onBytes?.(text.written.length);
  if (pieces.length === 0) return text.written;
  pieces.push(Buffer.from(text.written, 'latin1'));
  const whole = Buffer.concat(pieces);
  yield;
  return whole.toString('latin1');
}

class JsonText {
  written = '';
  /** Values written since the caller's last check. */
  met = 0;
  readonly #open: OpenContainer[] = [];
  readonly #isCompact: boolean;

  constructor(
    private readonly layout: JsonLayout,
    private readonly level: number,
  ) {
    this.#isCompact = layout.indent === '' && layout.newline === '';
  }

  get isWhole(): boolean {
    return this.#open.length === 0;
  }

  /** Writes a value; of a long container only its opening bracket. */
  begin(value: JsonValue): void {
    if (!isContainer(value)) {
      this.written += scalarText(value);
      return;
    }
    if (lengthOfJson(value) === 0) {
      this.written += Array.isArray(value) ? '[]' : '{}';
      return;
    }
    if (this.#isCompact && this.layout.space === '') {
      const budget = { values: SHORT_VALUES };
      const short = shortText(value, budget);
      this.met += SHORT_VALUES - budget.values;
      if (budget.values >= 0) {
        this.written += short;
        return;
      }
    }
    const isArray = Array.isArray(value);
    this.written += isArray ? '[' : '{';
    this.#open.push({ isArray, items: isArray ? value.values() : value.entries(), isFirst: true });
  }

  /** Writes the next item of the innermost container, or its closing bracket. */
  goOn(): void {
    const top = this.#open.at(-1) as OpenContainer;
    const { done, value: item } = top.items.next();
    this.met += 1;
    if (done === true) {
      this.#open.pop();
      this.#breakLine();
      this.written += top.isArray ? ']' : '}';
      return;
    }
    if (top.isFirst) top.isFirst = false;
    else this.written += ',';
    this.#breakLine();
    if (top.isArray) {
      this.begin(item as JsonValue);
    } else {
      const [name, member] = item as [ByteString, JsonValue];
      this.written += `${quoted(name)}:${this.layout.space}`;
      this.begin(member);
    }
  }

  #breakLine(): void {
    if (this.#isCompact) return;
    this.written += this.layout.newline + this.layout.indent.repeat(this.level + this.#open.length);
  }
}

/**
 * Text of this length is encoded to bytes, because a string built from many small pieces is expensive for the garbage
 * collector.
 */
const PIECE_BYTES = 32 * 1024;

/** Values written recursively without a pause; most containers hold fewer. */
const SHORT_VALUES = 256;

/** The compact text; invalid once the budget is exceeded. */
function shortText(value: JsonValue, budget: { values: number }): ByteString {
  budget.values -= 1;
  if (!isContainer(value)) return scalarText(value);
  let text = '';
  if (Array.isArray(value)) {
    for (const item of value) {
      if (budget.values < 0) return '';
      text += text === '' ? shortText(item, budget) : `,${shortText(item, budget)}`;
    }
    return `[${text}]`;
  }
  for (const [name, member] of value) {
    if (budget.values < 0) return '';
    const written = `${quoted(name)}:${shortText(member, budget)}`;
    text += text === '' ? written : `,${written}`;
  }
  return `{${text}}`;
}

export function stringifyJson(value: JsonValue): ByteString {
  return inOneStep(writeJson(value));
}

function scalarText(value: JsonValue): ByteString {
  if (typeof value === 'string') return quoted(value);
  if (value === null || typeof value === 'boolean') return String(value);
  return formatNumber(value as JsonNumber);
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what has to be escaped
const TO_ESCAPE = /["\\\x00-\x1f]/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what has to be escaped
const EACH_TO_ESCAPE = /["\\\x00-\x1f]/g;

/** A string as JSON text. */
export function quoted(text: ByteString): ByteString {
  return TO_ESCAPE.test(text) ? `"${text.replace(EACH_TO_ESCAPE, escaped)}"` : `"${text}"`;
}

const SHORT_ESCAPES: ReadonlyMap<string, string> = new Map([
  ['"', '\\"'],
  ['\\', '\\\\'],
  ['\b', '\\b'],
  ['\f', '\\f'],
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
]);

function escaped(character: string): string {
  return SHORT_ESCAPES.get(character) ?? `\\u00${character.charCodeAt(0).toString(16).padStart(2, '0')}`;
}
