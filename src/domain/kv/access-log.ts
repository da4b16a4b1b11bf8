/**
 * Records when each key was last used (LRU) or how often (LFU). It exists only while an eviction policy needs it and
 * costs some bytes per key. As in Redis, LFU counts grow with the logarithm of the uses and decay by one per
 * `lfu-decay-time` minutes.
 */
import type { ByteString, Random } from '../../kernel/index.js';
import { SegmentedMap } from './segmented-map.js';

export type AccessOrder = 'lru' | 'lfu';

/** The count of a new key, above 0 so that it is not the first to be evicted. */
const INITIAL_COUNT = 5;
const MAX_COUNT = 255;
const MINUTE_MS = 60_000;
/** An LFU mark holds a count and the minute at which it was true: minute × 256 + count. */
const COUNT_RADIX = 256;

export class AccessLog {
  /** The marks by key. `clear` replaces the map instead of emptying it, so that an undo can restore the old map. */
  marks = new SegmentedMap<number>();

  constructor(
    readonly order: AccessOrder,
    private readonly random: Random,
    private readonly logFactor: () => number,
    private readonly decayMinutes: () => number,
  ) {}

  touch(key: ByteString, nowMs: number): void {
    if (this.order === 'lru') {
      this.marks.set(key, nowMs);
      return;
    }
    const known = this.marks.get(key);
    const count = known === undefined ? INITIAL_COUNT : this.#grown(this.#countOf(known, nowMs));
    this.marks.set(key, Math.floor(nowMs / MINUTE_MS) * COUNT_RADIX + count);
  }

  /** Sets the idle time or frequency that RESTORE gives. The value that the current order does not use is ignored. */
  restore(key: ByteString, nowMs: number, idleSeconds: number | undefined, frequency: number | undefined): void {
    if (this.order === 'lru' && idleSeconds !== undefined) this.marks.set(key, nowMs - idleSeconds * 1000);
    if (this.order === 'lfu' && frequency !== undefined) {
      this.marks.set(key, Math.floor(nowMs / MINUTE_MS) * COUNT_RADIX + frequency);
    }
  }

  forget(key: ByteString): void {
    this.marks.delete(key);
  }

  clear(): void {
    this.marks = new SegmentedMap();
  }

  markOf(key: ByteString): number | undefined {
    return this.marks.get(key);
  }

  putBack(key: ByteString, mark: number): void {
    this.marks.set(key, mark);
  }

  /**
   * The key with the lowest rank is evicted first. A key without a mark was not used since the log began and ranks
   * lowest.
   */
  rankOf(key: ByteString, nowMs: number): number {
    const mark = this.marks.get(key);
    if (mark === undefined) return -1;
    return this.order === 'lru' ? mark : this.#countOf(mark, nowMs);
  }

  /** Seconds since the last use; undefined when the log does not keep times. */
  idleSeconds(key: ByteString, nowMs: number): number | undefined {
    if (this.order !== 'lru') return undefined;
    const mark = this.marks.get(key);
    return mark === undefined ? 0 : Math.max(0, Math.floor((nowMs - mark) / 1000));
  }

  frequency(key: ByteString, nowMs: number): number | undefined {
    if (this.order !== 'lfu') return undefined;
    const mark = this.marks.get(key);
    return mark === undefined ? INITIAL_COUNT : this.#countOf(mark, nowMs);
  }

  #countOf(mark: number, nowMs: number): number {
    const decay = this.decayMinutes();
    const minutes = Math.floor(nowMs / MINUTE_MS) - Math.floor(mark / COUNT_RADIX);
    return Math.max(0, (mark % COUNT_RADIX) - (decay === 0 ? 0 : Math.floor(Math.max(0, minutes) / decay)));
  }

  #grown(count: number): number {
    if (count >= MAX_COUNT) return MAX_COUNT;
    const chance = 1 / (Math.max(0, count - INITIAL_COUNT) * this.logFactor() + 1);
    return this.random.float() < chance ? count + 1 : count;
  }
}
