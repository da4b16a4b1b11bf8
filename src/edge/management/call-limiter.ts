/** Calls a second of one API key: a bucket that holds a second's worth and fills evenly. */
import type { Clock } from '../../ports/index.js';
import { MAX_COUNTED_KEYS } from './management-limits.js';

interface Bucket {
  calls: number;
  filledAtMs: number;
}

export class CallLimiter {
  readonly #buckets = new Map<string, Bucket>();

  /** @param perSecond 0: no limit */
  constructor(
    private readonly clock: Clock,
    private readonly perSecond: number,
  ) {}

  /** @returns may it go on? */
  take(key: string): boolean {
    const { perSecond } = this;
    if (perSecond === 0) return true;
    const nowMs = this.clock.monotonicMs();
    const bucket = this.#bucketOf(key, nowMs);
    bucket.calls = Math.min(perSecond, bucket.calls + ((nowMs - bucket.filledAtMs) * perSecond) / 1000);
    bucket.filledAtMs = nowMs;
    if (bucket.calls < 1) return false;
    bucket.calls -= 1;
    return true;
  }

  #bucketOf(key: string, nowMs: number): Bucket {
    const known = this.#buckets.get(key);
    if (known !== undefined) return known;
    if (this.#buckets.size >= MAX_COUNTED_KEYS) this.#buckets.delete(this.#buckets.keys().next().value as string);
    const bucket = { calls: this.perSecond, filledAtMs: nowMs };
    this.#buckets.set(key, bucket);
    return bucket;
  }
}
