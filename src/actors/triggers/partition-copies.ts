/**
 * Copies of a database's partitions at a position of their journal, for triggers that ask for values, and for the keys
 * of a snapshot. They are built from the newest snapshot before that position and the entries after it, and advance
 * with the entries that a trigger reads.
 *
 *  PCP1 the copies of all triggers and feeds of a process share one budget, of which one account has at most half. A
 *       trigger that finds no room stops with an error, and tries again later
 *  PCP2 the copies hold their bytes until `close`
 */
import { bytesOfValue } from '../../domain/kv/index.js';
import { type AuditPorts, exportCommands } from '../../journal/index.js';
import {
  type AccountId,
  assert,
  type ByteBudget,
  type ByteString,
  type Hold,
  MillraceError,
  type PartitionName,
  type ShardName,
} from '../../kernel/index.js';
import type { Clock, Timers } from '../../ports/index.js';
import { type KvFold, replayFold } from '../kv-shard/index.js';
import { YieldBudget } from '../runtime/index.js';
import type { ValueLook } from './change-record.js';

export interface CopyPorts extends AuditPorts {
  readonly clock: Clock;
  readonly timers: Timers;
  /** For the copies of all triggers in the process. */
  readonly copyBudget: ByteBudget;
}

/** Partitions of a shard at a position, for an account. */
export interface CopiedPlace {
  readonly account: AccountId;
  readonly shard: ShardName;
  readonly partitions: Iterable<PartitionName>;
  readonly position: number;
}

export class PartitionCopies {
  readonly #folds = new Map<PartitionName, KvFold>();
  readonly #hold: Hold;

  private constructor(
    private readonly budget: ByteBudget,
    account: AccountId,
  ) {
    this.#hold = budget.hold(account);
  }

  /** @throws INVALID when the position is not kept any more, or there is no room (PCP1); JOURNAL_UNAVAILABLE */
  static async at(
    ports: CopyPorts,
    { account, shard, partitions, position }: CopiedPlace,
    signal: AbortSignal,
  ): Promise<PartitionCopies> {
    const copies = new PartitionCopies(ports.copyBudget, account);
    try {
      for (const partition of partitions) await copies.#load(ports, shard, partition, position, signal);
      return copies;
    } catch (error) {
      copies.close();
      throw error;
    }
  }

  async #load(
    ports: CopyPorts,
    shard: ShardName,
    partition: PartitionName,
    position: number,
    signal: AbortSignal,
  ): Promise<void> {
    const fold = replayFold();
    this.#folds.set(partition, fold);
    if (position === 0) return;
    const budget = new YieldBudget(ports.clock, ports.timers);
    const at = { kind: 'position', position } as const;
    for await (const effects of exportCommands(ports, shard, partition, { from: at, to: at })) {
      for (const _ of fold.applyInSlices(effects)) if (budget.isSpent) await budget.yield();
      if (signal.aborted) throw new MillraceError('SHUTTING_DOWN', 'the trigger was stopped');
      this.#requireRoom();
      if (budget.isSpent) await budget.yield();
    }
  }

  /** Releases the memory; the copies are not used after that. */
  close(): void {
    this.#folds.clear();
    this.#hold.release();
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
    this.#requireRoom();
  }

  /** All keys in the order of their bytes, so that every reading of the same position numbers them alike. */
  keys(): (readonly [ByteString, PartitionName])[] {
    const all: (readonly [ByteString, PartitionName])[] = [];
    for (const [partition, fold] of this.#folds) {
      for (const [key] of fold.engine.keyspace.entries()) all.push([key, partition]);
    }
    return all.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  }

  #foldOf(partition: PartitionName): KvFold {
    const fold = this.#folds.get(partition);
    assert(fold !== undefined, 'a partition that was not copied', { partition });
    return fold;
  }

  #requireRoom(): void {
    let bytes = 0;
    for (const { engine } of this.#folds.values()) bytes += engine.keyspace.bytes;
    if (this.#hold.resize(bytes)) return;
    const all = Math.floor(this.budget.limitBytes / MIB);
    const text = `values, filters and snapshots need a copy of the database, and the copies of all triggers have ${all} MiB, half of it for one account (MILLRACE_TRIGGER_MEMORY_BYTES)`;
    throw new MillraceError('INVALID', text);
  }
}

const MIB = 1024 * 1024;
/** A larger collection is shown by its size only. */
const MAX_CLONED_BYTES = 1024 * 1024;
