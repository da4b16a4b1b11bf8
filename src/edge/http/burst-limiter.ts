/**
 * Calls a second of an account, a key or a search index, as far as this process sees them: a bucket that holds a
 * second's worth and fills evenly. Publishing is not counted here; its bound is the day's.
 */
import type { Clock } from '../../ports/index.js';
import { MAX_COUNTED_KEYS } from './http-limits.js';

interface Bucket {
  tokens: number;
  filledAtMs: number;
}

export class BurstLimiter {
  readonly #buckets = new Map<string, Bucket>();

  constructor(private readonly clock: Clock) {}

  /**
   * @param key whose calls they are. @param perSecond 0: no limit
   * @param count more than a second's worth passes when the bucket is full, and who comes after waits the longer
   * @returns may it go on?
   */
  take(key: string, perSecond: number, count = 1): boolean {
    if (perSecond === 0) return true;
    const nowMs = this.clock.monotonicMs();
    const bucket = this.#bucketOf(key, perSecond, nowMs);
    const filled = bucket.tokens + ((nowMs - bucket.filledAtMs) * perSecond) / 1000;
    bucket.tokens = Math.min(perSecond, filled);
    bucket.filledAtMs = nowMs;
    if (bucket.tokens < Math.min(count, perSecond)) return false;
    bucket.tokens -= count;
    return true;
  }

  /** Headers that go with a refusal. Reset is when there is room for one again, in Unix seconds. */
  headers(perSecond: number): Record<string, string> {
    return {
      'Burst-RateLimit-Limit': String(perSecond),
      'Burst-RateLimit-Remaining': '0',
      'Burst-RateLimit-Reset': String(Math.ceil((this.clock.nowMs() + 1000 / perSecond) / 1000)),
    };
  }

  #bucketOf(key: string, perSecond: number, nowMs: number): Bucket {
    let bucket = this.#buckets.get(key);
    if (bucket === undefined) {
      if (this.#buckets.size >= MAX_COUNTED_KEYS) this.#buckets.delete(this.#buckets.keys().next().value as string);
      bucket = { tokens: perSecond, filledAtMs: nowMs };
      this.#buckets.set(key, bucket);
    }
    return bucket;
  }
}
