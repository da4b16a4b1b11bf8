/**
 * The databases of a shard: runs Redis commands on loaded partitions, collects their effects, and knows which keys are
 * not stored yet. Unused partitions leave memory and are loaded again on demand.
 */

import { type Audience, findCommand, type KvEngine } from '../../domain/kv/index.js';
import type { ChainHead, ChainLink } from '../../journal/index.js';
import { MillraceError, type PartitionName, type SessionId } from '../../kernel/index.js';
import type { IndexFiles, StorageGauge, Timers } from '../../ports/index.js';
import type { KvEvent, Manifest } from '../../protocol/index.js';
import {
  type RecoveryStep,
  type SectionEffects,
  type ShardPlane,
  type ShouldStop,
  type Turn,
  YieldBudget,
} from '../runtime/index.js';
import { CommandClock } from './command-clock.js';
import { type CommandRunnerPorts, ShardCommandRunner } from './command-runner.js';
import { killScript } from './half-done-command.js';
import type { KvFold } from './kv-fold.js';
import type { KvWork } from './kv-work.js';
import { type OutboxParts, OutboxRelay } from './outbox-relay.js';
import { OwnedPartition } from './owned-partition.js';
import { PartitionAudience } from './partition-audience.js';
import { PartitionIndexing } from './partition-indexing.js';
import type { RebuildPorts } from './partition-rebuild.js';
import { isClosed, PartitionTransfer } from './partition-transfer.js';
import { type LoadKept, Replacements } from './replacements.js';
import { type BranchStates, ResidentPartitions } from './resident-partitions.js';
import { StoredIndexes } from './stored-indexes.js';
import { TurnChanges } from './turn-changes.js';
import { WaiterService } from './waiter-service.js';

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

/** Stands for the outbox among the changed keys of a turn. */
const OUTBOX_PROGRESS = '\0outbox';

export class KvPlane implements ShardPlane<KvWork> {
  readonly #partitions: ResidentPartitions;
  readonly #ready: KvWork[] = [];
  #inFlight: OwnedPartition[] = [];
  #lastExpiryAtMs = Number.NEGATIVE_INFINITY;
  #isExpiryBehind = false;
  /** Partitions with keys that expire, and with listeners; they may include some without. */
  readonly #expiring = new Set<OwnedPartition>();
  readonly #listened = new Set<OwnedPartition>();
  /** Partitions in which commands may wait; it may include some without waiters. */
  readonly #awaited = new Set<OwnedPartition>();
  readonly #runner: ShardCommandRunner;
  readonly #changes: TurnChanges;
  readonly #waiters: WaiterService;
  readonly #replacements: Replacements;
  readonly #transfer: PartitionTransfer;
  readonly #relay: OutboxRelay | undefined;
  /** False until the partitions loaded at the start were looked through for messages. */
  #isRelaying = false;
  readonly #indexing: PartitionIndexing;
  readonly activation: string;

