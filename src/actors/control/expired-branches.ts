/**
 * Deletes expired branches, in the process that owns the control shard. Their data is then removed like that
 * of every deleted database, and their references by a sweep.
 */
import { auditActionNumber, type BranchDatabase, type ControlState, isBranch } from '../../domain/control/index.js';
import { referringBranches, removeReferences } from '../../journal/index.js';
import { type DatabaseId, describeError } from '../../kernel/index.js';
import type { Clock, Log, ManagementControl, ObjectStore, Timer, Timers } from '../../ports/index.js';

export interface ExpiredBranchesPorts {
  readonly control: ManagementControl;
  /** This process's copy. */
  readonly state: () => ControlState;
  /** True when this process owns the control shard. */
  isOwner(): boolean;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
}

/** The shortest life of a branch is a minute. */
const LOOK_EVERY_MS = 10_000;

export class ExpiredBranches {
  #timer: Timer | undefined;

  constructor(private readonly ports: ExpiredBranchesPorts) {}

  start(): void {
    this.#timer = this.ports.timers.every(LOOK_EVERY_MS, () => this.look());
  }

  stop(): void {
    this.#timer?.cancel();
  }

  /** Never rejects: the next check repeats failed deletions. */
  async look(): Promise<void> {
    const { isOwner, state, clock, log } = this.ports;
    if (!isOwner()) return;
    const nowMs = clock.nowMs();
    const expired = [...state().databases.values()]
      .filter(isBranch)
      .filter(({ branch, deletedAtMs }) => deletedAtMs === undefined && branch.expiresAtMs <= nowMs);
    for (const branch of expired) {
      try {
        await this.#delete(branch);
      } catch (error) {
        log.warn('branch.not-expired', { database: branch.id, cause: describeError(error) });
      }
    }
  }

  async #delete({ id: database, name, account, branch }: BranchDatabase): Promise<void> {
    const note = {
      actor: 'server',
      action: auditActionNumber('discardBranch'),
      source: 'EXPIRY',
      entity: name,
      secondaryEntity: '',
      thirdEntity: '',
      ip: '',
      reason: `its time ended ${new Date(branch.expiresAtMs).toISOString()}`,
    };
    await this.ports.control.send({ type: 'Audited', account, note, command: { type: 'DeleteDatabase', database } });
    this.ports.log.info('branch.expired', { database });
  }
}

export interface BranchSweepPorts {
  readonly objects: ObjectStore;
  /** Branches that exist; undefined while this process may have missed some. */
  knownBranches(): ReadonlySet<DatabaseId> | undefined;
}

/** Removes the objects of deleted branches, and those that a process left which died before it made the branch. */
export class BranchSweep {
  /** Branches with objects that were unknown at the last look. */
  #unknown: ReadonlySet<DatabaseId> = new Set();

  constructor(private readonly ports: BranchSweepPorts) {}

  /** Removes objects of branches that were also unknown at the last look. @returns how many */
  async look(): Promise<number> {
    const { objects, knownBranches } = this.ports;
    const found = await referringBranches(objects);
    const known = knownBranches();
    if (known === undefined) return 0;
    const unknown = new Set([...found].filter((branch) => !known.has(branch)));
    const over = [...unknown].filter((branch) => this.#unknown.has(branch));
    this.#unknown = unknown;
    for (const branch of over) await removeReferences(objects, branch);
    return over.length;
  }
}
