/**
 * Redis's glob patterns: `*`, `?`, `[a-c]`, `[^x]`, `\x`. A pattern is compiled once into rows, the parts between its
 * stars. Each row is searched after the previous match, without recursion or backtracking: a text of n bytes and a
 * pattern of m bytes take at most n·m/32 steps.
 *
 * Redis's special cases are kept: an unclosed class ends with the pattern; `[]` never matches and `[^]` matches any
 * byte; a range may be in either order, and `]` may be one of its ends.
 */
import type { ByteString } from '../../kernel/index.js';
import { ErrorReply } from './reply.js';

/** A 1 MB key and a pattern of this length take about 100 ms at worst, and any client may ask for that. */
export const MAX_GLOB_BYTES = 1024;

export const globTooLong = new ErrorReply(`ERR pattern is too long, at most ${MAX_GLOB_BYTES} bytes`);

const WILD = /[*?[\\]/;

/** A pattern without wildcards may have any length. */
export function isGlobTooLong(pattern: ByteString): boolean {
  return pattern.length > MAX_GLOB_BYTES && WILD.test(pattern);
}

export type Glob = (text: ByteString) => boolean;

const STAR = -1;
const ANY = -2;
/** Tokens from here down are classes: `-3 - token` is the index of the class. */
const CLASS = -3;

const BACKSLASH = 0x5c;
const CLOSE = 0x5d;
const CARET = 0x5e;
const DASH = 0x2d;

/** @throws ErrorReply for a pattern that is too long */
export function compileGlob(pattern: ByteString): Glob {
  if (pattern === '*') return () => true;
  if (!WILD.test(pattern)) return (text) => text === pattern;
  if (pattern.length > MAX_GLOB_BYTES) throw globTooLong;
  if (!/[?[\\]/.test(pattern)) return betweenStars(pattern.split('*'));
  const { tokens, classes } = tokenize(pattern);
  const rows = rowsOf(tokens).map((row) => new Row(row, classes));
  const head = rows[0] as Row;
  const tail = rows.at(-1) as Row;
  if (rows.length === 1) return (text) => text.length === head.length && head.fits(text, 0);
  const middle = rows.slice(1, -1);
  return (text) => {
    if (!head.fits(text, 0)) return false;
    let from = head.length;
    for (const row of middle) {
      const at = row.find(text, from);
      if (at < 0) return false;
      from = at + row.length;
    }
    const tailAt = text.length - tail.length;
    return from <= tailAt && tail.fits(text, tailAt);
  };
}

/** The rows between stars; the first and the last may be empty. */
function rowsOf(tokens: readonly number[]): number[][] {
  const rows: number[][] = [[]];
  for (const token of tokens) {
    if (token === STAR) rows.push([]);
    else rows.at(-1)?.push(token);
  }
  return rows;
}

/** Longer rows are searched with bit sets, shorter ones position by position. */
const SHORT_ROW = 16;

/** Bytes, wildcards and classes of a fixed total length. */
class Row {
  readonly #tokens: Int32Array;
  /** For each byte value, a bit set of the positions that accept it. */
  #positions: Int32Array | undefined;

  constructor(
    tokens: readonly number[],
    private readonly classes: readonly Uint8Array[],
  ) {
    this.#tokens = Int32Array.from(tokens);
  }

  get length(): number {
    return this.#tokens.length;
  }

  fits(text: ByteString, at: number): boolean {
    const { length } = this;
    if (at < 0 || at + length > text.length) return false;
    for (let i = 0; i < length; i += 1) {
      if (!accepts(this.#tokens[i] as number, this.classes, text.charCodeAt(at + i))) return false;
    }
    return true;
  }

  /** The first match at or after `from`; -1 if there is none. */
  find(text: ByteString, from: number): number {
    if (this.length > SHORT_ROW) return this.#findByBits(text, from);
    for (let at = from; at + this.length <= text.length; at += 1) if (this.fits(text, at)) return at;
    return -1;
  }

  /** Shift-and: bit i is set if the last i + 1 bytes match the start of the row. */
  #findByBits(text: ByteString, from: number): number {
    const { length } = this;
    const count = Math.ceil(length / 32);
    this.#positions ??= this.#findPositions(count);
    const positions = this.#positions;
    const state = new Int32Array(count);
    const lastBit = 1 << ((length - 1) & 31);
    for (let at = from; at < text.length; at += 1) {
      const base = text.charCodeAt(at) * count;
      let carry = 1;
      for (let i = 0; i < count; i += 1) {
        const bits = state[i] as number;
        state[i] = ((bits << 1) | carry) & (positions[base + i] as number);
        carry = bits >>> 31;
      }
      if (((state[count - 1] as number) & lastBit) !== 0) return at + 1 - length;
    }
    return -1;
  }

  #findPositions(count: number): Int32Array {
    const positions = new Int32Array(256 * count);
    for (let byte = 0; byte < 256; byte += 1) {
      for (let i = 0; i < this.length; i += 1) {
        const at = byte * count + (i >>> 5);
        if (accepts(this.#tokens[i] as number, this.classes, byte))
          positions[at] = (positions[at] as number) | (1 << (i & 31));
      }
    }
    return positions;
  }
}

/**
 * Patterns of stars and literals only, which are the most frequent: each literal is searched after the previous one.
 */
function betweenStars(literals: readonly ByteString[]): Glob {
  const prefix = literals[0] as ByteString;
  const suffix = literals.at(-1) as ByteString;
  const middle = literals.slice(1, -1).filter((literal) => literal !== '');
  return (text) => {
    if (!text.startsWith(prefix) || !text.endsWith(suffix)) return false;
    let from = prefix.length;
    for (const literal of middle) {
      const at = text.indexOf(literal, from);
      if (at < 0) return false;
      from = at + literal.length;
    }
    return from <= text.length - suffix.length;
  };
}

function accepts(token: number, classes: readonly Uint8Array[], byte: number): boolean {
  if (token >= 0) return token === byte;
  return token === ANY || (classes[CLASS - token] as Uint8Array)[byte] === 1;
}

function tokenize(pattern: ByteString): { tokens: number[]; classes: Uint8Array[] } {
  const tokens: number[] = [];
  const classes: Uint8Array[] = [];
  let at = 0;
  while (at < pattern.length) {
    const byte = pattern.charCodeAt(at);
    if (pattern[at] === '*') {
      if (tokens.at(-1) !== STAR) tokens.push(STAR);
    } else if (pattern[at] === '?') {
      tokens.push(ANY);
    } else if (pattern[at] === '[') {
      const members = new Uint8Array(256);
      at = readClass(pattern, at + 1, members);
      tokens.push(CLASS - classes.length);
      classes.push(members);
    } else if (byte === BACKSLASH && at + 1 < pattern.length) {
      at += 1;
      tokens.push(pattern.charCodeAt(at));
    } else {
      tokens.push(byte);
    }
    at += 1;
  }
  return { tokens, classes };
}

/**
 * Fills `members` from the class that starts at `from`; returns the position of its closing bracket or of the pattern's
 * end.
 */
function readClass(pattern: ByteString, from: number, members: Uint8Array): number {
  const isNegated = pattern.charCodeAt(from) === CARET;
  let at = isNegated ? from + 1 : from;
  while (at < pattern.length && pattern.charCodeAt(at) !== CLOSE) {
    const left = pattern.length - at;
    if (pattern.charCodeAt(at) === BACKSLASH && left >= 2) {
      at += 1;
      members[pattern.charCodeAt(at)] = 1;
    } else if (left >= 3 && pattern.charCodeAt(at + 1) === DASH) {
      const one = pattern.charCodeAt(at);
      const other = pattern.charCodeAt(at + 2);
      members.fill(1, Math.min(one, other), Math.max(one, other) + 1);
      at += 2;
    } else {
      members[pattern.charCodeAt(at)] = 1;
    }
    at += 1;
  }
  if (isNegated) for (let byte = 0; byte < 256; byte += 1) members[byte] = 1 - (members[byte] as number);
  return at;
}
