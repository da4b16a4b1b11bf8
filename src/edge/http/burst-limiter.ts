/**
 * The rate limit per second of an account, a key or a search index, counted in this process: a token bucket with one
 * second's worth of tokens that fills evenly. It does not count published messages; their limit is per day.
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
   * @param key the bucket's name. @param perSecond 0: no limit
   * @param count a request for more than one second's worth passes when the bucket is full; later requests then wait
   * longer
   * @returns whether the request may continue
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

  /** Headers of a refusal. Reset is the time when one token is available, in Unix seconds. */
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
