/**
 * Makes and restores backups of databases for the management API, one at a time, in a thread.
 *
 *  DK1 the control actor is told the end of each backup until it has answered; a backup that it does not know as
 *      completed is removed
 *  DK2 a restore removes data only after all replacement data was found
 *  DK3 objects of a backup that the control state does not know, left by a process that died, are removed after the
 *      next backup, or by `sweepUnknown`
 */
import type { ControlReply } from '../../domain/control/index.js';
import {
  type KeepRequest,
  type KeptState,
  keptBackups,
  readKept,
  removeAllOf,
  removeKept,
} from '../../journal/backup/index.js';
import { SnapshotStore, withoutParameters } from '../../journal/index.js';
import {
  type BackupId,
  type DatabaseId,
  describeError,
  isMillraceError,
  MillraceError,
  type PartitionName,
} from '../../kernel/index.js';
import type { Backups, Clock, KvGateway, Log, ManagementControl, ObjectStore, Timers } from '../../ports/index.js';
import { kvPartitions, type PartitionLayout, shardOf } from '../../protocol/index.js';

import { YieldBudget } from '../runtime/index.js';

export interface KeeperPorts {
  readonly objects: ObjectStore;
  readonly gateway: KvGateway;
  readonly control: ManagementControl;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
  /** The layout of a live database, as far as this process knows; undefined for an unknown database. */
  layoutOf(database: DatabaseId): PartitionLayout | undefined;
  /**
   * The backups that the control state knows, without failed ones; undefined while this process may have missed some.
   */
  knownBackups(): ReadonlySet<BackupId> | undefined;
  /** @throws MillraceError */
  keep(request: KeepRequest): Promise<KeptState>;
}

export interface KeeperOptions {
  readonly clusterId: string;
  readonly kvShards: number;
  /** The bytes of one partition's segments that can be restored at one time. */
  readonly maxPartitionBytes: number;
  /** Longer than a copy of the control state may be behind. */
  readonly settleMs: number;
  readonly retryMs: number;
}

/**
 * Tries at one per second: the control actor is told for a minute, and a newly created database is waited for as long.
 */
const TRIES = 60;
const RESTORE_TRIES = 3;

export class DatabaseKeeper implements Backups {
  #last: Promise<void> = Promise.resolve();
  #isStopped = false;
  /** Unknown backups with objects, from the last check. */
  #unknown: ReadonlySet<BackupId> = new Set();

  constructor(
    private readonly ports: KeeperPorts,
    private readonly options: KeeperOptions,
  ) {}

  start(database: DatabaseId, backup: BackupId): void {
    this.#last = this.#last.then(() => this.#make(database, backup));
  }

  async restore(database: DatabaseId, manifests: readonly string[]): Promise<void> {
    const partitions = await this.#partitionsOf(database);
    await this.#checkFits(partitions, manifests);
    for (const [index, partition] of partitions.entries()) {
      await this.#replace(database, partition, manifests[index] as string);
    }
  }

  async *commandsOf(manifests: readonly string[]): AsyncGenerator<Uint8Array> {
    const { objects, clock, timers, log } = this.ports;
    const budget = new YieldBudget(clock, timers);
    const yieldWhenDue = () => (budget.isSpent ? budget.yield() : undefined);
    const store = new SnapshotStore(objects, log);
    for (const manifest of manifests) {
      const segments = store.segmentBytes(await readKept(objects, manifest), async () => yieldWhenDue());
      yield* withoutParameters(segments, yieldWhenDue);
    }
  }

  delete(manifests: readonly string[]): Promise<void> {
    return removeKept(this.ports.objects, manifests);
  }

  /** Removes backups that were also unknown at the last check, about an hour ago (DK3). @returns how many */
  async sweepUnknown(): Promise<number> {
    const { objects, knownBackups } = this.ports;
    const found = await keptBackups(objects);
    const known = knownBackups();
    if (known === undefined) return 0;
    const unknown = new Set([...found].filter((backup) => !known.has(backup)));
    const over = [...unknown].filter((backup) => this.#unknown.has(backup));
    this.#unknown = unknown;
    for (const backup of over) await removeAllOf(objects, backup);
    return over.length;
  }

  /** Waits for the work in progress; work that has not begun is dropped. */
  async close(): Promise<void> {
    this.#isStopped = true;
    await this.#last;
  }

  /** Never rejects. */
  async #make(database: DatabaseId, backup: BackupId): Promise<void> {
    if (this.#isStopped) return;
    const { objects, log } = this.ports;
    try {
      const kept = await this.#keep(database, backup);
      const isKnown = await this.#end(backup, kept, '');
      if (isKnown) log.info('backup.kept', { database, backup, bytes: kept.bytes });
      else await removeAllOf(objects, backup);
      if (isKnown) await this.#sweep(backup);
    } catch (error) {
      log.error('backup.failed', { database, backup, cause: describeError(error) });
      await this.#giveUp(backup, error);
    }
  }

  async #keep(database: DatabaseId, backup: BackupId): Promise<KeptState> {
    const { clusterId, kvShards } = this.options;
    const partitions = await this.#partitionsOf(database);
    const shards = partitions.map((partition) => shardOf('kv', partition, kvShards));
    return this.ports.keep({ clusterId, backup, partitions, shards });
  }

