/**
 * JSON from outside as structural tokens, limited before it is parsed: depth and number of values. The scanner recognises
 * only brackets, commas, colons and strings; JSON.parse, which is called only here, judges the rest.
 */
import { MAX_BODY_DEPTH } from './http-limits.js';
import { invalid } from './refused.js';

export const QUOTE = 0x22;
export const COMMA = 0x2c;
export const COLON = 0x3a;
export const OPEN_ARRAY = 0x5b;
export const BACKSLASH = 0x5c;
export const CLOSE_ARRAY = 0x5d;
export const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** A slice is over: other requests may run. */
export const PAUSE = 0;
/** All bytes are scanned. */
export const END = -1;

/** Bytes scanned in one slice: well below a millisecond. */
export const JSON_SLICE_BYTES = 128 * 1024;

/** @throws Refused 400 */
export function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    throw notJson();
  }
}

export interface JsonLimits {
  /** The noun for the document in the text of a refusal. */
  readonly subject: string;
  readonly maxValues: number;
  /** Default: the depth of every body. */
  readonly maxDepth?: number;
}

export class JsonScanner {
  /** The position after the last token. */
  at: number;
  /** The depth after the last token; -1 after a bracket that closes more than was opened. */
  depth = 0;
  /** Commas so far below the outermost level; n values have n - 1 of them. */
  commas = 0;
  /** The content of the last string, between its quotes. */
  from = 0;
  to = 0;
  #isInString = false;
  #sliceEnd: number;

  constructor(
    readonly bytes: Buffer,
    readonly limits: JsonLimits,
    at = 0,
  ) {
    this.at = at;
    this.#sliceEnd = at + JSON_SLICE_BYTES;
  }

  /** @returns the byte of the next token, a quote for a whole string; PAUSE or END. @throws Refused 400 */
  next(): number {
    if (this.#isInString) return this.#string();
    const { bytes } = this;
    const end = Math.min(this.#sliceEnd, bytes.length);
    for (let at = this.at; at < end; at += 1) {
      const byte = bytes[at] as number;
      switch (byte) {
        case QUOTE:
          this.at = at + 1;
          this.from = at + 1;
          return this.#string();
        case OPEN_ARRAY:
        case OPEN_OBJECT:
          this.#deeper();
          break;
        case CLOSE_ARRAY:
        case CLOSE_OBJECT:
          this.depth -= 1;
          break;
        case COMMA:
          if (this.depth > 0) this.#oneMore();
          break;
        case COLON:
          break;
        default:
          continue;
      }
      this.at = at + 1;
      return byte;
    }
    // A string that ended at the end of the slice has moved it further.
    this.at = Math.max(this.at, end);
    return this.#pause();
  }

  #string(): number {
    const { bytes } = this;
    const at = endOfText(bytes, this.at, this.#sliceEnd);
    if (at >= bytes.length) throw notJson();
    this.#isInString = bytes[at] !== QUOTE;
    this.at = at;
    if (this.#isInString) return this.#pause();
    this.to = at;
    this.at = at + 1;
    return QUOTE;
  }

  #pause(): number {
    if (this.at >= this.bytes.length) return END;
    this.#sliceEnd = this.at + JSON_SLICE_BYTES;
    return PAUSE;
  }

  #deeper(): void {
    const { maxDepth = MAX_BODY_DEPTH } = this.limits;
    if (this.depth === maxDepth) throw invalid(`the body is nested deeper than ${maxDepth} levels`);
    this.depth += 1;
  }

  #oneMore(): void {
    const { subject, maxValues } = this.limits;
    this.commas += 1;
    if (this.commas === maxValues) throw invalid(`${subject} has more than ${maxValues} values`);
  }
}

/**
 * The position of the closing quote of the string that continues at `from`; or, if the string continues past `to`, a
 * position at or after `to`. @param from not inside an escape
 */
export function endOfText(document: Buffer, from: number, to: number): number {
  const end = Math.min(to, document.length);
  let at = from;
  while (at < end) {
    const byte = document[at];
    if (byte === QUOTE) return at;
    at += byte === BACKSLASH ? 2 : 1;
  }
  return at;
}

/** @returns the position after the blanks that begin at `from` */
export function skipBlanks(body: Buffer, from: number): number {
  let at = from;
  while (body[at] === 0x20 || body[at] === 0x0a || body[at] === 0x0d || body[at] === 0x09) at += 1;
  return at;
}

export function notJson() {
  return invalid('the body is not valid JSON');
}
