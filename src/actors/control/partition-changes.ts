/**
 * Makes the changes of the number of partitions that the control state names, one at a time. Only the owner of the
 * control shard does; the next owner continues where the control state stands.
 *
 *  PCH1 a copy that was interrupted begins again, with an attempt that the control state has recorded; so a former owner
 *       can neither send steps to partitions nor switch
 *  PCH2 after the switch the old partitions are emptied, after an abandoned change the new ones; until then the change is
 *       not over
 *  PCH3 a change ends: after `MAX_ATTEMPTS` copies, or an error that no repetition removes, it is abandoned with the reason
 *  PCH4 the event of the switch has the ends of the journals at a moment when all partitions are closed, so that each
 *       change of a client is in one of both layouts for those who read journals; no copy begins while a trigger has not
 *       read the layout before the present one
 */
import {
  type ControlState,
  type Database,
  isChangingLayout,
  type LayoutChange,
  type TriggerStart,
} from '../../domain/control/index.js';
import { describeError, isMillraceError, MillraceError, type PartitionName } from '../../kernel/index.js';
import type { Clock, KvGateway, Log, ManagementControl, Timer, Timers, TriggeredChange } from '../../ports/index.js';
import { kvPartitions } from '../../protocol/index.js';
import { PartitionCopy } from './partition-copy.js';

export interface PartitionChangesPorts {
  readonly gateway: KvGateway;
  readonly control: ManagementControl;
  /** This process's copy. */
  readonly state: () => ControlState;
  readonly triggers: TriggeredChange;
  /** True when this process owns the control shard. */
  isOwner(): boolean;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
}

const LOOK_EVERY_MS = 250;
const MAX_ATTEMPTS = 10;
/** Progress is an entry of the control journal, so it is recorded in steps. */
const PROGRESS_PERCENT = 10;
const RETRY_MS = 500;

type ChangingDatabase = Database & { readonly layoutChange: LayoutChange };
interface Facts {
  readonly percent?: number;
  readonly reason?: string;
  readonly ends?: readonly TriggerStart[];
}
type Target = 'attempt' | 'copying' | 'switched' | 'abandoning' | 'failed' | 'ended';

export class PartitionChanges {
  #timer: Timer | undefined;
  #underWay: Promise<void> | undefined;
  #isStopped = false;

  constructor(private readonly ports: PartitionChangesPorts) {}

  start(): void {
    this.#timer = this.ports.timers.every(LOOK_EVERY_MS, () => this.look());
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#timer?.cancel();
    await this.#underWay;
  }

  /** Begins or continues the first change, unless one is under way here. */
  look(): void {
    if (this.#underWay !== undefined || !this.#isActive()) return;
    const database = [...this.ports.state().databases.values()].find(isChanging);
    if (database === undefined) return;
    this.#underWay = this.#advance(database)
      .catch((error: unknown) => this.#warn(database, error))
      .finally(() => {
        this.#underWay = undefined;
      });
  }

  #isActive(): boolean {
    return !this.#isStopped && this.ports.isOwner();
  }

  async #advance(database: ChangingDatabase): Promise<void> {
    const { id, layoutChange: change } = database;
    if (change.phase === 'copying') {
      await this.#copy(database);
      return;
    }
    const present = kvPartitions(id, database);
    const other = kvPartitions(id, change);
    if (change.phase === 'abandoning') await this.#stepOfEach(database, present, 'open');
    await this.#stepOfEach(database, other, 'empty');
    const ended = await this.#tell(database, change.attempt, change.phase === 'switched' ? 'ended' : 'failed');
    if (ended === undefined) return;
    const { phase, reason } = change;
    this.ports.log.info('partitions.ended', { database: id, phase, partitions: database.partitions, reason });
  }

