/**
 * The databases of a shard: runs Redis commands on loaded partitions, collects their effects, and knows which keys are
 * not stored yet. Unused partitions leave memory and are loaded again on demand.
 */

import { type Audience, findCommand, type KvEngine } from '../../domain/kv/index.js';
import type { ChainHead, ChainLink } from '../../journal/index.js';
import {
  assert,
  type DatabaseId,
  describeError,
  MillraceError,
  type PartitionName,
  type SessionId,
} from '../../kernel/index.js';
import type { IndexFiles, StorageGauge, Timers } from '../../ports/index.js';
import { entrySections, type KvEvent, type Manifest } from '../../protocol/index.js';
import {
  type RecoveryStep,
  type SectionEffects,
  type ShardPlane,
  type ShouldStop,
  type Turn,
  YieldBudget,
} from '../runtime/index.js';
import { type CommandRunnerPorts, ShardCommandRunner } from './command-runner.js';
import type { KvFold } from './kv-fold.js';
import type { KvWork } from './kv-work.js';
import { type OutboxParts, OutboxRelay } from './outbox-relay.js';
import { OwnedPartition } from './owned-partition.js';
import { PartitionAudience } from './partition-audience.js';
import { PartitionIndexing } from './partition-indexing.js';
import { type RebuildPorts, rebuiltFold } from './partition-rebuild.js';
import { isClosed, PartitionTransfer } from './partition-transfer.js';
import { type LoadBranch, type LoadKept, Replacements } from './replacements.js';
import { StoredIndexes } from './stored-indexes.js';

export interface KvPlaneLimits {
  /** Expired keys removed in one share of a turn. */
  readonly expiryKeysPerTick: number;
  /** Time between two removals of expired keys. */
  readonly expiryEveryMs: number;
  /** A partition unused for this long leaves memory, once a snapshot covers it. */
  readonly passivateAfterMs: number;
}

export interface KvPlanePorts extends CommandRunnerPorts, RebuildPorts {
  readonly timers: Timers;
  readonly storage: StorageGauge;
  /** @param audience  the listeners that the partition's commands reach */
  createFold(audience: Audience): KvFold;
  /** Sends events to a process with listening clients. */
  deliver(edge: SessionId, partition: PartitionName, events: readonly KvEvent[]): void;
  /** Undefined: commands send no messages to the queue. */
  readonly outbox?: OutboxParts | undefined;
  /** Undefined: indexes and graphs are built from their keys at each start. */
  readonly indexFiles?: IndexFiles | undefined;
  /** Undefined: partitions are never replaced by a kept moment. */
  readonly loadKept?: LoadKept | undefined;
  /** Undefined: no database is a branch. */
  readonly branches?: BranchStates | undefined;
  /** Called when a parked request can continue. */
  onReady?(): void;
  /** Called when a partition cannot be loaded: the actor must end. */
  onFailure?(error: unknown): void;
}

export interface BranchStates {
  /** False when the database is certainly of no branch. */
  mayBe(database: DatabaseId): boolean;
  readonly load: LoadBranch;
}

const NO_WORKS: KvWork[] = [];
/** Stands for the outbox among the changed keys of a turn. */
const OUTBOX_PROGRESS = '\0outbox';

export class KvPlane implements ShardPlane<KvWork> {
  readonly #ownedByName = new Map<PartitionName, OwnedPartition>();
  readonly #ready: KvWork[] = [];
  #inFlight: OwnedPartition[] = [];
  #lastExpiryAtMs = Number.NEGATIVE_INFINITY;
  #isExpiryBehind = false;
  /** True when a key may have an expiry. It lets a drain look only at the partitions that it ran commands on. */
  #mayExpire = true;
  /** Partitions in which commands may wait; it may include some without waiters. */
  readonly #awaited = new Set<OwnedPartition>();
  readonly #runner: ShardCommandRunner;
  readonly #replacements: Replacements;
  /** Requests for partitions without the first state that they need, because it could not be loaded. */
  readonly #refused = new WeakMap<KvWork, MillraceError>();
  readonly #transfer: PartitionTransfer;
  readonly #relay: OutboxRelay | undefined;
  /** False until the partitions loaded at the start were looked through for messages. */
  #isRelaying = false;
  readonly #yieldBudget: YieldBudget;
  readonly #indexing: PartitionIndexing;
  readonly activation: string;

