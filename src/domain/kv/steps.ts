/** Basic parts of sliced commands: the size of a slice, and running slices one after the other. */
import type { ByteString } from '../../kernel/index.js';

/** Lookups, moves or answers in one slice: about 0.1 ms, or 0.5 ms for expensive ones. */
export const SLICE_ITEMS = 500;
/** Bytes that take about as long to copy or parse as one lookup. */
export const BYTES_A_LOOKUP = 128;
/** Lengths added in one step: about a quarter of a millisecond. */
const SLICE_LENGTHS = 32 * SLICE_ITEMS;

/** Work in steps; the yielded values are empty. */
export type Steps<T> = Generator<void, T>;

/** Runs all steps without a pause. */
export function inOneStep<T>(steps: Iterator<void, T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** The work of applying or writing a command with these words, in lookups, as `Pace` counts. */
export function workOf(words: readonly ByteString[]): number {
  let work = words.length;
  for (const word of words) if (word.length >= BYTES_A_LOOKUP) work += Math.floor(word.length / BYTES_A_LOOKUP);
  return work;
}

/** The total length of the words from index `from` on. */
export function* textBytes(words: readonly ByteString[], from = 0): Generator<void, number> {
  let bytes = 0;
  for (let at = from; at < words.length; at += 1) {
    bytes += (words[at] as ByteString).length;
    if (at % SLICE_LENGTHS === SLICE_LENGTHS - 1) yield;
  }
  return bytes;
}
