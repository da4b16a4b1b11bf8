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
import { CommandRunner, type CommandRunnerPorts } from './command-runner.js';
import type { KvFold } from './kv-fold.js';
import type { KvWork } from './kv-work.js';
import { type RebuildPorts, rebuiltFold } from './partition-rebuild.js';
import { PartitionSlot } from './partition-slot.js';
import { type LoadKept, Replacements } from './replacements.js';
import { SlotAudience } from './slot-audience.js';

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
  readonly #slotsByPartition = new Map<PartitionName, PartitionSlot>();
  readonly #ready: KvWork[] = [];
  #inFlight: PartitionSlot[] = [];
  #lastExpiryAtMs = Number.NEGATIVE_INFINITY;
  #isExpiryBehind = false;
  readonly #runner: CommandRunner;
  readonly #replacements: Replacements;
  readonly #breathing: Breathing;
  readonly activation: string;

  constructor(
    private readonly ports: KvPlanePorts,
    private readonly limits: KvPlaneLimits,
  ) {
    this.#runner = new CommandRunner(ports);
    this.#breathing = new Breathing(ports.clock, ports.timers);
    this.#replacements = new Replacements(
      this.#runner,
      ports.loadKept,
      (slot) => ports.createFold(slot.audience),
      (slot, work) => this.#takeUp(slot, work),
    );
    this.activation = ports.activation;
  }

  execute(work: KvWork, turn: Turn, shouldStop: ShouldStop): 'done' | 'more' | 'parked' | 'refused' {
    if (this.ports.storage.isFull() && !work.hasBegun && mayGrow(work)) {
      work.reject(new MillraceError('STORAGE_FULL', 'the disk is nearly full: only reads and deletes are taken'));
      return 'refused';
    }
    const slot = this.#slotOf(work.request.partition);
    const { mode } = work.request;
    work.latestToken = () => slot.latestToken;
    if (mode === 'listen') return this.#listen(slot, work);
    if (mode === 'unblock') return this.#runner.unblock(slot, work);
    const engine = slot.engine;
    if (engine === undefined || slot.isInDoubt) {
      slot.parked.push(work);
      if (engine === undefined) this.#load(slot);
      return 'parked';
    }
    slot.lastUsedAtMs = turn.nowMs;
    engine.statistics.rate.note(turn.nowMs, engine.statistics.commands);
    this.#runner.tellLimits(slot, engine);
    if (mode === 'reads-only') return this.#runner.judge(engine, work);
    if (mode === 'watch') return this.#runner.watch(slot, engine, work, turn);
    if (mode === 'replace') return this.#replacements.execute(slot, engine, work, turn);
    slot.audience.currentClient = work.request.client?.id;
    const { said } = slot.audience;
    const step =
      mode === 'transaction'
        ? this.#runner.runTransaction(slot, engine, work, turn, shouldStop)
        : this.#runner.runEach(slot, engine, work, turn, shouldStop);
    slot.audience.currentClient = undefined;
    if (slot.audience.said > said) work.hasSaid = true;
    if (slot.hasNothingUnstored) slot.audience.flush();
    return step;
  }

  intercept(work: KvWork): boolean {
    const slot = this.#slotsByPartition.get(work.request.partition);
    return slot?.underway !== undefined && this.#runner.kill(slot, work);
  }

  #listen(slot: PartitionSlot, work: KvWork): 'done' {
    const { listen } = work.request;
    const isKnown = listen !== undefined && slot.audience.listen(listen, this.ports.clock.monotonicMs());
    slot.noteTracking();
    work.replies.push(this.ports.activation, isKnown ? 1 : 0);
    return 'done';
  }

  takeFinished(): KvWork[] {
    return this.#runner.finished.length === 0 ? NO_WORKS : this.#runner.finished.splice(0);
  }

  tick(turn: Turn): void {
    const nowMs = this.ports.clock.monotonicMs();
    for (const slot of this.#runner.doubted) this.#rebuildIfStored(slot);
    const isExpiryDue = nowMs - this.#lastExpiryAtMs >= this.limits.expiryEveryMs || this.#isExpiryBehind;
    if (isExpiryDue) {
      this.#lastExpiryAtMs = nowMs;
      this.#isExpiryBehind = false;
    }
    for (const slot of this.#slotsByPartition.values()) {
      if (slot.waiting.size > 0) this.#endOverdueWaits(slot, nowMs);
      if (!isExpiryDue) continue;
      if (!slot.audience.isEmpty) slot.audience.forgetSilent(nowMs);
      const engine = slot.engine;
      if (
        engine === undefined ||
        slot.isInDoubt ||
        slot.underway !== undefined ||
        !engine.hasExpiries ||
        slot.audience.isPaused
      )
        continue;
      const { effects } = engine;
      const effectsBefore = effects.count;
      const bytesBefore = effects.bytes;
      const removed = engine.expireDue(turn.nowMs, this.limits.expiryKeysPerTick);
      if (removed === 0) continue;
      if (removed >= this.limits.expiryKeysPerTick) this.#isExpiryBehind = true;
      this.#runner.noteChanges(slot, engine, turn, effects.count - effectsBefore, effects.bytes - bytesBefore);
      if (engine.keyspace.changes.ready.size > 0) this.#runner.serveWaiters(slot, engine, turn);
    }
  }

  #endOverdueWaits(slot: PartitionSlot, nowMs: number): void {
    for (const waiter of slot.waiting.takeOverdue(nowMs, slot.engine?.keyspace.changes)) {
      this.#runner.endWait(slot, waiter, waiter.onTimeout);
    }
  }

  nextTickInMs(): number | undefined {
    if (this.#isExpiryBehind || this.#runner.doubted.size > 0) return 1;
    let inMs: number | undefined;
    const nowMs = this.ports.clock.monotonicMs();
    for (const slot of this.#slotsByPartition.values()) {
      const { earliestMs } = slot.waiting;
      if (earliestMs !== undefined) inMs = Math.min(inMs ?? Number.POSITIVE_INFINITY, Math.max(1, earliestMs - nowMs));
      if (slot.engine?.hasExpiries === true)
        inMs = Math.min(inMs ?? Number.POSITIVE_INFINITY, this.limits.expiryEveryMs);
    }
    return inMs;
  }

  seal(): SectionEffects[] {
    const sealed: SectionEffects[] = [];
    this.#inFlight = [...this.#runner.changed];
    this.#runner.changed.clear();
    for (const slot of this.#inFlight) {
      sealed.push({ partition: slot.name, effects: Buffer.from(slot.seal(), 'latin1') });
    }
    return sealed;
  }

  committed(head: ChainHead, links: ReadonlyMap<PartitionName, ChainLink>): void {
    for (const slot of this.#inFlight) {
      slot.commit(head.position);
      slot.sectionIndex = links.get(slot.name)?.number ?? slot.sectionIndex;
    }
    this.#inFlight = [];
    for (const slot of this.#runner.doubted) this.#rebuildIfStored(slot);
  }

  takeParked(): KvWork[] {
    return this.#ready.splice(0);
  }

  abandon(): KvWork[] {
    const parked = this.#ready.splice(0);
    for (const slot of this.#slotsByPartition.values()) parked.push(...slot.parked.splice(0), ...slot.waiting.clear());
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
        const slot = this.#slotOf(section.partition);
        if (slot.fold === undefined) await this.#restoreSlot(slot);
        for (const _ of (slot.fold as KvFold).applyInSlices(section.effects)) {
          if (this.#breathing.isDue) await this.#breathing.take();
        }
        slot.sectionIndex = section.index;
        slot.latestToken = `${position}-0`;
      }
      // Small entries have no slices, and thousands of them may be waiting to be read in one go.
      if (this.#breathing.isDue) await this.#breathing.take();
    }
  }

  /** Partitions a newer snapshot covers may now be put away, and are loaded from it. */
  adoptManifest(manifest: Manifest): void {
    for (const partition of manifest.partitions) {
      const slot = this.#slotsByPartition.get(partition.name) ?? this.#newSlot(partition.name);
      slot.snapshot = partition;
      if (slot.fold === undefined) slot.sectionIndex = partition.index;
    }
  }

  /** Puts away what nobody has used for long and a snapshot covers. Returns how many. */
  passivateIdle(nowMs: number): number {
    let passivated = 0;
    for (const slot of this.#slotsByPartition.values()) {
      const isIdle = nowMs - slot.lastUsedAtMs > this.limits.passivateAfterMs;
      const isCovered = slot.snapshot !== undefined && slot.snapshot.index === slot.sectionIndex;
      if (slot.fold === undefined || !isIdle || !isCovered || !slot.hasNothingUnstored || slot.isInDoubt) continue;
      if (!slot.audience.isEmpty || slot.waiting.size > 0) continue;
      const { effects } = slot.fold.engine;
      // Keys that expire have to be looked after.
      if (slot.fold.engine.hasExpiries || effects.count > 0) continue;
      slot.fold = undefined;
      passivated += 1;
      this.ports.log.debug('partition.passivated', { partition: slot.name });
    }
    return passivated;
  }

  /** For gauges and tests: the partitions in memory, but for those that are being built again. */
  *loaded(): IterableIterator<readonly [PartitionName, KvFold]> {
    for (const { name, fold, isInDoubt } of this.#slotsByPartition.values()) {
      if (fold !== undefined && !isInDoubt) yield [name, fold];
    }
  }

  /** One that waited for something of its own; unless all that waited was taken up meanwhile. */
  #takeUp(slot: PartitionSlot, work: KvWork): void {
    const at = slot.parked.indexOf(work);
    if (at < 0) return;
    slot.parked.splice(at, 1);
    this.#ready.push(work);
    this.ports.onReady?.();
  }

  #slotOf(partition: PartitionName): PartitionSlot {
    const known = this.#slotsByPartition.get(partition);
    if (known !== undefined) return known;
    const slot = this.#newSlot(partition);
    // Neither a snapshot nor an entry knows it: it is empty.
    slot.fold = this.ports.createFold(slot.audience);
    return slot;
  }

  #newSlot(partition: PartitionName): PartitionSlot {
    const slot = new PartitionSlot(
      partition,
      new SlotAudience((edge, events) => this.ports.deliver(edge, partition, events)),
    );
    this.#slotsByPartition.set(partition, slot);
    return slot;
  }

  async #restoreSlot(slot: PartitionSlot): Promise<void> {
    const fold = this.ports.createFold(slot.audience);
    if (slot.snapshot !== undefined) await this.ports.loadPartition(slot.snapshot, fold);
    slot.fold = fold;
  }

  /** A partition in doubt is built again once all that is sound of it is in the journal. */
  #rebuildIfStored(slot: PartitionSlot): void {
    const { engine } = slot;
    if (slot.isLoading || engine === undefined || this.#runner.changed.has(slot) || !slot.inFlight.isEmpty) return;
    slot.isLoading = true;
    this.#runner.doubted.delete(slot);
    // What the stopped command changed in memory goes with it.
    engine.keyspace.changes.open.clear();
    rebuiltFold(this.ports, slot.name, () => this.ports.createFold(slot.audience), this.#breathing).then(
      (fold) => {
        slot.fold = fold;
        slot.isLoading = false;
        slot.isInDoubt = false;
        slot.audience.everythingChanged();
        slot.audience.flush();
        this.ports.log.info('partition.rebuilt', { partition: slot.name });
        this.#ready.push(...slot.parked.splice(0));
        this.ports.onReady?.();
      },
      (error: unknown) => this.ports.onFailure?.(error),
    );
  }

  #load(slot: PartitionSlot): void {
    if (slot.isLoading) return;
    slot.isLoading = true;
    assert(slot.snapshot !== undefined, 'a partition without state has no snapshot', { partition: slot.name });
    this.#restoreSlot(slot).then(
      () => {
        slot.isLoading = false;
        this.#ready.push(...slot.parked.splice(0));
        this.ports.onReady?.();
      },
      (error: unknown) => this.ports.onFailure?.(error),
    );
  }
}

/** Would a full server refuse one of its commands? */
function mayGrow({ request }: KvWork): boolean {
  if (request.mode === 'replace') return true;
  return request.commands.some((words) => findCommand(words)?.flags.includes('denyoom') ?? false);
}
