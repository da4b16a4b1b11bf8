/**
 * Strings inside JSON, as bytes: their decoded content in slices. JSON.parse judges each slice; this file only makes
 * sure that no slice ends inside a character, an escape or a surrogate pair.
 */
import { BACKSLASH, JSON_SLICE_BYTES, notJson } from './json-scanner.js';

const LETTER_U = 0x75;
/** An escape `\uXXXX`. */
const LONGEST_ESCAPE_BYTES = 6;
/** A UTF-8 character has at most this many continuation bytes. */
const MOST_CONTINUATIONS = 3;

/**
 * The string between two quotes, in UTF-8, in pieces; yields undefined where other requests may run. Unpaired
 * surrogates become replacement characters, as in every encoder.
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
 * The last position up to `to` where a string can be cut so that both parts decode to the same content as the whole.
 * @param from a valid cut, some bytes before `to`
 */
export function cutBefore(document: Buffer, from: number, to: number): number {
  let cut = to;
  // Four continuation bytes in a row are not valid UTF-8, so the cut does not matter.
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

/** The start of the last escape that may reach to `before`. */
function lastEscape(document: Buffer, from: number, before: number): number | undefined {
  const near = Math.max(from, before - LONGEST_ESCAPE_BYTES);
  for (let at = before - 1; at >= near; at -= 1) {
    if (document[at] !== BACKSLASH) continue;
    let first = at;
    while (first > from && document[first - 1] === BACKSLASH) first -= 1;
    // In a row of backslashes every second one is escaped by its predecessor.
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
