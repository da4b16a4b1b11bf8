/**
 * What the partitions that are loaded here hold, against what this process may hold for all of them and for one
 * database. Owners ask before each request, so what is refused is growth, before anything of it is there.
 *
 *  HD1 what is stored already is never refused: it counts when it is loaded, and may lead beyond a limit
 *  HD2 a database may have `DATABASE_SHARE` of what there is, so that one alone leaves room for others
 *  HD3 once less than `RESERVED` of it is left, only databases grow that hold less than an even part
 *  HD4 every partition is looked at once a second: what was put away meanwhile counts no longer than that
 */
import { type KvEngine, storedBytes } from '../../domain/kv/index.js';
import type { DatabaseId, PartitionName } from '../../kernel/index.js';
import { parseKvPartition } from '../../messages/index.js';
import type { Log, Timer, Timers } from '../../ports/index.js';

/** Of what the process may hold; several processes hold a database of several partitions together. */
export const DATABASE_SHARE = 0.8;
/** Of the same, for those who hold little. */
export const RESERVED = 0.1;
const LOOK_EVERY_MS = 1000;
/** Well under a millisecond. */
const STEP_PARTITIONS = 1000;
/** The same line again. */
const TELL_EVERY_LOOKS = 60;

export interface HeldDataParts {
  readonly timers: Timers;
  readonly log: Log;
  loaded(): Iterable<readonly [PartitionName, KvEngine]>;
}

export class HeldData {
  #byDatabase = new Map<DatabaseId, number>();
  #timer: Timer | undefined;
  #usedBytes = 0;
  #looksUntilTold = 0;

  constructor(
    /** Of all databases together. */
    readonly limitBytes: number,
    private readonly parts: HeldDataParts,
  ) {}

  start(): void {
    this.#timer = this.parts.timers.after(LOOK_EVERY_MS, () =>
      this.#lookOn(this.parts.loaded()[Symbol.iterator](), new Map()),
    );
  }

  stop(): void {
    this.#timer?.cancel();
  }

  get usedBytes(): number {
    return this.#usedBytes;
  }

  bytesOf(database: DatabaseId): number {
    return this.#byDatabase.get(database) ?? 0;
  }

  /** Counts what the partition of the database holds now. @returns how much it may hold at most, less than it does when it may not grow */
  maxBytesOf(database: DatabaseId, engine: KvEngine): number {
    const bytes = storedBytes(engine.keyspace);
    const grown = bytes - engine.bounds.countedBytes;
    const held = this.bytesOf(database) + grown;
    if (grown !== 0) {
      engine.bounds.countedBytes = bytes;
      this.#byDatabase.set(database, held);
      this.#usedBytes += grown;
    }
    return bytes + this.#freeFor(held);
  }

  #freeFor(held: number): number {
    const { limitBytes } = this;
    const ofDatabase = limitBytes * DATABASE_SHARE - held;
    const isLarge = held > limitBytes / Math.max(1, this.#byDatabase.size);
    const ofAll = limitBytes * (isLarge ? 1 - RESERVED : 1) - this.#usedBytes;
    return Math.floor(Math.min(ofDatabase, ofAll));
  }

  /** HD4. */
  #lookOn(partitions: Iterator<readonly [PartitionName, KvEngine]>, sums: Map<DatabaseId, number>): void {
    for (let looked = 0; looked < STEP_PARTITIONS; looked += 1) {
      const next = partitions.next();
      if (next.done === true) {
        this.#put(sums);
        return;
      }
      const [name, engine] = next.value;
      const { database } = parseKvPartition(name);
      const bytes = storedBytes(engine.keyspace);
      engine.bounds.countedBytes = bytes;
      sums.set(database, (sums.get(database) ?? 0) + bytes);
    }
    this.#timer = this.parts.timers.after(0, () => this.#lookOn(partitions, sums));
  }

  #put(sums: Map<DatabaseId, number>): void {
    this.#byDatabase = sums;
    this.#usedBytes = 0;
    for (const bytes of sums.values()) this.#usedBytes += bytes;
    const { limitBytes, usedBytes } = this;
    this.#looksUntilTold -= 1;
    if (usedBytes > limitBytes * (1 - RESERVED) && this.#looksUntilTold <= 0) {
      this.#looksUntilTold = TELL_EVERY_LOOKS;
      this.parts.log.warn('kv.memory-full', { usedBytes, limitBytes });
    }
    this.start();
  }
}