  async #giveUp(backup: BackupId, reason: unknown): Promise<void> {
    const { objects, log } = this.ports;
    try {
      await this.#end(backup, undefined, isMillraceError(reason) ? reason.code : 'DEFECT');
      await removeAllOf(objects, backup);
    } catch (error) {
      log.error('backup.not-ended', { backup, cause: describeError(error) });
    }
  }

  /** Tells the control actor the end of a backup (DK1). @returns true when the control state has it as completed */
  async #end(backup: BackupId, kept: KeptState | undefined, reason: string): Promise<boolean> {
    const { bytes, manifests } = kept ?? { bytes: 0, manifests: [] };
    const state = kept === undefined ? 'failed' : 'completed';
    const reply = await this.#patiently(() =>
      this.ports.control.send({ type: 'EndBackup', backup, state, bytes, manifests, reason }),
    );
    return isCompleted(reply);
  }

  async #partitionsOf(database: DatabaseId): Promise<PartitionName[]> {
    const layout = await this.#patiently(async () => {
      const known = this.ports.layoutOf(database);
      if (known !== undefined) return known;
      throw new MillraceError('SHARD_UNAVAILABLE', `this process does not know the database ${database}`);
    }, RESTORE_TRIES);
    return kvPartitions(database, layout);
  }

  /** Checks that all replacement data is there (DK2). */
  async #checkFits(partitions: readonly PartitionName[], manifests: readonly string[]): Promise<void> {
    if (manifests.length !== partitions.length) {
      const message = `the backup has ${manifests.length} partitions, the database has ${partitions.length}`;
      throw new MillraceError('CONFLICT', message);
    }
    for (const manifest of manifests) {
      const { segments } = await readKept(this.ports.objects, manifest);
      const lengths = new Map(
        (await this.ports.objects.list(folderOf(manifest))).map(({ name, bytes }) => [name, bytes]),
      );
      for (const { object, bytes } of segments) {
        if (lengths.get(object) !== bytes)
          throw new MillraceError('NOT_FOUND', `${object} of the backup is missing or incomplete`);
      }
      const bytes = segments.reduce((sum, segment) => sum + segment.bytes, 0);
      if (bytes <= this.options.maxPartitionBytes) continue;
      throw new MillraceError(
        'CONFLICT',
        `a partition of the backup has ${bytes} bytes, and at most ${this.options.maxPartitionBytes} can be restored`,
      );
    }
  }

  /** A replacement with an unknown outcome is repeated, because it ends in the same state. */
  async #replace(database: DatabaseId, partition: PartitionName, manifest: string): Promise<void> {
    const request = {
      database,
      partition,
      mode: 'replace',
      commands: [[manifest]],
      bytes: manifest.length,
      waiter: `replace ${manifest}`,
    } as const;
    await this.#patiently(() => this.ports.gateway.execute(request), RESTORE_TRIES);
  }

  /** Removes the objects of unknown backups (DK3). */
  async #sweep(own: BackupId): Promise<void> {
    const { objects, log } = this.ports;
    const found = await keptBackups(objects);
    await this.ports.timers.pause(this.options.settleMs);
    const known = this.ports.knownBackups();
    // A copy that does not know the new backup may have missed others too.
    if (known?.has(own) !== true) return;
    for (const backup of found) {
      if (known.has(backup)) continue;
      await removeAllOf(objects, backup);
      log.info('backup.swept', { backup });
    }
  }

  async #patiently<T>(step: () => Promise<T>, tries = TRIES): Promise<T> {
    for (let left = tries; ; left -= 1) {
      try {
        return await step();
      } catch (error) {
        const mayRepeat = isMillraceError(error) && (error.retryable || error.code === 'OUTCOME_UNKNOWN');
        if (!mayRepeat || left <= 1 || this.#isStopped) throw error;
        await this.ports.timers.pause(this.options.retryMs);
      }
    }
  }
}

function isCompleted(reply: ControlReply): boolean {
  return reply.type === 'OneBackup' && reply.backup.state === 'completed';
}

function folderOf(name: string): string {
  return name.slice(0, name.lastIndexOf('/') + 1);
}
