/** The first of many by some order, without sorting all, in slices. */
import { SLICE_POSTINGS } from './limits.js';

/** The first places of an order, found with a heap; its top is the last of those kept. */
export function* firstOf(
  length: number,
  most: number,
  before: (a: number, b: number) => number,
): Generator<void, number[]> {
  const heap: number[] = [];
  for (let place = 0; place < length; place += 1) {
    if (place % SLICE_POSTINGS === SLICE_POSTINGS - 1) yield;
    if (heap.length < most) {
      heap.push(place);
      rise(heap, before);
    } else if (most > 0 && before(place, heap[0] as number) < 0) {
      heap[0] = place;
      sink(heap, before);
    }
  }
  return heap.sort(before);
}

function rise(heap: number[], before: (a: number, b: number) => number): void {
  let at = heap.length - 1;
  while (at > 0) {
    const above = (at - 1) >>> 1;
    if (before(heap[at] as number, heap[above] as number) <= 0) return;
    [heap[at], heap[above]] = [heap[above] as number, heap[at] as number];
    at = above;
  }
}

function sink(heap: number[], before: (a: number, b: number) => number): void {
  let at = 0;
  for (;;) {
    const left = 2 * at + 1;
    const right = left + 1;
    let last = at;
    if (left < heap.length && before(heap[left] as number, heap[last] as number) > 0) last = left;
    if (right < heap.length && before(heap[right] as number, heap[last] as number) > 0) last = right;
    if (last === at) return;
    [heap[at], heap[last]] = [heap[last] as number, heap[at] as number];
    at = last;
  }
}
