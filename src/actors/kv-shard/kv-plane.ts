/**
 * A shard's databases: runs Redis commands on the partitions it holds, collects their effects, and knows
 * which keys are not stored yet. Partitions that nobody uses are put away and loaded again when asked for.
 */

import { type Audience, findCommand } from '../../domain/kv/index.js';
import type { ChainHead, ChainLink } from '../../journal/index.js';
import { assert, MillraceError, type PartitionName, type SessionId } from '../../kernel/index.js';
import { entrySections, type KvEvent, type Manifest } from '../../messages/index.js';
import type { StorageGauge, Timers } from '../../ports/index.js';
import {
  Breathing,
  type RecoveryStep,
  type SectionEffects,
  type ShardPlane,
  type ShouldStop,
  type Turn,
} from '../runtime/index.js';
import { type CommandRunnerPorts, ShardCommandRunner } from './command-runner.js';
import type { KvFold } from './kv-fold.js';
import type { KvWork } from './kv-work.js';
import { OwnedPartition } from './owned-partition.js';
import { PartitionAudience } from './partition-audience.js';
import { type RebuildPorts, rebuiltFold } from './partition-rebuild.js';
import { type LoadKept, Replacements } from './replacements.js';

export interface KvPlaneLimits {
  /** Expired keys removed in one share of a turn. */
  readonly expiryKeysPerTick: number;
  /** Between two looks for expired keys. */
  readonly expiryEveryMs: number;
  /** A partition nobody has used for this long leaves memory, once a snapshot covers it. */
  readonly passivateAfterMs: number;
}

export interface KvPlanePorts extends CommandRunnerPorts, RebuildPorts {
  readonly timers: Timers;
  readonly storage: StorageGauge;
  /** @param audience of the partition: whom its commands reach */
  createFold(audience: Audience): KvFold;
  /** Tells a process what its clients listen to. */
  deliver(edge: SessionId, partition: PartitionName, events: readonly KvEvent[]): void;
  /** Left out: nothing is ever put in place of what a partition has. */
  readonly loadKept?: LoadKept | undefined;
  /** Called when parked work can go on. */
  onReady?(): void;
  /** Called when a partition cannot be loaded: the actor must end. */
  onFailure?(error: unknown): void;
}

const NO_WORKS: KvWork[] = [];

export class KvPlane implements ShardPlane<KvWork> {
  readonly #ownedByName = new Map<PartitionName, OwnedPartition>();
  readonly #ready: KvWork[] = [];
  #inFlight: OwnedPartition[] = [];
  #lastExpiryAtMs = Number.NEGATIVE_INFINITY;
  #isExpiryBehind = false;
  /** Something here may expire. Of thousands of partitions, each drain looks at those alone that it ran something on. */
  #mayExpire = true;
  /** Partitions in which commands wait, among others in which some did. */
  readonly #awaited = new Set<OwnedPartition>();
  readonly #runner: ShardCommandRunner;
  readonly #replacements: Replacements;
  readonly #breathing: Breathing;
  readonly activation: string;

