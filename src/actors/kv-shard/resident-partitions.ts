/**
 * The partitions of a shard in memory: each is loaded from its snapshot, from the origin of a branch or from the journal,
 * rebuilt after a doubt, and leaves memory when it is unused.
 */
import { assert, type DatabaseId, describeError, MillraceError, type PartitionName } from '../../kernel/index.js';
import { entrySections, type Manifest } from '../../protocol/index.js';
import type { RecoveryStep, YieldBudget } from '../runtime/index.js';
import type { KvFold } from './kv-fold.js';
import type { KvWork } from './kv-work.js';
import type { OwnedPartition } from './owned-partition.js';
import type { PartitionAudience } from './partition-audience.js';
import { type RebuildPorts, rebuiltFold } from './partition-rebuild.js';
import type { LoadBranch } from './replacements.js';

export interface BranchStates {
  /** False when the database is certainly of no branch. */
  mayBe(database: DatabaseId): boolean;
  readonly load: LoadBranch;
}

export interface ResidentPartitionsParts {
  readonly ports: RebuildPorts;
  /** Undefined: no database is a branch. */
  readonly branches: BranchStates | undefined;
  readonly yieldBudget: YieldBudget;
  createOwned(partition: PartitionName): OwnedPartition;
  createFold(audience: PartitionAudience): KvFold;
  /** A partition was loaded, and its parked requests can continue. */
  onLoaded(owned: OwnedPartition, works: readonly KvWork[]): void;
  /** A partition cannot be loaded: the actor must end. */
  onFailure(error: unknown): void;
}

export class ResidentPartitions {
  readonly #ownedByName = new Map<PartitionName, OwnedPartition>();
  /** Requests for partitions without the first state that they need, because it could not be loaded. */
  readonly #refused = new WeakMap<KvWork, MillraceError>();

  constructor(private readonly parts: ResidentPartitionsParts) {}

  [Symbol.iterator](): IterableIterator<OwnedPartition> {
    return this.#ownedByName.values();
  }

  get(partition: PartitionName): OwnedPartition | undefined {
    return this.#ownedByName.get(partition);
  }

  getOrCreate(partition: PartitionName): OwnedPartition {
    const known = this.#ownedByName.get(partition);
    if (known !== undefined) return known;
    const owned = this.#create(partition);
    // It is in no snapshot and no entry: it is empty, unless it is of a branch.
    owned.isUnfilled = this.parts.branches?.mayBe(owned.database) === true;
    if (!owned.isUnfilled) owned.fold = this.parts.createFold(owned.audience);
    return owned;
  }

  /** Parks the request until its partition is loaded, or refuses it because that has failed. */
  park(owned: OwnedPartition, work: KvWork): 'parked' | 'refused' {
    const refusal = this.#refused.get(work);
    if (refusal !== undefined) {
      work.reject(refusal);
      return 'refused';
    }
    owned.parked.push(work);
    if (owned.engine === undefined) this.#load(owned);
    return 'parked';
  }

  /** Applies the newest snapshot and every later entry. */
  async restore(steps: AsyncIterable<RecoveryStep>): Promise<void> {
    const { yieldBudget } = this.parts;
    for await (const step of steps) {
      if (step.kind === 'manifest') {
        if (step.manifest !== undefined) this.adoptManifest(step.manifest);
        continue;
      }
      for (const { entry, position } of step.reads) {
        for (const section of entrySections(entry)) {
          const owned = this.getOrCreate(section.partition);
          if (owned.fold === undefined) await this.#restoreOwned(owned);
          for (const _ of (owned.fold as KvFold).applyInSlices(section.effects)) {
            if (yieldBudget.isSpent) await yieldBudget.yield();
          }
          owned.sectionIndex = section.index;
          owned.latestToken = `${position}-0`;
        }
        // Small entries are not sliced, and thousands of them may be read without a pause.
        if (yieldBudget.isSpent) await yieldBudget.yield();
      }
    }
    for (const owned of this) {
      const hasPending = (owned.snapshot?.pending ?? 0) > 0;
      if (hasPending && owned.fold === undefined) await this.#restoreOwned(owned);
    }
  }

