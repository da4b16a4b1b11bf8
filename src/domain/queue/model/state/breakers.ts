/**
 * Circuit breakers of an account's destinations. An account without rules has none. A destination is the URL without
 * its query; it has a breaker from its first failure until its next success.
 *
 *  BRK1 the state is the fold of `BreakerRulesSet` and `BreakerChanged`, which carry absolute values; no rule is applied
 *       here
 *  BRK2 a destination without a failure costs neither an event nor memory, and an account without rules only the look at
 *       `rules`
 */
import type { QueueEventOf } from '../events.js';
import { MAX_BREAKERS } from '../limits.js';
import type { Breaker, BreakerRules } from '../records.js';

/** A breaker with its place in the map, without the texts, each of which is added twice. */
const BREAKER_MEMORY_BYTES = 320;

export class Breakers {
  rules: BreakerRules | undefined;
  /** The latest change comes last. */
  readonly #byUrl = new Map<string, Breaker>();
  /** Open and disabled ones. */
  stopped = 0;
  memoryBytes = 0;

  get size(): number {
    return this.#byUrl.size;
  }

  get isFull(): boolean {
    return this.#byUrl.size >= MAX_BREAKERS;
  }

  get(url: string): Breaker | undefined {
    return this.#byUrl.get(url);
  }

  all(): IterableIterator<Breaker> {
    return this.#byUrl.values();
  }

  /** The breaker that keeps messages from the URL. */
  stoppedFor(url: string): Breaker | undefined {
    if (this.stopped === 0) return undefined;
    const breaker = this.#byUrl.get(breakerUrlOf(url));
    return breaker === undefined || breaker.state === 'closed' ? undefined : breaker;
  }

  /** The closed breaker with the oldest last failure. */
  oldestClosed(): Breaker | undefined {
    for (const breaker of this.#byUrl.values()) if (breaker.state === 'closed') return breaker;
    return undefined;
  }

  setRules({ rules }: QueueEventOf<'BreakerRulesSet'>): void {
    this.rules = rules;
    if (rules !== undefined) return;
    this.#byUrl.clear();
    this.stopped = 0;
    this.memoryBytes = 0;
  }

  change({ breaker }: QueueEventOf<'BreakerChanged'>): void {
    this.#weigh(this.#byUrl.get(breaker.url), -1);
    this.#byUrl.delete(breaker.url);
    if (breaker.state === 'closed' && breaker.failures === 0) return;
    this.#byUrl.set(breaker.url, breaker);
    this.#weigh(breaker, 1);
  }

  *rebuildingEvents(atMs: number): Iterable<QueueEventOf<'BreakerRulesSet' | 'BreakerChanged'>> {
    if (this.rules === undefined) return;
    yield { type: 'BreakerRulesSet', rules: this.rules, atMs };
    for (const breaker of this.#byUrl.values()) yield { type: 'BreakerChanged', breaker, atMs };
  }

  /** @param sign -1 when the breaker is removed */
  #weigh(breaker: Breaker | undefined, sign: 1 | -1): void {
    if (breaker === undefined) return;
    if (breaker.state !== 'closed') this.stopped += sign;
    this.memoryBytes += sign * (BREAKER_MEMORY_BYTES + 2 * (breaker.url.length + breaker.error.length));
  }
}

/** The URL by which a destination is known: without query and fragment. */
export function breakerUrlOf(url: string): string {
  const end = url.search(/[?#]/);
  return end === -1 ? url : url.slice(0, end);
}
