/**
 * Makes the changes of the number of partitions that the control state names, one at a time. Only the owner of the
 * control shard does; the next owner continues where the control state stands.
 *
 *  PCH1 a copy that was interrupted begins again, with an attempt that the control state has recorded; so a former owner
 *       can neither send steps to partitions nor switch
 *  PCH2 after the switch the old partitions are emptied, after an abandoned change the new ones; until then the change is
 *       not over
 *  PCH3 a change ends: after `MAX_ATTEMPTS` copies, or an error that no repetition removes, it is abandoned with the reason
 */
import { type ControlState, type Database, isChangingLayout, type LayoutChange } from '../../domain/control/index.js';
import { describeError, isMillraceError, type PartitionName } from '../../kernel/index.js';
import type { Clock, KvGateway, Log, ManagementControl, Timer, Timers } from '../../ports/index.js';
import { kvPartitions } from '../../protocol/index.js';
import { PartitionCopy } from './partition-copy.js';

export interface PartitionChangesPorts {
  readonly gateway: KvGateway;
  readonly control: ManagementControl;
  /** This process's copy. */
  readonly state: () => ControlState;
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
      const copy = this.#copyOf(database, attempt);
      const startedAtMs = clock.monotonicMs();
      try {
        await copy.run();
        const switched = await this.#tell(database, attempt, 'switched');
        if (switched === undefined) return;
        const tookMs = Math.round(clock.monotonicMs() - startedAtMs);
        log.info('partitions.switched', { database: id, partitions: switched.partitions, tookMs });
        return;
      } catch (error) {
        this.#warn(database, error);
        if (!this.#isActive() || !this.#isStill(database, attempt)) return;
        await copy.reopen();
        if (!mayTryAgain(error) || tries === MAX_ATTEMPTS) {
          await this.#tell(database, attempt, 'abandoning', 0, describeError(error));
          return;
        }
        await this.ports.timers.pause(RETRY_MS);
      }
    }
  }

  #copyOf(database: ChangingDatabase, attempt: number): PartitionCopy {
    const { id, layoutChange } = database;
    let told = 0;
    return new PartitionCopy(this.ports, {
      database: id,
      attempt,
      from: kvPartitions(id, database),
      to: kvPartitions(id, layoutChange),
      isWanted: () => this.#isActive() && this.#isStill(database, attempt),
      onProgress: async (percent) => {
        if (percent < told + PROGRESS_PERCENT) return;
        told = percent;
        await this.#tell(database, attempt, 'copying', percent);
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
  async #tell({ id }: Database, attempt: number, to: Target, percent = 0, reason = ''): Promise<Database | undefined> {
    const reply = await this.ports.control.send({
      type: 'AdvancePartitions',
      database: id,
      attempt,
      to,
      percent,
      reason,
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
