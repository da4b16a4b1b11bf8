/**
 * Redis's glob patterns: `*`, `?`, `[a-c]`, `[^x]`, `\x`. A pattern is compiled once and matched without
 * recursion: on a mismatch only the last star is tried further on, so a text of n bytes costs at most
 * n·m steps for a pattern of m, whatever the pattern.
 *
 * Oddities kept: a class that is not closed ends with the pattern; `[]` matches nothing, `[^]` any
 * byte; the ends of a range may stand in either order, and `]` may be one of them.
 */
import type { ByteString } from '../../kernel/index.js';
import { ErrorReply } from './reply.js';

/** A key of a megabyte against a pattern of this length takes about a second at worst, n·m steps; anybody may ask. */
export const MAX_GLOB_BYTES = 1024;

export const globTooLong = new ErrorReply(`ERR pattern is too long, at most ${MAX_GLOB_BYTES} bytes`);

const WILD = /[*?[\\]/;

/** Words without wildcards are patterns of any length. */
export function isGlobTooLong(pattern: ByteString): boolean {
  return pattern.length > MAX_GLOB_BYTES && WILD.test(pattern);
}

export type Glob = (text: ByteString) => boolean;

const STAR = -1;
const ANY = -2;
/** Below this, `-3 - token` is an index into the classes. */
const CLASS = -3;

const BACKSLASH = 0x5c;
const CLOSE = 0x5d;
const CARET = 0x5e;
const DASH = 0x2d;

/** @throws ErrorReply for one that is too long */
export function compileGlob(pattern: ByteString): Glob {
  if (pattern === '*') return () => true;
  if (!WILD.test(pattern)) return (text) => text === pattern;
  if (pattern.length > MAX_GLOB_BYTES) throw globTooLong;
  if (!/[?[\\]/.test(pattern)) return betweenStars(pattern.split('*'));
  const { tokens, classes } = tokenize(pattern);
  const firstWild = tokens.findIndex((token) => token < 0);
  const literals = firstWild < 0 ? tokens : tokens.slice(0, firstWild);
  const prefix = literals.map((code) => String.fromCharCode(code)).join('');
  const wide = Int32Array.from(tokens);
  return (text) => text.startsWith(prefix) && matches(wide, classes, text, prefix.length);
}

/** Stars and literals alone, which most patterns are: each literal is searched behind the one before. */
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

function matches(tokens: Int32Array, classes: readonly Uint8Array[], text: ByteString, from: number): boolean {
  let at = from;
  let token = from;
  let starToken = -1;
  let starAt = 0;
  while (at < text.length) {
    const expected = token < tokens.length ? (tokens[token] as number) : undefined;
    if (expected === STAR) {
      starToken = token;
      starAt = at;
      token += 1;
      continue;
    }
    if (expected !== undefined && accepts(expected, classes, text.charCodeAt(at))) {
      at += 1;
      token += 1;
      continue;
    }
    if (starToken < 0) return false;
    starAt += 1;
    at = starAt;
    token = starToken + 1;
  }
  while (tokens[token] === STAR) token += 1;
  return token === tokens.length;
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

/** Fills `members` from the class whose first byte is at `from`; the position of what ends it. */
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
