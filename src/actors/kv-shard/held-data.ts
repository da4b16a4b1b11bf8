/**
 * Bounds the data of the loaded partitions: all of them together, and each database (the rule is in
 * `runtime/held-memory.ts`). Owners ask before each request, so growth is refused before it allocates memory.
 */
import { type KvEngine, storedBytes } from '../../domain/kv/index.js';
import type { DatabaseId, PartitionName } from '../../kernel/index.js';
import { type DataLimits, type Log, NO_DATA_LIMITS, type Timers } from '../../ports/index.js';
import { parseKvPartition } from '../../protocol/index.js';
import { MemoryReservation } from '../runtime/index.js';
import type { OwnedPartition } from './owned-partition.js';

/** Gives the engines the bounds of the plans and of this process. */
export class PlanBounds {
  constructor(
    private readonly limits: DataLimits = NO_DATA_LIMITS,
    private readonly held?: Pick<HeldData, 'maxBytesOf'>,
  ) {}

  /** Tells the engine the present bounds of plan and process; called before each request. */
  tell(owned: OwnedPartition, engine: KvEngine): void {
    if (this.held !== undefined) engine.bounds.processMaxBytes = this.held.maxBytesOf(owned.database, engine);
    const { version } = this.limits;
    if (owned.limitsVersion === version) return;
    owned.limitsVersion = version;
    engine.bounds.plan = this.limits.limitOf(owned.name);
    engine.maxCommandBytes = this.limits.maxCommandBytesOf(owned.name) ?? Number.POSITIVE_INFINITY;
  }

  /** A command was refused because the database is full: a larger plan may help. */
  noteFull(owned: OwnedPartition, engine: KvEngine): void {
    if (engine.bounds.isPlanReached) this.limits.reached(owned.name);
  }
}

/**
 * The part of a process's memory that one database may use; a database with several partitions has it in each process.
 */
export const DATABASE_SHARE = 0.8;

export interface HeldDataParts {
  readonly timers: Timers;
  readonly log: Log;
  loaded(): Iterable<readonly [PartitionName, KvEngine]>;
}

export class HeldData {
  readonly #memory: MemoryReservation<DatabaseId>;

  constructor(
    /** The bound of all databases together. */
    readonly limitBytes: number,
    { timers, log, loaded }: HeldDataParts,
  ) {
    this.#memory = new MemoryReservation(limitBytes, DATABASE_SHARE, {
      timers,
      log,
      event: 'kv.memory-full',
      *look() {
        for (const [name, engine] of loaded()) {
          const { database } = parseKvPartition(name);
          const bytes = storedBytes(engine.keyspace);
          engine.bounds.countedBytes = bytes;
          yield [database, bytes];
        }
      },
    });
  }

  start(): void {
    this.#memory.start();
  }

  stop(): void {
    this.#memory.stop();
  }

  get usedBytes(): number {
    return this.#memory.usedBytes;
  }

  bytesOf(database: DatabaseId): number {
    return this.#memory.bytesOf(database);
  }

  /**
   * Counts the present size of the partition. @returns the size that it may reach; below the present size when it may
   * not grow
   */
  maxBytesOf(database: DatabaseId, engine: KvEngine): number {
    const bytes = storedBytes(engine.keyspace);
    this.#memory.count(database, bytes - engine.bounds.countedBytes);
    engine.bounds.countedBytes = bytes;
    return bytes + this.#memory.freeFor(database);
  }
}
