/** Empties the partitions of deleted databases and search indexes, and retries until their owners have answered. */
import { type DatabaseId, describeError, isMillraceError, type PartitionName } from '../../kernel/index.js';
import type { DataRemoval, KvGateway, Log, Timer, Timers } from '../../ports/index.js';
import { kvPartition } from '../../protocol/index.js';

export interface DataRemovalPorts {
  readonly gateway: KvGateway;
  readonly timers: Timers;
  readonly log: Log;
}

const COMMAND = ['FLUSHALL'];
/** A partition that is closed is emptied as the last step of every copy. */
const CLOSED_COMMAND = ['empty', String(Number.MAX_SAFE_INTEGER)];
const RETRY_MS = 2_000;
/** Half an hour: longer than a cluster is without an owner, except in a fault that needs an operator. */
const MAX_TRIES = 900;

export class PartitionRemoval implements DataRemoval {
  readonly #timers = new Set<Timer>();
  #isStopped = false;

  constructor(private readonly ports: DataRemovalPorts) {}

  remove(database: DatabaseId, partitions: number): void {
    for (let index = 0; index < partitions; index += 1) void this.#empty(database, index, 1);
  }

  stop(): void {
    this.#isStopped = true;
    for (const timer of this.#timers) timer.cancel();
  }

  async #empty(database: DatabaseId, index: number, tries: number): Promise<void> {
    const { gateway, log } = this.ports;
    const partition = kvPartition(database, index);
    try {
      await emptyPartition(gateway, database, partition);
    } catch (error) {
      if (this.#isStopped) return;
      if (tries === MAX_TRIES) log.error('removal.given-up', { partition, cause: describeError(error) });
      else this.#later(database, index, tries + 1);
    }
  }

  #later(database: DatabaseId, index: number, tries: number): void {
    const timer = this.ports.timers.after(RETRY_MS, () => {
      this.#timers.delete(timer);
      void this.#empty(database, index, tries);
    });
    this.#timers.add(timer);
  }
}

/** Removes all keys of a partition of a deleted database. @throws as the gateway does */
export async function emptyPartition(
  gateway: KvGateway,
  database: DatabaseId,
  partition: PartitionName,
): Promise<void> {
  try {
    await gateway.execute({ database, partition, mode: 'single', commands: [COMMAND], bytes: 8 });
  } catch (error) {
    if (!isMillraceError(error, 'PARTITION_CLOSED')) throw error;
    await gateway.execute({ database, partition, mode: 'transfer', commands: [CLOSED_COMMAND], bytes: 32 });
  }
}
