/**
 * Texts inside JSON, as bytes: where they end, and what they say, in slices. What a slice says is JSON.parse's to
 * judge; here it is only seen to that no slice ends within a character, an escape, or a pair of surrogates.
 */
import { BACKSLASH, JSON_SLICE_BYTES, notJson, QUOTE } from './json-bounds.js';

const LETTER_U = 0x75;
/** `\uXXXX`. */
const LONGEST_ESCAPE_BYTES = 6;
/** A character in UTF-8 has so many bytes behind its first, at most. */
const MOST_CONTINUATIONS = 3;

/**
 * Where the text ends that goes on at `from`: its closing quote; or a place from `to` on where it still goes on, which
 * is no quote. @param from not within an escape
 */
export function endOfText(document: Buffer, from: number, to: number): number {
  let at = from;
  while (at < to) {
    const byte = document[at];
    if (byte === QUOTE) return at;
    at += byte === BACKSLASH ? 2 : 1;
  }
  return at;
}

/**
 * The text between two quotes, in UTF-8, in pieces; undefined meanwhile: others may run. Surrogates without a partner
 * become what every encoder makes of them.
 * @throws Refused 400
 */
export function* decodedText(
  document: Buffer,
  from: number,
  to: number,
  sliceBytes = JSON_SLICE_BYTES,
): Generator<undefined, Buffer[]> {
  const pieces: Buffer[] = [];
  for (let at = from; at < to; ) {
    if (at !== from) yield undefined;
    const end = to - at <= sliceBytes ? to : cutBefore(document, at, at + sliceBytes);
    pieces.push(Buffer.from(sliceOf(document, at, end), 'utf8'));
    at = end;
  }
  return pieces;
}

/**
 * The last place up to `to` where a text can be cut in two that say together what it says.
 * @param from where it may be cut, some bytes before `to`
 */
export function cutBefore(document: Buffer, from: number, to: number): number {
  let cut = to;
  // Four continuations in a row are no character, wherever they are cut.
  while (to - cut < MOST_CONTINUATIONS && isContinuation(document[cut])) cut -= 1;
  if (isContinuation(document[cut])) cut = to;
  const last = lastEscape(document, from, cut);
  if (last === undefined) return cut;
  if (last + lengthOfEscape(document, last) > cut) cut = last;
  const before = lastEscape(document, from, cut);
  const isPair = before !== undefined && before + LONGEST_ESCAPE_BYTES === cut && isHigh(document, before);
  return isPair && isLow(document, cut) ? before : cut;
}

function sliceOf(document: Buffer, from: number, to: number): string {
  try {
    return JSON.parse(`"${document.toString('utf8', from, to)}"`) as string;
  } catch {
    throw notJson();
  }
}

/** Where the last escape begins that may reach to `before`. */
function lastEscape(document: Buffer, from: number, before: number): number | undefined {
  const near = Math.max(from, before - LONGEST_ESCAPE_BYTES);
  for (let at = before - 1; at >= near; at -= 1) {
    if (document[at] !== BACKSLASH) continue;
    let first = at;
    while (first > from && document[first - 1] === BACKSLASH) first -= 1;
    // Every second one is what the one before it stands for.
    return (at - first) % 2 === 0 ? at : at - 1;
  }
  return undefined;
}

function lengthOfEscape(document: Buffer, at: number): number {
  return document[at + 1] === LETTER_U ? LONGEST_ESCAPE_BYTES : 2;
}

function isHigh(document: Buffer, at: number): boolean {
  return /^\\u[dD][89abAB]/.test(document.toString('latin1', at, at + LONGEST_ESCAPE_BYTES));
}

function isLow(document: Buffer, at: number): boolean {
  return /^\\u[dD][c-fC-F]/.test(document.toString('latin1', at, at + LONGEST_ESCAPE_BYTES));
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

/** @returns the position behind the blanks that begin at `from` */
export function skipBlanks(body: Buffer, from: number): number {
  let at = from;
  while (body[at] === 0x20 || body[at] === 0x0a || body[at] === 0x0d || body[at] === 0x09) at += 1;
  return at;
}

/** @throws Refused 400 when more than blanks follow */
export function mustEnd(body: Buffer, from: number): void {
  if (skipBlanks(body, from) !== body.length) throw notJson();
}