  async #copy(database: ChangingDatabase): Promise<void> {
    const { clock, log } = this.ports;
    const { id } = database;
    let { attempt } = database.layoutChange;
    for (let tries = 1; ; tries += 1) {
      const begun = await this.#tell(database, attempt, 'attempt');
      // The control state has gone on without this process.
      if (begun?.layoutChange === undefined) return;
      attempt = begun.layoutChange.attempt;
      let ends: readonly TriggerStart[] = [];
      const copy = this.#copyOf(database, attempt, async () => {
        ends = await this.ports.triggers.endsOf(id, database, database.layoutChange);
      });
      const startedAtMs = clock.monotonicMs();
      try {
        await this.#requireReadFormer(database);
        await copy.run();
        const switched = await this.#tell(database, attempt, 'switched', { percent: 100, ends });
        if (switched === undefined) return;
        const tookMs = Math.round(clock.monotonicMs() - startedAtMs);
        log.info('partitions.switched', { database: id, partitions: switched.partitions, tookMs });
        return;
      } catch (error) {
        this.#warn(database, error);
        if (!this.#isActive() || !this.#isStill(database, attempt)) return;
        await copy.reopen();
        if (!mayTryAgain(error) || tries === MAX_ATTEMPTS) {
          await this.#tell(database, attempt, 'abandoning', { reason: describeError(error) });
          return;
        }
        await this.ports.timers.pause(RETRY_MS);
      }
    }
  }

  /** @throws INVALID (PCH4) */
  async #requireReadFormer(database: ChangingDatabase): Promise<void> {
    const { triggers, state } = this.ports;
    for (const trigger of state().triggers.ofDatabase(database.id)) {
      if (await triggers.hasReadFormer(trigger, database)) continue;
      const text = 'has not sent all records from before the last change of partitions: resume it, skip them, or wait';
      throw new MillraceError('INVALID', `the trigger ${trigger.id} ${text}`);
    }
  }

  #copyOf(database: ChangingDatabase, attempt: number, onFilled: () => Promise<void>): PartitionCopy {
    const { id, layoutChange } = database;
    let told = 0;
    return new PartitionCopy(this.ports, {
      database: id,
      attempt,
      from: kvPartitions(id, database),
      to: kvPartitions(id, layoutChange),
      isWanted: () => this.#isActive() && this.#isStill(database, attempt),
      onFilled,
      onProgress: async (percent) => {
        if (percent < told + PROGRESS_PERCENT) return;
        told = percent;
        await this.#tell(database, attempt, 'copying', { percent });
      },
    });
  }

  /** False when the change was cancelled, or another process makes it. This copy of the state may be older. */
  #isStill({ id }: Database, attempt: number): boolean {
    const now = this.ports.state().live(id)?.layoutChange;
    return now !== undefined && now.attempt <= attempt && now.phase === 'copying';
  }

  async #stepOfEach(database: ChangingDatabase, partitions: readonly PartitionName[], step: string): Promise<void> {
    const { id, layoutChange } = database;
    const command = [step, String(layoutChange.attempt)];
    for (const partition of partitions) {
      const asked = { database: id, partition, mode: 'transfer', commands: [command], bytes: 32 } as const;
      await this.ports.gateway.execute(asked);
    }
  }

  /** @returns the database after the step; undefined when the control actor has refused it */
  async #tell({ id }: Database, attempt: number, to: Target, facts: Facts = {}): Promise<Database | undefined> {
    const { percent = 0, reason = '', ends } = facts;
    const reply = await this.ports.control.send({
      type: 'AdvancePartitions',
      database: id,
      attempt,
      to,
      percent,
      reason,
      ...(ends && { ends }),
    });
    return reply.type === 'OneDatabase' ? reply.database : undefined;
  }

  #warn({ id }: Database, error: unknown): void {
    this.ports.log.warn('partitions.interrupted', { database: id, cause: describeError(error) });
  }
}

function isChanging(database: Database): database is ChangingDatabase {
  return database.deletedAtMs === undefined && isChangingLayout(database);
}

/** The owner of a partition has changed, the last changes took too long, or a process did not answer. */
function mayTryAgain(error: unknown): boolean {
  if (!isMillraceError(error) || error.code === 'STORAGE_FULL') return false;
  return error.retryable || error.code === 'CONFLICT' || error.code === 'OUTCOME_UNKNOWN';
}