  constructor(
    private readonly ports: KvPlanePorts,
    private readonly limits: KvPlaneLimits,
  ) {
    this.#runner = new ShardCommandRunner(ports);
    this.#yieldBudget = new YieldBudget(ports.clock, ports.timers);
    this.#replacements = new Replacements(
      this.#runner,
      ports.loadKept,
      (owned) => ports.createFold(owned.audience),
      (owned, work) => this.#resume(owned, work),
    );
    this.#transfer = new PartitionTransfer(this.#runner, (works) => {
      this.#ready.push(...works);
      this.ports.onReady?.();
    });
    const { outbox } = ports;
    this.#relay = outbox && new OutboxRelay({ ...ports, ...outbox, onAccepted: () => this.ports.onReady?.() });
    const files = ports.indexFiles;
    const stored = files && new StoredIndexes({ ...ports, files }, (owned) => this.#beginIndexing(owned));
    this.#indexing = new PartitionIndexing(
      ports.clock,
      (works) => this.#ready.push(...works),
      (owned, engine) => this.#runner.tellLimits(owned, engine),
      stored,
    );
    this.activation = ports.activation;
  }

  execute(work: KvWork, turn: Turn, shouldStop: ShouldStop): 'done' | 'more' | 'parked' | 'refused' {
    const { place } = work.request;
    if (place !== undefined && !work.hasBegun && !place.mayRun()) return 'done';
    const owned = this.#ownedOf(work.request.partition);
    const step = this.#execute(owned, work, turn, shouldStop);
    this.#noteBegun(owned, work, step);
    if (owned.engine?.keyspace.hasMetExpired === true) this.#expireMet(owned, owned.engine, turn);
    this.#noteTimed(owned);
    if (step === 'done' && work.progress === work.commands) place?.hasRun();
    return step;
  }

  /** A partition is closed when no request is half done. */
  #noteBegun(owned: OwnedPartition, work: KvWork, step: 'done' | 'more' | 'parked' | 'refused'): void {
    if (step === 'more') {
      if (work.request.mode !== 'transfer') owned.begun.add(work);
    } else if (owned.begun.size > 0 && (step !== 'parked' || !work.hasBegun)) this.#transfer.ended(owned, work);
  }

  /** Notes waiters and expiries after a command, because only a command can add one. */
  #noteTimed(owned: OwnedPartition): void {
    if (owned.waiting.size > 0) this.#awaited.add(owned);
    if (owned.engine?.hasExpiries === true) this.#mayExpire = true;
    this.#indexing.look(owned);
  }

  #execute(
    owned: OwnedPartition,
    work: KvWork,
    turn: Turn,
    shouldStop: ShouldStop,
  ): 'done' | 'more' | 'parked' | 'refused' {
    if (this.ports.storage.isFull() && !work.hasBegun && mayGrow(work)) {
      work.reject(new MillraceError('STORAGE_FULL', 'the disk is nearly full: only reads and deletes are accepted'));
      return 'refused';
    }
    const { mode } = work.request;
    work.askedOf = owned;
    if (mode === 'listen') return this.#listen(owned, work);
    if (mode === 'unblock') return this.#runner.unblock(owned, work);
    const engine = owned.engine;
    if (engine === undefined || owned.isInDoubt) return this.#park(owned, work);
    if (owned.firstState !== undefined) {
      this.#replacements.begin(owned, engine, turn, owned.firstState);
      owned.firstState = undefined;
    }
    owned.lastUsedAtMs = turn.nowMs;
    engine.statistics.rate.note(turn.nowMs, engine.statistics.commands);
    this.#runner.tellLimits(owned, engine);
    if (mode === 'transfer') return this.#transfer.execute(owned, engine, work, turn, shouldStop);
    if ((engine.closure.isClosed || owned.isClosing) && !work.hasBegun) {
      work.reject(isClosed(owned));
      return 'refused';
    }
    if (mode === 'reads-only') return this.#runner.judge(engine, work);
    if (mode === 'watch') return this.#runner.watch(owned, engine, work, turn);
    if (mode === 'replace') return this.#replacements.execute(owned, engine, work, turn);
    owned.audience.currentClient = work.request.client?.id;
    const { said } = owned.audience;
    const step =
      mode === 'transaction'
        ? this.#runner.runTransaction(owned, engine, work, turn, shouldStop)
        : this.#runner.runEach(owned, engine, work, turn, shouldStop);
    owned.audience.currentClient = undefined;
    if (owned.audience.said > said) work.hasSaid = true;
    if (owned.hasNothingUnstored) owned.audience.flush();
    return step;
  }

  #park(owned: OwnedPartition, work: KvWork): 'parked' | 'refused' {
    const refusal = this.#refused.get(work);
    if (refusal !== undefined) {
      work.reject(refusal);
      return 'refused';
    }
    owned.parked.push(work);
    if (owned.engine === undefined) this.#load(owned);
    return 'parked';
  }

  intercept(work: KvWork): boolean {
    const owned = this.#ownedByName.get(work.request.partition);
    if (owned?.underway === undefined || work.request.place?.mayRun() === false) return false;
    return this.#runner.kill(owned, work);
  }

  #beginIndexing(owned: OwnedPartition): void {
    this.#indexing.look(owned);
    this.ports.onReady?.();
  }

  #listen(owned: OwnedPartition, work: KvWork): 'done' {
    const { listen } = work.request;
    const isKnown = listen !== undefined && owned.audience.listen(listen, this.ports.clock.monotonicMs());
    owned.noteTracking();
    work.replies.push(this.ports.activation, isKnown ? 1 : 0);
    return 'done';
  }

  takeFinished(): KvWork[] {
    return this.#runner.finished.length === 0 ? NO_WORKS : this.#runner.finished.splice(0);
  }

  tick(turn: Turn): void {
    const nowMs = this.ports.clock.monotonicMs();
    for (const owned of this.#runner.doubted) this.#rebuildIfStored(owned);
    for (const owned of this.#awaited) {
      if (owned.waiting.size > 0) this.#endOverdueWaits(owned, nowMs);
      else this.#awaited.delete(owned);
    }
    if (this.#relay !== undefined) this.#relayMessages(this.#relay, turn);
    if (this.#indexing.run() > 0) this.ports.onReady?.();
    const isExpiryDue = nowMs - this.#lastExpiryAtMs >= this.limits.expiryEveryMs || this.#isExpiryBehind;
    if (isExpiryDue) this.#expire(turn, nowMs);
  }

  /** Confirms messages that the queue has accepted, and sends those that were loaded. */
  #relayMessages(relay: OutboxRelay, turn: Turn): void {
    if (!this.#isRelaying) {
      this.#isRelaying = true;
      for (const owned of this.#ownedByName.values()) relay.look(owned);
    }
    relay.confirm(turn.effects > 0, (owned, sequence) => {
      const { engine } = owned;
      // A half-done command would take the effect into its own, which may be undone.
      if (engine === undefined || owned.isInDoubt || engine.run.isOpen) return false;
      const { bytes } = engine.effects;
      engine.outbox.sent(sequence);
      // No read depends on it.
      engine.keyspace.changes.open.add(OUTBOX_PROGRESS);
      this.#runner.noteChanges(owned, engine, turn, 1, engine.effects.bytes - bytes);
      return true;
    });
  }

  #expire(turn: Turn, nowMs: number): void {
    this.#lastExpiryAtMs = nowMs;
    this.#isExpiryBehind = false;
    this.#mayExpire = false;
    for (const owned of this.#ownedByName.values()) {
      if (!owned.audience.isEmpty) owned.audience.forgetSilent(nowMs);
      const engine = owned.engine;
      if (engine?.hasExpiries !== true) continue;
      this.#mayExpire = true;
      if (!mayExpire(owned)) continue;
      const removed = this.#remove(owned, engine, turn, () =>
        engine.expireDue(turn.nowMs, this.limits.expiryKeysPerTick),
      );
      if (removed >= this.limits.expiryKeysPerTick) this.#isExpiryBehind = true;
    }
  }

  /** Removes the expired keys that the command met, so that the next INFO counts them, as in Redis. */
  #expireMet(owned: OwnedPartition, engine: KvEngine, turn: Turn): void {
    if (!mayExpire(owned)) engine.keyspace.takeMetExpired();
    else this.#remove(owned, engine, turn, () => engine.expireMet(turn.nowMs));
  }

  #remove(owned: OwnedPartition, engine: KvEngine, turn: Turn, remove: () => number): number {
    const { count, bytes } = engine.effects;
    const removed = remove();
    if (removed === 0) return 0;
    this.#indexing.look(owned);
    this.#runner.noteChanges(owned, engine, turn, engine.effects.count - count, engine.effects.bytes - bytes);
    if (engine.keyspace.changes.ready.size > 0) this.#runner.serveWaiters(owned, engine, turn);
    return removed;
  }

  #endOverdueWaits(owned: OwnedPartition, nowMs: number): void {
    for (const waiter of owned.waiting.takeOverdue(nowMs, owned.engine?.keyspace.changes)) {
      this.#runner.endWait(owned, waiter, waiter.onTimeout);
    }
  }

  nextTickInMs(): number | undefined {
    if (this.#isExpiryBehind || this.#runner.doubted.size > 0) return 1;
    const isBehind = !this.#isRelaying && this.#relay !== undefined;
    let inMs = this.#mayExpire || isBehind ? this.limits.expiryEveryMs : undefined;
    const confirmInMs = this.#relay?.confirmInMs;
    if (confirmInMs !== undefined) inMs = Math.min(inMs ?? confirmInMs, confirmInMs);
    const indexingInMs = this.#indexing.inMs;
    if (indexingInMs !== undefined) inMs = Math.min(inMs ?? indexingInMs, indexingInMs);
    const nowMs = this.ports.clock.monotonicMs();
    for (const { waiting } of this.#awaited) {
      const { earliestMs } = waiting;
      if (earliestMs !== undefined) inMs = Math.min(inMs ?? Number.POSITIVE_INFINITY, Math.max(1, earliestMs - nowMs));
    }
    return inMs;
  }

  seal(): SectionEffects[] {
    const sealed: SectionEffects[] = [];
    this.#inFlight = [...this.#runner.changed];
    this.#runner.changed.clear();
    for (const owned of this.#inFlight) {
      sealed.push({ partition: owned.name, ...owned.seal() });
    }
    return sealed;
  }

  committed(head: ChainHead, links: ReadonlyMap<PartitionName, ChainLink>): void {
    for (const owned of this.#inFlight) {
      owned.commit(head.position);
      owned.sectionIndex = links.get(owned.name)?.number ?? owned.sectionIndex;
      this.#relay?.look(owned);
    }
    this.#inFlight = [];
    for (const owned of this.#runner.doubted) this.#rebuildIfStored(owned);
  }

  takeParked(): KvWork[] {
    return this.#ready.splice(0);
  }

  abandon(): KvWork[] {
    this.#relay?.stop();
    this.#indexing.stop();
    const parked = this.#ready.splice(0);
    for (const owned of this.#ownedByName.values()) {
      parked.push(...owned.parked.splice(0), ...owned.waiting.clear(), ...owned.indexWaits.clear());
    }
    parked.push(...this.#runner.finished.splice(0));
    return parked;
  }

  async restore(steps: AsyncIterable<RecoveryStep>): Promise<void> {
    for await (const step of steps) {
      if (step.kind === 'manifest') {
        if (step.manifest !== undefined) this.adoptManifest(step.manifest);
        continue;
      }
      const { entry, position } = step.read;
      for (const section of entrySections(entry)) {
        const owned = this.#ownedOf(section.partition);
        if (owned.fold === undefined) await this.#restoreOwned(owned);
        for (const _ of (owned.fold as KvFold).applyInSlices(section.effects)) {
          if (this.#yieldBudget.isSpent) await this.#yieldBudget.yield();
        }
        owned.sectionIndex = section.index;
        owned.latestToken = `${position}-0`;
      }
      // Small entries are not sliced, and thousands of them may be read without a pause.
      if (this.#yieldBudget.isSpent) await this.#yieldBudget.yield();
    }
    for (const owned of this.#ownedByName.values()) {
      const hasPending = (owned.snapshot?.pending ?? 0) > 0;
      if (hasPending && owned.fold === undefined) await this.#restoreOwned(owned);
    }
    for (const owned of this.#ownedByName.values()) this.#indexing.loaded(owned);
  }

  /** Partitions that a newer snapshot covers may leave memory, and are loaded from it. */
  adoptManifest(manifest: Manifest): void {
    for (const partition of manifest.partitions) {
      const owned = this.#ownedByName.get(partition.name) ?? this.#newOwned(partition.name);
      owned.snapshot = partition;
      if (owned.fold === undefined) owned.sectionIndex = partition.index;
    }
  }

  /** Unloads partitions that are idle and covered by a snapshot. @returns how many */
  passivateIdle(nowMs: number): number {
    let passivated = 0;
    for (const owned of this.#ownedByName.values()) {
      const isIdle = nowMs - owned.lastUsedAtMs > this.limits.passivateAfterMs;
      const isCovered = owned.snapshot !== undefined && owned.snapshot.index === owned.sectionIndex;
      if (owned.fold === undefined || !isIdle || !isCovered || !owned.hasNothingUnstored || owned.isInDoubt) continue;
      if (!owned.audience.isEmpty || owned.waiting.size > 0) continue;
      // Its indexes would have to be built again.
      if (owned.fold.engine.searches.size > 0) continue;
      const { effects } = owned.fold.engine;
      // Expiring keys must be removed and messages sent, so the partition stays loaded.
      if (owned.fold.engine.hasExpiries || effects.count > 0 || owned.fold.engine.outbox.size > 0) continue;
      owned.fold = undefined;
      passivated += 1;
      this.ports.log.debug('partition.passivated', { partition: owned.name });
    }
    return passivated;
  }

  /** The loaded partitions, without those that are being rebuilt; for gauges and tests. */
  *loaded(): IterableIterator<readonly [PartitionName, KvFold]> {
    for (const { name, fold, isInDoubt } of this.#ownedByName.values()) {
      if (fold !== undefined && !isInDoubt) yield [name, fold];
    }
  }

  /** Resumes one parked request, unless all parked requests were resumed already. */
  #resume(owned: OwnedPartition, work: KvWork): void {
    const at = owned.parked.indexOf(work);
    if (at < 0) return;
    owned.parked.splice(at, 1);
    this.#ready.push(work);
    this.ports.onReady?.();
  }

  #ownedOf(partition: PartitionName): OwnedPartition {
    const known = this.#ownedByName.get(partition);
    if (known !== undefined) return known;
    const owned = this.#newOwned(partition);
    // It is in no snapshot and no entry: it is empty, unless it is of a branch.
    owned.isUnfilled = this.ports.branches?.mayBe(owned.database) === true;
    if (!owned.isUnfilled) owned.fold = this.ports.createFold(owned.audience);
    return owned;
  }

  #newOwned(partition: PartitionName): OwnedPartition {
    const owned = new OwnedPartition(
      partition,
      new PartitionAudience((edge, events) => this.ports.deliver(edge, partition, events)),
      this.ports.outbox?.composerFor(partition),
    );
    this.#ownedByName.set(partition, owned);
    return owned;
  }

  async #restoreOwned(owned: OwnedPartition): Promise<void> {
    const fold = this.ports.createFold(owned.audience);
    if (owned.snapshot !== undefined) await this.ports.loadPartition(owned.snapshot, fold);
    owned.isUnfilled = false;
    owned.fold = fold;
    this.#mayExpire = true;
  }

  /** Rebuilds a partition in doubt once all its valid changes are stored. */
  #rebuildIfStored(owned: OwnedPartition): void {
    const { engine } = owned;
    if (owned.isLoading || engine === undefined || this.#runner.changed.has(owned) || !owned.inFlight.isEmpty) return;
    owned.isLoading = true;
    this.#runner.doubted.delete(owned);
    // This drops the changes of the failed command.
    engine.keyspace.changes.open.clear();
    rebuiltFold(this.ports, owned.name, () => this.ports.createFold(owned.audience), this.#yieldBudget).then(
      (fold) => {
        owned.fold = fold;
        this.#mayExpire = true;
        this.#indexing.loaded(owned);
        owned.isLoading = false;
        owned.isInDoubt = false;
        owned.audience.everythingChanged();
        owned.audience.flush();
        this.ports.log.info('partition.rebuilt', { partition: owned.name });
        this.#ready.push(...owned.parked.splice(0));
        this.#relay?.look(owned);
        this.ports.onReady?.();
      },
      (error: unknown) => this.ports.onFailure?.(error),
    );
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
      () => {
        this.#indexing.loaded(owned);
        owned.isLoading = false;
        this.#ready.push(...owned.parked.splice(0));
        this.ports.onReady?.();
      },
      (error: unknown) => this.ports.onFailure?.(error),
    );
  }

  /** Loads the first state of a branch; on failure the waiting requests are refused, and the next one tries again. */
  async #fill(owned: OwnedPartition): Promise<void> {
    try {
      const fold = this.ports.createFold(owned.audience);
      const { branches } = this.ports;
      owned.firstState = await branches?.load(owned.name, fold);
      owned.fold = owned.firstState === undefined ? this.ports.createFold(owned.audience) : fold;
      owned.isUnfilled = false;
      this.#mayExpire = true;
      this.#indexing.look(owned);
    } catch (cause) {
      const error = cause instanceof MillraceError ? cause : new MillraceError('DEFECT', 'a first state', {}, cause);
      this.ports.log.error('branch.not-loaded', { partition: owned.name, cause: describeError(error) });
      for (const work of owned.parked) this.#refused.set(work, error);
    }
    owned.isLoading = false;
    this.#ready.push(...owned.parked.splice(0));
    this.ports.onReady?.();
  }
}

/**
 * False while a command is half done, during CLIENT PAUSE, while the partition is in doubt or closed, and before a branch's
 * first state is in a turn.
 */
function mayExpire(owned: OwnedPartition): boolean {
  if (owned.engine?.closure.isClosed === true || owned.firstState !== undefined) return false;
  return !owned.isInDoubt && owned.underway === undefined && !owned.audience.isPaused;
}

/** True when a full server would refuse one of the commands. */
function mayGrow({ request }: KvWork): boolean {
  if (request.mode === 'replace') return true;
  if (request.mode === 'transfer') return request.commands[0]?.[0] === 'fill';
  return request.commands.some((words) => findCommand(words)?.mayGrow === true);
}
