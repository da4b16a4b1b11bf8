/**
 * Slices of long commands. A long command is a generator that pauses between items, often enough that its runner can
 * check the clock. Short commands run in one go.
 */
import type { CommandContext, CommandSpec, SlicedHandler } from './command-spec.js';
import { inOneStep, SLICE_ITEMS } from './steps.js';

/** Above this number of words a command runs in slices: about a millisecond of lookups. */
export const MANY_WORDS = 2000;
type Running = Required<Pick<CommandSpec, 'handler' | 'sliced' | 'isLong'>>;

/** The fields of a command row for a command that runs in slices when `isLong`; by default, when it has many words. */
export function inSlices(sliced: SlicedHandler, isLong: Running['isLong'] = hasManyWords): Running {
  return { handler: (context) => inOneStep(sliced(context)), sliced, isLong };
}

export function hasManyWords({ args }: CommandContext): boolean {
  return args.length > MANY_WORDS;
}

/** Counts work and says when a pause is due. */
export class SlicePace {
  #done = 0;

  constructor(private readonly sliceItems = SLICE_ITEMS) {}

  /** @param items work done since the last call */
  isDue(items = 1): boolean {
    this.#done += items;
    if (this.#done < this.sliceItems) return false;
    this.#done = 0;
    return true;
  }
}

/** The results for all items in order, starting at index `from`. */
export function* mapped<T, R>(items: readonly T[], resultOf: (item: T) => R, from = 0): Generator<void, R[]> {
  const results: R[] = [];
  const pace = new SlicePace();
  for (let i = from; i < items.length; i += 1) {
    results.push(resultOf(items[i] as T));
    if (pace.isDue()) yield;
  }
  return results;
}

/** The items accepted by `isWanted`, in order, starting at index `from`; `isWanted` may change the data it checks. */
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

/** Sorts in slices: sorting a million items in one go would block all tenants for most of a second. */
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
