/**
 * Makes the text in a step record's `out`: the event that the step waited for, or the end of the run that it invoked.
 * It is made in slices with other commands between, because it may be as large as a body.
 */
import { bufferOver } from '../../../kernel/index.js';
import type { RunEndState } from '../model/run-records.js';

/** Pieces of UTF-8 text, already escaped for a JSON string. */
export type OutText = readonly Uint8Array[];

/** Longer texts are made in separate steps before the command is decided. */
export const LARGE_OUT_BYTES = 512 * 1024;

/** Bytes per step: below 1 ms, and a multiple of three for base64. */
const SLICE_BYTES = 192 * 1024;
/** A character in UTF-8 has at most three bytes after its first. */
const MOST_CONTINUATIONS = 3;

/** The event as base64. */
export function* eventText(content: Uint8Array): Generator<void, OutText> {
  const event = bufferOver(content);
  const pieces: Uint8Array[] = [];
  for (let from = 0; from < event.length; from += SLICE_BYTES) {
    if (from > 0) yield;
    pieces.push(Buffer.from(event.toString('base64', from, from + SLICE_BYTES), 'latin1'));
  }
  return pieces;
}

/** The run's result and end state as JSON within a JSON string; the result is the text that was sent. */
export function* endText(state: RunEndState, response: Uint8Array | undefined): Generator<void, OutText> {
  const ended = escaped(JSON.stringify({ isCanceled: state === 'RUN_CANCELED', isFailed: state === 'RUN_FAILED' }));
  if (state !== 'RUN_SUCCESS' || response === undefined || response.length === 0) return [ended];
  const told = bufferOver(response);
  const pieces: Uint8Array[] = [escaped('{"body":"')];
  for (let from = 0; from < told.length; ) {
    if (from > 0) yield;
    const to = told.length - from <= SLICE_BYTES ? told.length : beginOfCharacter(told, from + SLICE_BYTES);
    pieces.push(escaped(JSON.stringify(told.toString('utf8', from, to)).slice(1, -1)));
    from = to;
  }
  pieces.push(escaped('",'), ended.subarray(1));
  return pieces;
}

/** Runs all slices without a pause. */
export function atOnce(steps: Generator<void, OutText>): OutText {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/**
 * @param stepText a JSON object
 * @returns the object with the further members and `out`, as bytes
 */
export function withOut(stepText: string, members: Readonly<Record<string, unknown>>, out: OutText): Uint8Array {
  const open = withoutEnd(stepText);
  const more = withoutEnd(JSON.stringify(members));
  const separator = (before: string) => (before.endsWith('{') ? '' : ',');
  const before = `${open}${more === '{' ? '' : separator(open) + more.slice(1)}`;
  return Buffer.concat([Buffer.from(`${before}${separator(before)}"out":"`, 'utf8'), ...out, Buffer.from('"}')]);
}

/** The text of an object up to the place for further members. */
function withoutEnd(object: string): string {
  return object.slice(0, object.lastIndexOf('}')).trimEnd();
}

/** Escapes the text for a second level of JSON string. */
function escaped(text: string): Buffer {
  return Buffer.from(JSON.stringify(text).slice(1, -1), 'utf8');
}

/** The last index up to `to` that does not split a UTF-8 character; four continuation bytes in a row are not UTF-8. */
function beginOfCharacter(text: Buffer, to: number): number {
  for (let at = to; to - at <= MOST_CONTINUATIONS; at -= 1) {
    if (((text[at] as number) & 0xc0) !== 0x80) return at;
  }
  return to;
}
