/**
 * Iterates over entries ordered by stream id, with pauses. The collection does not change during a pause, except by
 * `visit`.
 */
import { idAfter, type StreamId } from '../../types/stream-id.js';
import { ENTRIES_A_SLICE } from '../../types/stream-limits.js';

interface Walked<V> {
  walk(from: StreamId, to: StreamId, visit: (id: StreamId, value: V) => boolean): void;
}

/** @param visit may change the entry it is given; false ends the iteration */
export function* walkInSlices<V>(
  order: Walked<V>,
  start: StreamId,
  stop: StreamId,
  visit: (id: StreamId, value: V) => boolean,
): Generator<void, void> {
  let from: StreamId | undefined = start;
  while (from !== undefined && from <= stop) {
    let met = 0;
    let next: StreamId | undefined;
    order.walk(from, stop, (id, value) => {
      if (!visit(id, value)) return false;
      met += 1;
      if (met < ENTRIES_A_SLICE) return true;
      next = idAfter(id);
      return false;
    });
    from = next;
    if (from !== undefined) yield;
  }
}
