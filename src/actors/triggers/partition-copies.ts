/**
 * Copies of a database's partitions at a position of their journal, for triggers that ask for values, and for the keys
 * of a snapshot. They are built from the newest snapshot before that position and the entries after it, and advance
 * with the entries that a trigger reads.
 *
 *  PCP1 the copies of one trigger hold at most MAX_COPY_BYTES; above that the trigger stops with an error
 */
import { bytesOfValue } from '../../domain/kv/index.js';
import { type AuditPorts, exportCommands } from '../../journal/index.js';
import { assert, type ByteString, MillraceError, type PartitionName, type ShardName } from '../../kernel/index.js';
import type { Clock, Timers } from '../../ports/index.js';
import { type KvFold, replayFold } from '../kv-shard/index.js';
import { YieldBudget } from '../runtime/index.js';
import type { ValueLook } from './change-record.js';

/** A quarter of the memory of a small machine: a million keys of 200 bytes. */
const MAX_COPY_BYTES = 512 * 1024 * 1024;

export interface CopyPorts extends AuditPorts {
  readonly clock: Clock;
  readonly timers: Timers;
  /** Default: MAX_COPY_BYTES. */
  readonly maxCopyBytes?: number;
}

export class PartitionCopies {
  private constructor(
    private readonly folds: ReadonlyMap<PartitionName, KvFold>,
    private readonly maxBytes: number,
  ) {}

  /** @throws INVALID when the position is not kept any more, or a copy would be too large (PCP1); JOURNAL_UNAVAILABLE */
  static async at(
    ports: CopyPorts,
    shard: ShardName,
    partitions: Iterable<PartitionName>,
    position: number,
    signal: AbortSignal,
  ): Promise<PartitionCopies> {
    const folds = new Map<PartitionName, KvFold>();
    const { maxCopyBytes = MAX_COPY_BYTES } = ports;
    const budget = new YieldBudget(ports.clock, ports.timers);
    let otherBytes = 0;
    for (const partition of partitions) {
      const fold = replayFold();
      folds.set(partition, fold);
      if (position === 0) continue;
      const at = { kind: 'position', position } as const;
      for await (const effects of exportCommands(ports, shard, partition, { from: at, to: at })) {
        for (const _ of fold.applyInSlices(effects)) if (budget.isSpent) await budget.yield();
        if (signal.aborted) throw new MillraceError('SHUTTING_DOWN', 'the trigger was stopped');
        requireRoom(otherBytes + fold.engine.keyspace.bytes, maxCopyBytes);
        if (budget.isSpent) await budget.yield();
      }
      otherBytes += fold.engine.keyspace.bytes;
    }
    return new PartitionCopies(folds, maxCopyBytes);
  }

  look(partition: PartitionName, key: ByteString | undefined): ValueLook | undefined {
    if (key === undefined) return undefined;
    const { keyspace } = this.#foldOf(partition).engine;
    const value = keyspace.stored(key);
    if (value === undefined) return undefined;
    // A later effect changes a collection in place.
    const kept = typeof value === 'string' || bytesOfValue(value) > MAX_CLONED_BYTES ? value : value.clone();
    return { value: kept, expireAtMs: keyspace.expiryOf(key) };
  }

  apply(partition: PartitionName, words: readonly ByteString[]): void {
    const { engine } = this.#foldOf(partition);
    engine.replay(words);
    requireRoom(engine.keyspace.bytes, this.maxBytes);
  }

  /** All keys in the order of their bytes, so that every reading of the same position numbers them alike. */
  keys(): (readonly [ByteString, PartitionName])[] {
    const all: (readonly [ByteString, PartitionName])[] = [];
    for (const [partition, fold] of this.folds) {
      for (const [key] of fold.engine.keyspace.entries()) all.push([key, partition]);
    }
    return all.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  }

  #foldOf(partition: PartitionName): KvFold {
    const fold = this.folds.get(partition);
    assert(fold !== undefined, 'a partition that was not copied', { partition });
    return fold;
  }
}

/** A larger collection is shown by its size only. */
const MAX_CLONED_BYTES = 1024 * 1024;

function requireRoom(bytes: number, maxBytes: number): void {
  if (bytes <= maxBytes) return;
  const most = Math.floor(maxBytes / (1024 * 1024));
  throw new MillraceError(
    'INVALID',
    `values and filters need a copy of the database, which is larger than ${most} MiB`,
  );
}
