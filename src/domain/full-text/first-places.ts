/** The first of many places by some order, in slices. */
import { FirstItems } from '../search/index.js';
import { SLICE_POSTINGS } from './limits.js';

/** The first places of an order. @param before never 0 */
export function* firstOf(
  length: number,
  most: number,
  before: (a: number, b: number) => number,
): Generator<void, number[]> {
  const first = new FirstItems(most, before);
  for (let place = 0; place < length; place += 1) {
    if (place % SLICE_POSTINGS === SLICE_POSTINGS - 1) yield;
    first.offer(place);
  }
  return first.inOrder();
}
