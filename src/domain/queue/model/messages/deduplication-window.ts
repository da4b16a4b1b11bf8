/**
 * Maps a deduplication id to its message for `DEDUPLICATION_WINDOW_MS` after the acceptance. Ids are stored as
 * digests, so that their length does not matter. They are forgotten by whole minutes, by the times of events.
 */
import type { MessageId } from '../../../../kernel/index.js';
import { SplitMap } from '../../collections/split-map.js';
import { DEDUPLICATION_WINDOW_MS } from '../limits.js';

const GENERATION_MS = 60_000;

interface Reservation {
  readonly messageId: MessageId;
  readonly atMs: number;
}

interface Generation {
  readonly number: number;
  readonly reservations: SplitMap<string, Reservation>;
}

export type ReservationEntry = readonly [deduplication: string, messageId: MessageId, atMs: number];

export class DeduplicationWindow {
  /** Ascending. */
  readonly #generations: Generation[] = [];

  messageOf(deduplication: string, nowMs: number): MessageId | undefined {
    for (let at = this.#generations.length - 1; at >= 0; at -= 1) {
      const found = (this.#generations[at] as Generation).reservations.get(deduplication);
      if (found !== undefined) return found.atMs + DEDUPLICATION_WINDOW_MS > nowMs ? found.messageId : undefined;
    }
    return undefined;
  }

  /** The number of reserved ids; expired ones may not have been forgotten yet. */
  sizeAt(nowMs: number): number {
    let size = 0;
    for (const { number, reservations } of this.#generations) {
      if ((number + 1) * GENERATION_MS + DEDUPLICATION_WINDOW_MS > nowMs) size += reservations.size;
    }
    return size;
  }

  reserve(deduplication: string, messageId: MessageId, atMs: number): void {
    const number = Math.floor(atMs / GENERATION_MS);
    let generation = this.#generations.find((one) => one.number === number);
    if (generation === undefined) {
      generation = { number, reservations: new SplitMap() };
      this.#generations.push(generation);
      this.#generations.sort((a, b) => a.number - b.number);
    }
    generation.reservations.set(deduplication, { messageId, atMs });
  }

  forget(nowMs: number): void {
    for (let oldest = this.#generations[0]; oldest !== undefined; oldest = this.#generations[0]) {
      if ((oldest.number + 1) * GENERATION_MS + DEDUPLICATION_WINDOW_MS > nowMs) return;
      this.#generations.shift();
    }
  }

  *entries(): Iterable<ReservationEntry[]> {
    for (const { reservations } of this.#generations) {
      for (const part of reservations.parts()) {
        yield [...part].map(([deduplication, { messageId, atMs }]) => [deduplication, messageId, atMs] as const);
      }
    }
  }
}
