/**
 * JSON of megabytes, read in slices so that others run between. Documents are that long for one text in them: the body
 * of a message, the result of a step. Long texts are taken out; what is left is short, and is parsed at once.
 *
 *  LJ1 what JSON.parse refuses is refused, and what it reads is read alike, long texts aside
 *  LJ2 of a long text that nobody asks for the beginning is left, which is longer than anything here may be
 *  LJ3 every long text is decoded, asked for or not: one that is no JSON makes the document none
 */
import {
  CLOSE_ARRAY,
  CLOSE_OBJECT,
  COLON,
  COMMA,
  deeper,
  JSON_SLICE_BYTES,
  more,
  notJson,
  OPEN_ARRAY,
  OPEN_OBJECT,
  parsed,
  QUOTE,
} from './json-bounds.js';
import { cutBefore, decodedText, endOfText } from './json-texts.js';

/** A text of more bytes is long; a shorter document is not worth the trouble. With escapes only, a sixth of it is left. */
export const LONG_BYTES = 512 * 1024;

/** Copied in one step. */
const JOINED_BYTES = 1024 * 1024;

export interface LargeDocument {
  /** Parsed; the long text that was asked for is empty here. */
  readonly value: unknown;
  /** That text, in UTF-8; undefined when it is not long, or no text, or not there. */
  readonly text: Buffer | undefined;
}

export interface LargeBounds {
  /** What the document is, for the text of a refusal. */
  readonly what: string;
  readonly maxValues: number;
  readonly longBytes?: number;
  /** So much of a text is decoded in one step. */
  readonly sliceBytes?: number;
}

/**
 * @param name of the member of the outermost object that is asked for
 * @returns at last; undefined meanwhile: others may run. @throws Refused 400
 */
export function* readLarge(
  document: Buffer,
  name: string | undefined,
  { what, maxValues, longBytes = LONG_BYTES, sliceBytes = JSON_SLICE_BYTES }: LargeBounds,
): Generator<undefined, LargeDocument> {
  const rest: Buffer[] = [];
  let keptTo = 0;
  let text: readonly Buffer[] | undefined;
  let depth = 0;
  let commas = 0;
  // The last text of the outermost object, which may be a name; and whether the value asked for comes next.
  let last = { from: 0, to: 0 };
  let isAsked = false;
  let breatheAt = JSON_SLICE_BYTES;
  for (let at = 0; at < document.length; at += 1) {
    if (at >= breatheAt) {
      breatheAt = at + JSON_SLICE_BYTES;
      yield undefined;
    }
    const byte = document[at];
    if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) depth = deeper(depth);
    else if (byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) depth -= 1;
    else if (byte === COMMA) {
      commas = more(commas, what, maxValues);
      if (depth === 1) isAsked = false;
    } else if (byte === COLON && depth === 1) {
      isAsked = name !== undefined && saysName(document, last, name);
      // When several members have one name, the last one counts.
      if (isAsked) text = undefined;
    } else if (byte === QUOTE) {
      const from = at + 1;
      at = endOfText(document, from, breatheAt);
      while (document[at] !== QUOTE) {
        if (at >= document.length) throw notJson();
        yield undefined;
        breatheAt = at + JSON_SLICE_BYTES;
        at = endOfText(document, at, breatheAt);
      }
      if (depth === 1) last = { from, to: at };
      if (at - from <= longBytes) continue;
      const decoded = yield* decodedText(document, from, at, sliceBytes);
      const isTaken = isAsked && depth === 1;
      if (isTaken) text = decoded;
      rest.push(document.subarray(keptTo, isTaken ? from : cutBefore(document, from, from + longBytes)));
      keptTo = at;
    }
  }
  rest.push(document.subarray(keptTo));
  return { value: parsed(Buffer.concat(rest)), text: text && (yield* joined(text)) };
}

/** Takes the steps one by one, and lets others run between them. */
export async function inSlices<Result>(
  others: { breathe(): Promise<void> },
  steps: Generator<undefined, Result>,
): Promise<Result> {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    await others.breathe();
  }
}

/** Names may be written with escapes. */
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
  let breatheAt = JOINED_BYTES;
  for (const piece of pieces) {
    at += piece.copy(whole, at);
    if (at < breatheAt) continue;
    breatheAt = at + JOINED_BYTES;
    yield undefined;
  }
  return whole;
}