  constructor(
    private readonly ports: KvPlanePorts,
    private readonly limits: KvPlaneLimits,
  ) {
    const clock = new CommandClock(ports.clock);
    this.#changes = new TurnChanges(ports.log);
    this.#waiters = new WaiterService(ports, clock, this.#changes);
    this.#runner = new ShardCommandRunner(ports, clock, this.#changes, this.#waiters);
    this.#partitions = new ResidentPartitions({
      ports,
      branches: ports.branches,
      yieldBudget: new YieldBudget(ports.clock, ports.timers),
      createOwned: (partition) => this.#newOwned(partition),
      createFold: (audience) => ports.createFold(audience),
      onLoaded: (owned, works) => this.#loaded(owned, works),
      onFailure: (error) => ports.onFailure?.(error),
    });
    this.#replacements = new Replacements(
      this.#changes,
      this.#waiters,
      ports.loadKept,
      (owned) => ports.createFold(owned.audience),
      (owned, work) => this.#resume(owned, work),
    );
    this.#transfer = new PartitionTransfer(this.#changes, (works) => this.#makeReady(works));
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
    const owned = this.#partitions.getOrCreate(work.request.partition);
    const step = this.#execute(owned, work, turn, shouldStop);
    this.#noteBegun(owned, work, step);
    if (owned.engine?.keyspace.expiries.hasMet === true) this.#expireMet(owned, owned.engine, turn);
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
    this.#noteExpiries(owned);
    this.#indexing.look(owned);
  }

  #noteExpiries(owned: OwnedPartition): void {
    if (owned.engine?.hasExpiries === true) this.#expiring.add(owned);
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
    if (mode === 'unblock') return this.#unblock(owned, work);
    const engine = owned.engine;
    if (engine === undefined || owned.isInDoubt) return this.#partitions.park(owned, work);
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

  intercept(work: KvWork): boolean {
    const owned = this.#partitions.get(work.request.partition);
    if (owned?.underway === undefined || work.request.place?.mayRun() === false) return false;
    return killScript(owned, work);
  }

  #beginIndexing(owned: OwnedPartition): void {
    this.#indexing.look(owned);
    this.ports.onReady?.();
  }

  #listen(owned: OwnedPartition, work: KvWork): 'done' {
    const { listen } = work.request;
    const isKnown = listen !== undefined && owned.audience.listen(listen, this.ports.clock.monotonicMs());
    this.#listened.add(owned);
    owned.noteTracking();
    work.replies.push(this.ports.activation, isKnown ? 1 : 0);
    return 'done';
  }

  #unblock(owned: OwnedPartition, work: KvWork): 'done' {
    const [name = '', how = ''] = work.request.commands[0] ?? [];
    work.replies.push(this.#waiters.dismiss(owned, name, how) ? 1 : 0);
    return 'done';
  }

  takeFinished(): KvWork[] {
    return this.#waiters.takeFinished();
  }

  tick(turn: Turn): void {
    const nowMs = this.ports.clock.monotonicMs();
    for (const owned of this.#changes.doubted) this.#rebuildIfStored(owned);
    for (const owned of this.#awaited) {
      if (owned.waiting.size > 0) this.#waiters.endOverdue(owned, nowMs);
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
      for (const owned of this.#partitions) relay.look(owned);
    }
    relay.confirm(turn.effects > 0, (owned, sequence) => {
      const { engine } = owned;
      // A half-done command would take the effect into its own, which may be undone.
      if (engine === undefined || owned.isInDoubt || engine.run.isOpen) return false;
      const { bytes } = engine.effects;
      engine.outbox.sent(sequence);
      // No read depends on it.
      engine.keyspace.changes.open.add(OUTBOX_PROGRESS);
      this.#changes.note(owned, engine, turn, 1, engine.effects.bytes - bytes);
      return true;
    });
  }

  #expire(turn: Turn, nowMs: number): void {
    this.#lastExpiryAtMs = nowMs;
    this.#isExpiryBehind = false;
    for (const owned of this.#listened) {
      if (owned.audience.isEmpty) this.#listened.delete(owned);
      else owned.audience.forgetSilent(nowMs);
    }
    for (const owned of this.#expiring) {
      const engine = owned.engine;
      if (engine?.hasExpiries !== true) {
        this.#expiring.delete(owned);
        continue;
      }
      if (!mayExpire(owned)) continue;
      const removed = this.#remove(owned, engine, turn, () =>
        engine.removal.expireDue(turn.nowMs, this.limits.expiryKeysPerTick),
      );
      if (removed >= this.limits.expiryKeysPerTick) this.#isExpiryBehind = true;
    }
  }

  /** Removes the expired keys that the command met, so that the next INFO counts them, as in Redis. */
  #expireMet(owned: OwnedPartition, engine: KvEngine, turn: Turn): void {
    if (!mayExpire(owned)) engine.keyspace.expiries.takeMet(turn.nowMs);
    else this.#remove(owned, engine, turn, () => engine.removal.expireMet(turn.nowMs));
  }

  #remove(owned: OwnedPartition, engine: KvEngine, turn: Turn, remove: () => number): number {
    const { count, bytes } = engine.effects;
    const removed = remove();
    if (removed === 0) return 0;
    this.#indexing.look(owned);
    this.#changes.note(owned, engine, turn, engine.effects.count - count, engine.effects.bytes - bytes);
    if (engine.keyspace.changes.ready.size > 0) this.#waiters.serveReady(owned, engine, turn);
    return removed;
  }

  nextTickInMs(): number | undefined {
    if (this.#isExpiryBehind || this.#changes.doubted.size > 0) return 1;
    const isBehind = !this.#isRelaying && this.#relay !== undefined;
    let inMs = this.#expiring.size > 0 || isBehind ? this.limits.expiryEveryMs : undefined;
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
    this.#inFlight = [...this.#changes.changed];
    this.#changes.changed.clear();
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
    for (const owned of this.#changes.doubted) this.#rebuildIfStored(owned);
  }

  takeParked(): KvWork[] {
    return this.#ready.splice(0);
  }

  abandon(): KvWork[] {
    this.#relay?.stop();
    this.#indexing.stop();
    const parked = this.#ready.splice(0);
    for (const owned of this.#partitions) {
      parked.push(...owned.parked.splice(0), ...owned.waiting.clear(), ...owned.indexWaits.clear());
    }
    parked.push(...this.#waiters.takeFinished());
    return parked;
  }

  async restore(steps: AsyncIterable<RecoveryStep>): Promise<void> {
    await this.#partitions.restore(steps);
    for (const owned of this.#partitions) {
      this.#noteExpiries(owned);
      this.#indexing.loaded(owned);
    }
  }

  /** Partitions that a newer snapshot covers may leave memory, and are loaded from it. */
  adoptManifest(manifest: Manifest): void {
    this.#partitions.adoptManifest(manifest);
  }

  /** Unloads partitions that are idle and covered by a snapshot. @returns how many */
  passivateIdle(nowMs: number): number {
    return this.#partitions.passivate(nowMs - this.limits.passivateAfterMs);
  }

  /** The loaded partitions, without those that are being rebuilt; for gauges and tests. */
  *loaded(): IterableIterator<readonly [PartitionName, KvFold]> {
    for (const { name, fold, isInDoubt } of this.#partitions) {
      if (fold !== undefined && !isInDoubt) yield [name, fold];
    }
  }

  /** Resumes one parked request, unless all parked requests were resumed already. */
  #resume(owned: OwnedPartition, work: KvWork): void {
    const at = owned.parked.indexOf(work);
    if (at < 0) return;
    owned.parked.splice(at, 1);
    this.#makeReady([work]);
  }

  #makeReady(works: readonly KvWork[]): void {
    this.#ready.push(...works);
    this.ports.onReady?.();
  }

  #loaded(owned: OwnedPartition, works: readonly KvWork[]): void {
    this.#noteExpiries(owned);
    this.#indexing.loaded(owned);
    this.#makeReady(works);
  }

  #newOwned(partition: PartitionName): OwnedPartition {
    return new OwnedPartition(
      partition,
      new PartitionAudience((edge, events) => this.ports.deliver(edge, partition, events)),
      this.ports.outbox?.composerFor(partition),
    );
  }

  /** Rebuilds a partition in doubt once all its valid changes are stored. */
  #rebuildIfStored(owned: OwnedPartition): void {
    if (owned.isLoading || owned.engine === undefined) return;
    if (this.#changes.changed.has(owned) || !owned.inFlight.isEmpty) return;
    this.#changes.doubted.delete(owned);
    void this.#partitions.rebuild(owned).then(() => this.#relay?.look(owned));
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
