/**
 * Random elements of a collection, in slices: for HRANDFIELD, SRANDMEMBER and SPOP. Distinct elements are drawn until
 * there are enough, unless listing and shuffling all of them is cheaper.
 */
import { ErrorReply } from '../reply.js';

/** Steps per slice: about a millisecond. */
export const SLICE_STEPS = 1000;
/** The most elements drawn with repetition: about a second of work in slices, and a reply of some megabytes. */
export const MAX_DRAWS = 1_000_000;

const outOfRange = new ErrorReply('ERR value is out of range');
const notALong = new ErrorReply(
  'ERR value is out of range, value must between -9223372036854775807 and 9223372036854775807',
);
const INT64_MIN_TEXT = '-9223372036854775808';

export interface Draws<E> {
  readonly size: number;
  all(): Iterable<E>;
  /** A random element, or undefined where listing all is cheaper. */
  one(float: () => number): E | undefined;
}

/** The count of HRANDFIELD and SRANDMEMBER at `index`; negative: with repetition. @throws ErrorReply */
export function readDrawCount(
  args: { bytes(i: number): string; offset(i: number): number },
  index: number,
  isHalved: boolean,
): number {
  const count = args.offset(index);
  if (args.bytes(index) === INT64_MIN_TEXT) throw notALong;
  // With values Redis doubles the count, and refuses one that would overflow.
  if (isHalved && Math.abs(count) === Number.MAX_SAFE_INTEGER && exceedsHalf(args.bytes(index))) throw outOfRange;
  if (count < -MAX_DRAWS) throw outOfRange;
  return count;
}

function exceedsHalf(text: string): boolean {
  const value = BigInt(text);
  return (value < 0n ? -value : value) > (1n << 62n) - 1n;
}

/** `count` distinct elements, or all if there are fewer. */
export function* drawDistinct<E>(from: Draws<E>, count: number, float: () => number): Generator<void, E[]> {
  if (count * 3 <= from.size) {
    const drawn = new Set<unknown>();
    const elements: E[] = [];
    for (let tries = 0; elements.length < count && tries < count * 20; tries += 1) {
      const element = from.one(float);
      if (element === undefined) break;
      const name = Array.isArray(element) ? element[0] : element;
      if (!drawn.has(name)) {
        drawn.add(name);
        elements.push(element);
      }
      if (tries % SLICE_STEPS === SLICE_STEPS - 1) yield;
    }
    if (elements.length === count) return elements;
  }
  const all = yield* listed(from);
  const wanted = Math.min(count, all.length);
  for (let i = 0; i < wanted; i += 1) {
    const other = i + Math.floor(float() * (all.length - i));
    const element = all[other] as E;
    all[other] = all[i] as E;
    all[i] = element;
    if (i % (10 * SLICE_STEPS) === 10 * SLICE_STEPS - 1) yield;
  }
  all.length = wanted;
  return all;
}

/** `count` elements, drawn independently, so an element may repeat. */
export function* drawRepeatedly<E>(from: Draws<E>, count: number, float: () => number): Generator<void, E[]> {
  const elements: E[] = [];
  let all: E[] | undefined;
  for (let i = 0; i < count; i += 1) {
    let element = all === undefined ? from.one(float) : undefined;
    if (element === undefined) {
      all ??= yield* listed(from);
      if (all.length === 0) break;
      element = all[Math.floor(float() * all.length)] as E;
    }
    elements.push(element);
    if (i % SLICE_STEPS === SLICE_STEPS - 1) yield;
  }
  return elements;
}

export function* listed<E>(from: { all(): Iterable<E> }): Generator<void, E[]> {
  const all: E[] = [];
  for (const element of from.all()) {
    all.push(element);
    if (all.length % SLICE_STEPS === 0) yield;
  }
  return all;
}
