/**
 * How far the outboxes of databases were accepted: the last sequence of each source. A source is a partition of a
 * database. Sequences only grow, also across restores of a database (docs/decisions/queue.md).
 */
import type { QueueEvent, QueueEventOf } from '../events.js';

/** Sources that are remembered; the one that was used the longest ago is forgotten first. */
const MAX_SOURCES = 10_000;
const NOTHING = 0;

export class TakenSequences {
  readonly #sequences = new Map<string, number>();

  /** 0: no record of this source was accepted. */
  of(source: string): number {
    return this.#sequences.get(source) ?? NOTHING;
  }

  take({ source, sequence }: QueueEventOf<'OutboxTaken'>): void {
    this.#sequences.delete(source);
    this.#sequences.set(source, sequence);
    if (this.#sequences.size <= MAX_SOURCES) return;
    const [oldest] = this.#sequences.keys();
    if (oldest !== undefined) this.#sequences.delete(oldest);
  }

  /** For snapshots, the source used the longest ago first. */
  *rebuildingEvents(atMs: number): Iterable<QueueEvent> {
    for (const [source, sequence] of this.#sequences) yield { type: 'OutboxTaken', source, sequence, atMs };
  }
}