  /** Partitions that a newer snapshot covers may leave memory, and are loaded from it. */
  adoptManifest(manifest: Manifest): void {
    for (const partition of manifest.partitions) {
      const owned = this.#ownedByName.get(partition.name) ?? this.#create(partition.name);
      owned.snapshot = partition;
      if (owned.fold === undefined) owned.sectionIndex = partition.index;
    }
  }

  /** Unloads partitions that are covered by a snapshot and unused since this time. @returns how many */
  passivate(unusedSinceMs: number): number {
    let passivated = 0;
    for (const owned of this) {
      if (owned.lastUsedAtMs >= unusedSinceMs || !mayLeaveMemory(owned)) continue;
      owned.fold = undefined;
      passivated += 1;
      this.parts.ports.log.debug('partition.passivated', { partition: owned.name });
    }
    return passivated;
  }

  /** Rebuilds a partition in doubt, without the changes of the failed command. All its valid changes are stored. */
  rebuild(owned: OwnedPartition): Promise<void> {
    const { ports, yieldBudget } = this.parts;
    owned.isLoading = true;
    owned.engine?.keyspace.changes.open.clear();
    return rebuiltFold(ports, owned.name, () => this.parts.createFold(owned.audience), yieldBudget).then(
      (fold) => {
        owned.fold = fold;
        owned.isInDoubt = false;
        owned.audience.everythingChanged();
        owned.audience.flush();
        ports.log.info('partition.rebuilt', { partition: owned.name });
        this.#loaded(owned);
      },
      (error: unknown) => this.parts.onFailure(error),
    );
  }

  #create(partition: PartitionName): OwnedPartition {
    const owned = this.parts.createOwned(partition);
    this.#ownedByName.set(partition, owned);
    return owned;
  }

  async #restoreOwned(owned: OwnedPartition): Promise<void> {
    const fold = this.parts.createFold(owned.audience);
    if (owned.snapshot !== undefined) await this.parts.ports.loadPartition(owned.snapshot, fold);
    owned.isUnfilled = false;
    owned.fold = fold;
  }

  #load(owned: OwnedPartition): void {
    if (owned.isLoading) return;
    owned.isLoading = true;
    if (owned.isUnfilled) {
      void this.#fill(owned);
      return;
    }
    assert(owned.snapshot !== undefined, 'a partition without state has no snapshot', { partition: owned.name });
    this.#restoreOwned(owned).then(
      () => this.#loaded(owned),
      (error: unknown) => this.parts.onFailure(error),
    );
  }

  /** Loads the first state of a branch; on failure the waiting requests are refused, and the next one tries again. */
  async #fill(owned: OwnedPartition): Promise<void> {
    try {
      const fold = this.parts.createFold(owned.audience);
      owned.firstState = await this.parts.branches?.load(owned.name, fold);
      owned.fold = owned.firstState === undefined ? this.parts.createFold(owned.audience) : fold;
      owned.isUnfilled = false;
    } catch (cause) {
      const error = cause instanceof MillraceError ? cause : new MillraceError('DEFECT', 'a first state', {}, cause);
      this.parts.ports.log.error('branch.not-loaded', { partition: owned.name, cause: describeError(error) });
      for (const work of owned.parked) this.#refused.set(work, error);
    }
    this.#loaded(owned);
  }

  #loaded(owned: OwnedPartition): void {
    owned.isLoading = false;
    this.parts.onLoaded(owned, owned.parked.splice(0));
  }
}

/** True when a snapshot has all of the partition, and no work needs it in memory. */
function mayLeaveMemory(owned: OwnedPartition): boolean {
  const { engine, snapshot, audience } = owned;
  if (engine === undefined || snapshot?.index !== owned.sectionIndex || !owned.hasNothingUnstored) return false;
  if (owned.isInDoubt || !audience.isEmpty || owned.waiting.size > 0) return false;
  // Its indexes would have to be built again.
  if (engine.searches.size > 0) return false;
  // Expiring keys must be removed and messages sent.
  return !engine.hasExpiries && engine.effects.count === 0 && engine.outbox.size === 0;
}
