/** Small parts of what runs in slices: how much a step is, and steps run one after the other. */
import type { ByteString } from '../../kernel/index.js';

/** Lookups, moves, answers in one slice: a tenth of a millisecond, half of one where each costs much. */
export const SLICE_ITEMS = 500;
/** Bytes that take about as long to copy or to parse as one lookup does. */
export const BYTES_A_LOOKUP = 128;
/** Lengths added up in one step: about a quarter of a millisecond. */
const SLICE_LENGTHS = 32 * SLICE_ITEMS;

/** Work in steps; what it yields says nothing. */
export type Steps<T> = Generator<void, T>;

/** All of it, where it has to be one step. */
export function inOneStep<T>(steps: Iterator<void, T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** Work of applying, or writing, a command with these words: in lookups, as `Pace` counts. */
export function workOf(words: readonly ByteString[]): number {
  let work = words.length;
  for (const word of words) if (word.length >= BYTES_A_LOOKUP) work += Math.floor(word.length / BYTES_A_LOOKUP);
  return work;
}

/** How long the words are together, from one of them on. */
export function* textBytes(words: readonly ByteString[], from = 0): Generator<void, number> {
  let bytes = 0;
  for (let at = from; at < words.length; at += 1) {
    bytes += (words[at] as ByteString).length;
    if (at % SLICE_LENGTHS === SLICE_LENGTHS - 1) yield;
  }
  return bytes;
}
