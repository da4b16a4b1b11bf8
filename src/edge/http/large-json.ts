/**
 * JSON of several megabytes, read in slices so that other requests run in between. Such documents are long because of
 * one string: the body of a message, the result of a step. Long strings are taken out; the short rest is parsed in
 * one call.
 *
 *  LJ1 the result is that of JSON.parse, and so are the refusals, apart from the content of long strings
 *  LJ2 of a long string that was not requested, the beginning remains; it is longer than any valid value here
 *  LJ3 every long string is decoded, requested or not: an invalid one makes the document invalid
 */
import {
  COLON,
  COMMA,
  END,
  JSON_SLICE_BYTES,
  type JsonLimits,
  JsonScanner,
  PAUSE,
  parsed,
  QUOTE,
} from './json-scanner.js';
import { cutBefore, decodedText } from './json-texts.js';

/**
 * A string with more bytes is long; a shorter document is parsed as a whole. A string of escapes only keeps a sixth
 * of this length when it is decoded.
 */
export const LONG_BYTES = 512 * 1024;

/** Bytes copied in one slice. */
const JOINED_BYTES = 1024 * 1024;

export interface LargeDocument {
  /** The parsed document; the requested long string is empty in it. */
  readonly value: unknown;
  /** The requested string, in UTF-8; undefined if it is missing, not long, or not a string. */
  readonly text: Buffer | undefined;
}

export interface LargeBounds extends JsonLimits {
  readonly longBytes?: number;
  /** Bytes of a string decoded in one slice. */
  readonly sliceBytes?: number;
}

/**
 * @param name the requested member of the outermost object
 * @returns the document; yields undefined where other requests may run. @throws Refused 400
 */
export function* readLarge(
  document: Buffer,
  name: string | undefined,
  { longBytes = LONG_BYTES, sliceBytes = JSON_SLICE_BYTES, ...limits }: LargeBounds,
): Generator<undefined, LargeDocument> {
  const rest: Buffer[] = [];
  let keptTo = 0;
  let text: readonly Buffer[] | undefined;
  // The last string of the outermost object, which may be a name; and whether the next value is the requested one.
  let last = { from: 0, to: 0 };
  let isAsked = false;
  const scanner = new JsonScanner(document, limits);
  for (let token = scanner.next(); token !== END; token = scanner.next()) {
    const isOutermost = scanner.depth === 1;
    if (token === PAUSE) yield undefined;
    else if (token === COMMA && isOutermost) isAsked = false;
    else if (token === COLON && isOutermost) {
      isAsked = name !== undefined && saysName(document, last, name);
      // Of several members with one name, the last one counts.
      if (isAsked) text = undefined;
    } else if (token === QUOTE) {
      const { from, to } = scanner;
      if (isOutermost) last = { from, to };
      if (to - from <= longBytes) continue;
      const decoded = yield* decodedText(document, from, to, sliceBytes);
      const isTaken = isAsked && isOutermost;
      if (isTaken) text = decoded;
      rest.push(document.subarray(keptTo, isTaken ? from : cutBefore(document, from, from + longBytes)));
      keptTo = to;
    }
  }
  rest.push(document.subarray(keptTo));
  return { value: parsed(Buffer.concat(rest)), text: text && (yield* joined(text)) };
}

/** Runs the generator to its end and lets other work run between its slices. */
export async function inSlices<Result>(
  others: { yieldToEventLoop(): Promise<void> },
  steps: Generator<undefined, Result>,
): Promise<Result> {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    await others.yieldToEventLoop();
  }
}

/** Names may contain escapes. */
function saysName(document: Buffer, { from, to }: { from: number; to: number }, name: string): boolean {
  if (to - from > name.length * 6) return false;
  try {
    return JSON.parse(`"${document.toString('utf8', from, to)}"`) === name;
  } catch {
    return false;
  }
}

function* joined(pieces: readonly Buffer[]): Generator<undefined, Buffer> {
  let bytes = 0;
  for (const piece of pieces) bytes += piece.length;
  const whole = Buffer.allocUnsafeSlow(bytes);
  let at = 0;
  let yieldAt = JOINED_BYTES;
  for (const piece of pieces) {
    at += piece.copy(whole, at);
    if (at < yieldAt) continue;
    yieldAt = at + JOINED_BYTES;
    yield undefined;
  }
  return whole;
}
