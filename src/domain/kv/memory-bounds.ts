/**
 * The memory bounds of a partition: `maxmemory`, a parameter of the database; the plan's limit; and the room in the
 * process. The owner sets the last two; they are not part of the data. The partition is full when any of them is
 * reached.
 */
import type { ByteString, Random } from '../../kernel/index.js';
import { chooseAnyVictim, chooseVictim, storedBytes } from './eviction.js';
import { KEY_OVERHEAD_BYTES, type Keyspace } from './keyspace.js';
import type { Settings } from './settings.js';

/** Bounds may be exceeded by indexes by this part, and by some bytes in a small database. */
const INDEX_EXCESS = 1.05;
const INDEX_EXCESS_BYTES = 1024 * 1024;

export interface PlanLimit {
  /** Compared with `storedBytes`. */
  readonly maxBytes: number;
  /** If the database has no eviction policy, any key may be evicted at this limit. */
  readonly isEvicting: boolean;
}

export class MemoryBounds {
  plan: PlanLimit | undefined;
  /** The room in the owner's process, compared with `storedBytes`; undefined in a copy that only replays. */
  processMaxBytes: number | undefined;
  /** The part of `storedBytes` that the process has counted. */
  countedBytes = 0;

  constructor(
    private readonly keyspace: Keyspace,
    private readonly settings: Settings,
    private readonly random: Random,
  ) {}

  get areSet(): boolean {
    return this.settings.maxMemoryBytes > 0 || this.plan !== undefined || this.processMaxBytes !== undefined;
  }

  get areReached(): boolean {
    if (!this.areSet) return false;
    const bytes = storedBytes(this.keyspace);
    return this.#isMemoryReachedBy(bytes) || this.#isPlanReachedBy(bytes) || this.#isProcessReachedBy(bytes);
  }

  /** A `maxmemory` below the overhead of one key is reached even by an empty database. */
  #isMemoryReachedBy(bytes: number): boolean {
    const { maxMemoryBytes } = this.settings;
    if (maxMemoryBytes === 0) return false;
    return maxMemoryBytes < KEY_OVERHEAD_BYTES || bytes > maxMemoryBytes;
  }

  /**
   * Whether indexes may have so many more bytes. They follow their keys a little later, so a bound is exceeded by a part
   * before they are stopped. @param isForAWhile only the process needs the room
   */
  hasRoomForIndexes(bytes: number, isForAWhile: boolean): boolean {
    const all = storedBytes(this.keyspace) + bytes;
    const fits = (most: number | undefined) =>
      most === undefined || all <= Math.max(0, most) * INDEX_EXCESS + INDEX_EXCESS_BYTES;
    return (
      fits(this.processMaxBytes) &&
      (isForAWhile || (fits(this.settings.maxMemoryBytes || undefined) && fits(this.plan?.maxBytes)))
    );
  }

  get isPlanReached(): boolean {
    return this.#isPlanReachedBy(storedBytes(this.keyspace));
  }

  #isPlanReachedBy(bytes: number): boolean {
    return this.plan !== undefined && bytes > this.plan.maxBytes;
  }

  #isProcessReachedBy(bytes: number): boolean {
    return this.processMaxBytes !== undefined && bytes > this.processMaxBytes;
  }

  /** The lowest bound, shown to clients as `maxmemory`; 0: none. */
  get shownBytes(): number {
    const all = [this.settings.maxMemoryBytes || undefined, this.plan?.maxBytes, this.processMaxBytes];
    const given = all.filter((bytes) => bytes !== undefined);
    return given.length === 0 ? 0 : Math.max(0, Math.min(...given));
  }

  /** Whether a bound is reached and eviction cannot make room. */
  get leaveNoRoom(): boolean {
    if (!this.areReached || this.#policy !== 'noeviction') return false;
    return this.#isMemoryReachedBy(storedBytes(this.keyspace)) || this.plan?.isEvicting !== true;
  }

  /** The next key to evict; undefined when no key may be evicted. */
  nextVictim(): ByteString | undefined {
    const { keyspace, settings, random, plan } = this;
    const samples = settings.number('maxmemory-samples');
    const chosen = chooseVictim(keyspace, { policy: this.#policy, samples }, random);
    if (chosen !== undefined || plan?.isEvicting !== true) return chosen;
    const bytes = storedBytes(keyspace);
    if (!this.#isPlanReachedBy(bytes) && !this.#isProcessReachedBy(bytes)) return chosen;
    return chooseAnyVictim(keyspace, random);
  }

  get #policy(): ByteString {
    return this.settings.get('maxmemory-policy') ?? '';
  }
}
