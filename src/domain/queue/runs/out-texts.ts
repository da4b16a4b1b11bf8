/**
 * What the server itself puts between the quotes of a record's `out`: the event that a step waited for, and the end of
 * the run that it invoked. Made in slices, between which others may run: they are as large as a body may be.
 */
import type { RunEndState } from './records.js';

/** Ready to stand in JSON, in UTF-8, one behind the other. */
export type OutText = readonly Uint8Array[];

/** Texts of more are made in steps of their own, before the command is decided. */
export const LARGE_OUT_BYTES = 512 * 1024;

/** One step takes so many: below a millisecond. Whole groups of base64. */
const SLICE_BYTES = 192 * 1024;
/** A character in UTF-8 has so many beside its first. */
const MOST_CONTINUATIONS = 3;

/** Base64. */
export function* eventText(content: Uint8Array): Generator<void, OutText> {
  const event = bufferOf(content);
  const pieces: Uint8Array[] = [];
  for (let from = 0; from < event.length; from += SLICE_BYTES) {
    if (from > 0) yield;
    pieces.push(Buffer.from(event.toString('base64', from, from + SLICE_BYTES), 'latin1'));
  }
  return pieces;
}

/** JSON in JSON: what the run returned, as the text it was sent as, and how it ended. */
export function* endText(state: RunEndState, response: Uint8Array | undefined): Generator<void, OutText> {
  const ended = escaped(JSON.stringify({ isCanceled: state === 'RUN_CANCELED', isFailed: state === 'RUN_FAILED' }));
  if (state !== 'RUN_SUCCESS' || response === undefined || response.length === 0) return [ended];
  const told = bufferOf(response);
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

/** All at once. */
export function atOnce(steps: Generator<void, OutText>): OutText {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** @param stepText a JSON object. @returns it with members more, and `out`, as bytes */
export function withOut(stepText: string, members: Readonly<Record<string, unknown>>, out: OutText): Uint8Array {
  const open = withoutEnd(stepText);
  const more = withoutEnd(JSON.stringify(members));
  const separator = (before: string) => (before.endsWith('{') ? '' : ',');
  const before = `${open}${more === '{' ? '' : separator(open) + more.slice(1)}`;
  return Buffer.concat([Buffer.from(`${before}${separator(before)}"out":"`, 'utf8'), ...out, Buffer.from('"}')]);
}

/** An object's text up to where more members may follow. */
function withoutEnd(object: string): string {
  return object.slice(0, object.lastIndexOf('}')).trimEnd();
}

/** It is to stand between quotes once more. */
function escaped(text: string): Buffer {
  return Buffer.from(JSON.stringify(text).slice(1, -1), 'utf8');
}

/** The last place up to `to` where no character is cut in two; four continuations in a row are none. */
function beginOfCharacter(text: Buffer, to: number): number {
  for (let at = to; to - at <= MOST_CONTINUATIONS; at -= 1) {
    if (((text[at] as number) & 0xc0) !== 0x80) return at;
  }
  return to;
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
