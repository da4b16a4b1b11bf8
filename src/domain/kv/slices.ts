/**
 * How a command that may take long is cut into slices: it is a generator that pauses between two items, often enough
 * that whoever runs it can look at the clock in between. Short commands run through.
 */
import type { CommandContext, CommandSpec, SlicedHandler } from './command-spec.js';
import { inOneStep, SLICE_ITEMS } from './steps.js';

/** Words of one command above which it runs in slices: about a millisecond of lookups. */
export const MANY_WORDS = 2000;
type Running = Required<Pick<CommandSpec, 'handler' | 'sliced' | 'isLong'>>;

/** What a row says of a command that is sliced where there is much to do: by default, where it has many words. */
export function inSlices(sliced: SlicedHandler, isLong: Running['isLong'] = hasManyWords): Running {
  return { handler: (context) => inOneStep(sliced(context)), sliced, isLong };
}

export function hasManyWords({ args }: CommandContext): boolean {
  return args.length > MANY_WORDS;
}

/** Counts what is done, and says when it is time for a pause. */
export class SlicePace {
  #done = 0;

  constructor(private readonly sliceItems = SLICE_ITEMS) {}

  /** @param items done since it was last asked */
  isDue(items = 1): boolean {
    this.#done += items;
    if (this.#done < this.sliceItems) return false;
    this.#done = 0;
    return true;
  }
}

/** A result for each item, in order, from one of them on. */
export function* mapped<T, R>(items: readonly T[], resultOf: (item: T) => R, from = 0): Generator<void, R[]> {
  const results: R[] = [];
  const pace = new SlicePace();
  for (let i = from; i < items.length; i += 1) {
    results.push(resultOf(items[i] as T));
    if (pace.isDue()) yield;
  }
  return results;
}

/** The items that `isWanted` says yes to, in order, from one of them on; it may change what it is asked about. */
export function* filtered<T>(items: readonly T[], isWanted: (item: T) => boolean, from = 0): Generator<void, T[]> {
  const wanted: T[] = [];
  const pace = new SlicePace();
  for (let i = from; i < items.length; i += 1) {
    const item = items[i] as T;
    if (isWanted(item)) wanted.push(item);
    if (pace.isDue()) yield;
  }
  return wanted;
}

/** The items in order; sorting a million in one go would hold everybody up for most of a second. */
export function* mergeSorted<T>(items: readonly T[], compare: (a: T, b: T) => number): Generator<void, T[]> {
  let runs: T[][] = [];
  for (let at = 0; at < items.length; at += SLICE_ITEMS) {
    runs.push(items.slice(at, at + SLICE_ITEMS).sort(compare));
    yield;
  }
  while (runs.length > 1) {
    const merged: T[][] = [];
    for (let i = 0; i < runs.length; i += 2) {
      const [left, right] = [runs[i] as T[], runs[i + 1]];
      merged.push(right === undefined ? left : yield* merge(left, right, compare));
    }
    runs = merged;
  }
  return runs[0] ?? [];
}

function* merge<T>(left: readonly T[], right: readonly T[], compare: (a: T, b: T) => number): Generator<void, T[]> {
  const merged: T[] = [];
  const pace = new SlicePace();
  let j = 0;
  for (const a of left) {
    for (; j < right.length && compare(a, right[j] as T) > 0; j += 1) {
      merged.push(right[j] as T);
      if (pace.isDue()) yield;
    }
    merged.push(a);
    if (pace.isDue()) yield;
  }
  for (; j < right.length; j += 1) {
    merged.push(right[j] as T);
    if (pace.isDue()) yield;
  }
  return merged;
}
