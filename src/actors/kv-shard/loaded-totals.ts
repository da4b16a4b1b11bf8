/**
 * Totals over all loaded databases of a process, for its gauges. One pass serves all gauges that are read together, because
 * alert rules and scrapes read each of them, and a pass over thousands of databases takes milliseconds.
 */
import type { KvEngine } from '../../domain/kv/index.js';
import type { Clock } from '../../ports/index.js';

/** Shorter than the time between two readings of one gauge, longer than the reading of all gauges. */
const KEPT_MS = 250;

type Counted = Pick<KvEngine, 'outbox' | 'searches'>;

interface Totals {
  readonly outbox: { readonly messages: number; readonly oldestAtMs: number | undefined };
  /** Of full-text indexes. */
  readonly indexes: { readonly documents: number; readonly pending: number; readonly bytes: number };
}

export class LoadedTotals {
  #kept: Totals | undefined;
  #countedAtMs = 0;

  constructor(
    private readonly clock: Pick<Clock, 'monotonicMs'>,
    private readonly engines: () => Iterable<Counted>,
  ) {}

  get now(): Totals {
    const nowMs = this.clock.monotonicMs();
    if (this.#kept === undefined || nowMs - this.#countedAtMs >= KEPT_MS) {
      this.#kept = totalsOf(this.engines());
      this.#countedAtMs = nowMs;
    }
    return this.#kept;
  }
}

function totalsOf(engines: Iterable<Counted>): Totals {
  let [messages, documents, pending, bytes] = [0, 0, 0, 0];
  let oldestAtMs: number | undefined;
  for (const { outbox, searches } of engines) {
    messages += outbox.size;
    if (outbox.oldestAtMs !== undefined) oldestAtMs = Math.min(oldestAtMs ?? outbox.oldestAtMs, outbox.oldestAtMs);
    if (!searches.isInMemory) continue;
    for (const live of searches.all()) {
      documents += live.contents.size;
      pending += live.pending;
      bytes += live.bytes;
    }
  }
  return { outbox: { messages, oldestAtMs }, indexes: { documents, pending, bytes } };
}
