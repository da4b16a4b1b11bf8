/**
 * What the partitions that are loaded here hold, against what this process may hold for all of them and for one
 * database (`runtime/held-memory.ts` has the rule). Owners ask before each request, so what is refused is growth, before
 * anything of it is there.
 */
import { type KvEngine, storedBytes } from '../../domain/kv/index.js';
import type { DatabaseId, PartitionName } from '../../kernel/index.js';
import { parseKvPartition } from '../../messages/index.js';
import type { Log, Timers } from '../../ports/index.js';
import { HeldMemory } from '../runtime/index.js';

/** The part of a process's memory that one database may have; one with several partitions has it in each process. */
export const DATABASE_SHARE = 0.8;

export interface HeldDataParts {
  readonly timers: Timers;
  readonly log: Log;
  loaded(): Iterable<readonly [PartitionName, KvEngine]>;
}

export class HeldData {
  readonly #memory: HeldMemory<DatabaseId>;

  constructor(
    /** What all databases may hold together. */
    readonly limitBytes: number,
    { timers, log, loaded }: HeldDataParts,
  ) {
    this.#memory = new HeldMemory(limitBytes, DATABASE_SHARE, {
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

  /** Counts what the partition of the database holds now. @returns how much it may hold at most, less than it does when it may not grow */
  maxBytesOf(database: DatabaseId, engine: KvEngine): number {
    const bytes = storedBytes(engine.keyspace);
    this.#memory.count(database, bytes - engine.bounds.countedBytes);
    engine.bounds.countedBytes = bytes;
    return bytes + this.#memory.freeFor(database);
  }
}