  constructor(
    private readonly ports: KvPlanePorts,
    private readonly limits: KvPlaneLimits,
  ) {
    this.#runner = new ShardCommandRunner(ports);
    this.#breathing = new Breathing(ports.clock, ports.timers);
    this.#replacements = new Replacements(
      this.#runner,
      ports.loadKept,
      (owned) => ports.createFold(owned.audience),
      (owned, work) => this.#takeUp(owned, work),
    );
    this.activation = ports.activation;
  }

  execute(work: KvWork, turn: Turn, shouldStop: ShouldStop): 'done' | 'more' | 'parked' | 'refused' {
    const { place } = work.request;
    if (place !== undefined && !work.hasBegun && !place.mayRun()) return 'done';
    const owned = this.#ownedOf(work.request.partition);
    const step = this.#execute(owned, work, turn, shouldStop);
    this.#noteTimed(owned);
    if (step === 'done' && work.progress === work.commands) place?.hasRun();
    return step;
  }

  /** Whatever it is that may fall due there: nothing begins to wait, and no expiry is set, but by a command. */
  #noteTimed(owned: OwnedPartition): void {
    if (owned.waiting.size > 0) this.#awaited.add(owned);
    if (owned.engine?.hasExpiries === true) this.#mayExpire = true;
  }

  #execute(
    owned: OwnedPartition,
    work: KvWork,
    turn: Turn,
    shouldStop: ShouldStop,
  ): 'done' | 'more' | 'parked' | 'refused' {
    if (this.ports.storage.isFull() && !work.hasBegun && mayGrow(work)) {
      work.reject(new MillraceError('STORAGE_FULL', 'the disk is nearly full: only reads and deletes are taken'));
      return 'refused';
    }
    const { mode } = work.request;
    work.askedOf = owned;
    if (mode === 'listen') return this.#listen(owned, work);
    if (mode === 'unblock') return this.#runner.unblock(owned, work);
    const engine = owned.engine;
    if (engine === undefined || owned.isInDoubt) {
      owned.parked.push(work);
      if (engine === undefined) this.#load(owned);
      return 'parked';
    }
    owned.lastUsedAtMs = turn.nowMs;
    engine.statistics.rate.note(turn.nowMs, engine.statistics.commands);
    this.#runner.tellLimits(owned, engine);
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
    const owned = this.#ownedByName.get(work.request.partition);
    if (owned?.underway === undefined || work.request.place?.mayRun() === false) return false;
    return this.#runner.kill(owned, work);
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
    const isExpiryDue = nowMs - this.#lastExpiryAtMs >= this.limits.expiryEveryMs || this.#isExpiryBehind;
    if (isExpiryDue) this.#expire(turn, nowMs);
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
      if (owned.isInDoubt || owned.underway !== undefined || owned.audience.isPaused) continue;
      const { effects } = engine;
      const effectsBefore = effects.count;
      const bytesBefore = effects.bytes;
      const removed = engine.expireDue(turn.nowMs, this.limits.expiryKeysPerTick);
      if (removed === 0) continue;
      if (removed >= this.limits.expiryKeysPerTick) this.#isExpiryBehind = true;
      this.#runner.noteChanges(owned, engine, turn, effects.count - effectsBefore, effects.bytes - bytesBefore);
      if (engine.keyspace.changes.ready.size > 0) this.#runner.serveWaiters(owned, engine, turn);
    }
  }

  #endOverdueWaits(owned: OwnedPartition, nowMs: number): void {
    for (const waiter of owned.waiting.takeOverdue(nowMs, owned.engine?.keyspace.changes)) {
      this.#runner.endWait(owned, waiter, waiter.onTimeout);
    }
  }

  nextTickInMs(): number | undefined {
    if (this.#isExpiryBehind || this.#runner.doubted.size > 0) return 1;
    let inMs = this.#mayExpire ? this.limits.expiryEveryMs : undefined;
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
      sealed.push({ partition: owned.name, pieces: [owned.seal()] });
    }
    return sealed;
  }

  committed(head: ChainHead, links: ReadonlyMap<PartitionName, ChainLink>): void {
    for (const owned of this.#inFlight) {
      owned.commit(head.position);
      owned.sectionIndex = links.get(owned.name)?.number ?? owned.sectionIndex;
    }
    this.#inFlight = [];
    for (const owned of this.#runner.doubted) this.#rebuildIfStored(owned);
  }

  takeParked(): KvWork[] {
    return this.#ready.splice(0);
  }

  abandon(): KvWork[] {
    const parked = this.#ready.splice(0);
    for (const owned of this.#ownedByName.values()) parked.push(...owned.parked.splice(0), ...owned.waiting.clear());
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
          if (this.#breathing.isDue) await this.#breathing.take();
        }
        owned.sectionIndex = section.index;
        owned.latestToken = `${position}-0`;
      }
      // Small entries have no slices, and thousands of them may be waiting to be read in one go.
      if (this.#breathing.isDue) await this.#breathing.take();
    }
  }

  /** Partitions a newer snapshot covers may now be put away, and are loaded from it. */
  adoptManifest(manifest: Manifest): void {
    for (const partition of manifest.partitions) {
      const owned = this.#ownedByName.get(partition.name) ?? this.#newOwned(partition.name);
      owned.snapshot = partition;
      if (owned.fold === undefined) owned.sectionIndex = partition.index;
    }
  }

  /** Puts away what nobody has used for long and a snapshot covers. Returns how many. */
  passivateIdle(nowMs: number): number {
    let passivated = 0;
    for (const owned of this.#ownedByName.values()) {
      const isIdle = nowMs - owned.lastUsedAtMs > this.limits.passivateAfterMs;
      const isCovered = owned.snapshot !== undefined && owned.snapshot.index === owned.sectionIndex;
      if (owned.fold === undefined || !isIdle || !isCovered || !owned.hasNothingUnstored || owned.isInDoubt) continue;
      if (!owned.audience.isEmpty || owned.waiting.size > 0) continue;
      const { effects } = owned.fold.engine;
      // Keys that expire have to be looked after.
      if (owned.fold.engine.hasExpiries || effects.count > 0) continue;
      owned.fold = undefined;
      passivated += 1;
      this.ports.log.debug('partition.passivated', { partition: owned.name });
    }
    return passivated;
  }

  /** Gauges and tests see the partitions in memory, but for those that are being built again. */
  *loaded(): IterableIterator<readonly [PartitionName, KvFold]> {
    for (const { name, fold, isInDoubt } of this.#ownedByName.values()) {
      if (fold !== undefined && !isInDoubt) yield [name, fold];
    }
  }

  /** One that waited for something of its own; unless all that waited was taken up meanwhile. */
  #takeUp(owned: OwnedPartition, work: KvWork): void {
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
    // Neither a snapshot nor an entry knows it: it is empty.
    owned.fold = this.ports.createFold(owned.audience);
    return owned;
  }

  #newOwned(partition: PartitionName): OwnedPartition {
    const owned = new OwnedPartition(
      partition,
      new PartitionAudience((edge, events) => this.ports.deliver(edge, partition, events)),
    );
    this.#ownedByName.set(partition, owned);
    return owned;
  }

  async #restoreOwned(owned: OwnedPartition): Promise<void> {
    const fold = this.ports.createFold(owned.audience);
    if (owned.snapshot !== undefined) await this.ports.loadPartition(owned.snapshot, fold);
    owned.fold = fold;
    this.#mayExpire = true;
  }

  /** A partition in doubt is built again once all that is sound of it is in the journal. */
  #rebuildIfStored(owned: OwnedPartition): void {
    const { engine } = owned;
    if (owned.isLoading || engine === undefined || this.#runner.changed.has(owned) || !owned.inFlight.isEmpty) return;
    owned.isLoading = true;
    this.#runner.doubted.delete(owned);
    // What the stopped command changed in memory goes with it.
    engine.keyspace.changes.open.clear();
    rebuiltFold(this.ports, owned.name, () => this.ports.createFold(owned.audience), this.#breathing).then(
      (fold) => {
        owned.fold = fold;
        this.#mayExpire = true;
        owned.isLoading = false;
        owned.isInDoubt = false;
        owned.audience.everythingChanged();
        owned.audience.flush();
        this.ports.log.info('partition.rebuilt', { partition: owned.name });
        this.#ready.push(...owned.parked.splice(0));
        this.ports.onReady?.();
      },
      (error: unknown) => this.ports.onFailure?.(error),
    );
  }

  #load(owned: OwnedPartition): void {
    if (owned.isLoading) return;
    owned.isLoading = true;
    assert(owned.snapshot !== undefined, 'a partition without state has no snapshot', { partition: owned.name });
    this.#restoreOwned(owned).then(
      () => {
        owned.isLoading = false;
        this.#ready.push(...owned.parked.splice(0));
        this.ports.onReady?.();
      },
      (error: unknown) => this.ports.onFailure?.(error),
    );
  }
}

/** Would a full server refuse one of its commands? */
function mayGrow({ request }: KvWork): boolean {
  if (request.mode === 'replace') return true;
  return request.commands.some((words) => findCommand(words)?.mayGrow === true);
}
