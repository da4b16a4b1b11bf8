/**
 * When keys were last used, or how often: kept only while a policy of eviction needs it, in some bytes a key.
 * Counts grow with the logarithm of uses and decay by one a minute, as Redis's do.
 */
import type { ByteString, Random } from '../../kernel/index.js';
import { SegmentedMap } from './segmented-map.js';

export type AccessOrder = 'lru' | 'lfu';

/** What a new key starts with, so that it is not the first to go. */
const INITIAL_COUNT = 5;
const MAX_COUNT = 255;
const MINUTE_MS = 60_000;
/** A count and the minute it was true at, in one number. */
const COUNT_RADIX = 256;

export class AccessLog {
  /** The marks by key. They are cleared by putting a new map in their place, so that the old one can be put back. */
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

  /** This is how it was used elsewhere: for how long it was not, or how often. What the order does not need is left out. */
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

  /** The lower, the sooner it may go; a key that was not used since the log began is the first. */
  rankOf(key: ByteString, nowMs: number): number {
    const mark = this.marks.get(key);
    if (mark === undefined) return -1;
    return this.order === 'lru' ? mark : this.#countOf(mark, nowMs);
  }

  /** Seconds since the last use; undefined when that is not kept. */
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
