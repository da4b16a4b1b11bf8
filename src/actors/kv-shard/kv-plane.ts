/**
 * A shard's databases: runs Redis commands on the partitions it holds, collects their effects, and knows
 * which keys are not stored yet. Partitions that nobody uses are put away and loaded again when asked for.
 */

import { type CommandSpec, findCommand, type KvEngine, notAvailable } from '../../domain/kv/index.js';
import type { ChainHead, ChainLink } from '../../journal/index.js';
import { assert, MillraceError, type PartitionName } from '../../kernel/index.js';
import type { Manifest, ManifestPartition } from '../../messages/index.js';
import type { Clock, Log, StorageGauge, Timers } from '../../ports/index.js';
import type { RecoveryStep, SectionEffects, ShardPlane, ShouldStop, Turn } from '../runtime/index.js';
import type { KvFold } from './kv-fold.js';
import type { KvWork } from './kv-work.js';
import { PartitionSlot } from './partition-slot.js';

export interface KvPlaneLimits {
  /** Expired keys removed in one share of a turn. */
  readonly expiryKeysPerTick: number;
  /** Between two looks for expired keys. */
  readonly expiryEveryMs: number;
  /** A partition nobody has used for this long leaves memory, once a snapshot covers it. */
  readonly passivateAfterMs: number;
}

export interface KvPlanePorts {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
  readonly storage: StorageGauge;
  createFold(): KvFold;
  /** Fills an empty fold from a snapshot. */
  loadPartition(partition: ManifestPartition, fold: KvFold): Promise<void>;
}

/** A replay lets others run after this much of it; several shards may be replayed at once. */
const BREATHE_AFTER_MS = 2;

export class KvPlane implements ShardPlane<KvWork> {
  /** Called when parked work can go on. */
  onReady: () => void = () => {};
  /** Called when a partition cannot be loaded: the actor must end. */
  onFailure: (error: unknown) => void = () => {};
  readonly #slotsByPartition = new Map<PartitionName, PartitionSlot>();
  readonly #ready: KvWork[] = [];
  readonly #changed = new Set<PartitionSlot>();
  #inFlight: PartitionSlot[] = [];
  #lastExpiryAtMs = Number.NEGATIVE_INFINITY;
  #isExpiryBehind = false;

  constructor(
    private readonly ports: KvPlanePorts,
    private readonly limits: KvPlaneLimits,
  ) {}

  execute(work: KvWork, turn: Turn, shouldStop: ShouldStop): 'done' | 'more' | 'parked' | 'refused' {
    if (this.ports.storage.isFull() && work.progress === 0 && mayGrow(work)) {
      work.reject(new MillraceError('STORAGE_FULL', 'the disk is nearly full: only reads and deletes are taken'));
      return 'refused';
    }
    const slot = this.#slotOf(work.request.partition);
    const engine = slot.engine;
    if (engine === undefined) {
      slot.parked.push(work);
      this.#load(slot);
      return 'parked';
    }
    slot.lastUsedAtMs = turn.nowMs;
    const { commands, mode } = work.request;
    const count = commands.length;
    while (work.progress < count) {
      if (!this.#runOne(slot, engine, work, turn, shouldStop)) return 'more';
      if (mode !== 'transaction' && work.progress < count && shouldStop()) return 'more';
    }
    work.latestToken = () => slot.latestToken;
    return 'done';
  }

  /** False when the command runs in slices and some are left. */
  #runOne(slot: PartitionSlot, engine: KvEngine, work: KvWork, turn: Turn, shouldStop: ShouldStop): boolean {
    const words = work.request.commands[work.progress] as readonly string[];
    const spec = findCommand(words);
    turn.commands += 1;
    if (spec?.sliced !== undefined && work.request.mode !== 'transaction') {
      return this.#runSlices(slot, engine, spec, words, work, turn, shouldStop);
    }
    work.progress += 1;
    if (spec === undefined) {
      work.replies.push(notAvailable(words[0] ?? ''));
      return true;
    }
    const { effects } = engine;
    const effectsBefore = effects.count;
    const bytesBefore = effects.bytes;
    const reply = engine.execute(spec, words, turn.nowMs);
    work.replies.push(reply);
    const added = effects.count - effectsBefore;
    if (added > 0) {
      this.#noteEffects(slot, spec, words, turn, added, effects.bytes - bytesBefore);
      work.hasWritten = true;
      work.ordinal = turn.effects;
      work.waitsForTurn = turn.number;
      return true;
    }
    noteWait(slot, spec, words, work, turn);
    return true;
  }

  /** A command that only reads, for as long as the turn has time. */
  #runSlices(
    slot: PartitionSlot,
    engine: KvEngine,
    spec: CommandSpec,
    words: readonly string[],
    work: KvWork,
    turn: Turn,
    shouldStop: ShouldStop,
  ): boolean {
    work.slices ??= engine.begin(spec, words);
    for (;;) {
      const reply = work.slices.next(turn.nowMs);
      if (reply !== undefined) {
        work.slices = undefined;
        work.progress += 1;
        work.replies.push(reply);
        // What an earlier slice saw uncommitted is in an entry no later than the one that is open now.
        noteWait(slot, spec, words, work, turn);
        return true;
      }
      if (shouldStop()) return false;
    }
  }

  #noteEffects(
    slot: PartitionSlot,
    spec: CommandSpec,
    words: readonly string[],
    turn: Turn,
    added: number,
    bytes: number,
  ): void {
    slot.noteChange(spec, words);
    turn.effects += added;
    turn.effectBytes += bytes;
    slot.openOrdinal = turn.effects;
    this.#changed.add(slot);
  }

  tick(turn: Turn): void {
    if (turn.nowMs - this.#lastExpiryAtMs < this.limits.expiryEveryMs && !this.#isExpiryBehind) return;
    this.#lastExpiryAtMs = turn.nowMs;
    this.#isExpiryBehind = false;
    for (const slot of this.#slotsByPartition.values()) {
      const engine = slot.engine;
      if (engine === undefined || engine.keyspace.expiring === 0) continue;
      const bytesBefore = engine.effects.bytes;
      const removed = engine.expireDue(turn.nowMs, this.limits.expiryKeysPerTick);
      if (removed === 0) continue;
      if (removed >= this.limits.expiryKeysPerTick) this.#isExpiryBehind = true;
      turn.effects += removed;
      turn.effectBytes += engine.effects.bytes - bytesBefore;
      slot.openOrdinal = turn.effects;
      this.#changed.add(slot);
    }
  }

  nextTickInMs(): number | undefined {
    if (this.#isExpiryBehind) return 1;
    for (const slot of this.#slotsByPartition.values()) {
      if (slot.engine !== undefined && slot.engine.keyspace.expiring > 0) return this.limits.expiryEveryMs;
    }
    return undefined;
  }

  seal(): SectionEffects[] {
    const sealed: SectionEffects[] = [];
    this.#inFlight = [...this.#changed];
    this.#changed.clear();
    for (const slot of this.#inFlight) {
      slot.seal();
      const engine = slot.engine as KvEngine;
      sealed.push({ partition: slot.name, effects: Buffer.from(engine.effects.take(), 'latin1') });
    }
    return sealed;
  }

  committed(head: ChainHead, links: ReadonlyMap<PartitionName, ChainLink>): void {
    for (const slot of this.#inFlight) {
      slot.commit(head.position);
      slot.sectionIndex = links.get(slot.name)?.number ?? slot.sectionIndex;
    }
    this.#inFlight = [];
  }

  takeParked(): KvWork[] {
    return this.#ready.splice(0);
  }

  abandon(): KvWork[] {
    const parked = this.#ready.splice(0);
    for (const slot of this.#slotsByPartition.values()) parked.push(...slot.parked.splice(0));
    return parked;
  }

  async restore(steps: AsyncIterable<RecoveryStep>): Promise<void> {
    for await (const step of steps) {
      if (step.kind === 'manifest') {
        if (step.manifest !== undefined) this.adoptManifest(step.manifest);
        continue;
      }
      const { entry, position } = step.read;
      if (entry.body.kind !== 'batch') continue;
      for (const section of entry.body.sections) {
        const slot = this.#slotOf(section.partition);
        if (slot.fold === undefined) await this.#restoreSlot(slot);
        for (const _ of (slot.fold as KvFold).applyInSlices(section.effects)) {
          if (this.#needsBreath()) await this.#breathe();
        }
        slot.sectionIndex = section.index;
        slot.latestToken = `${position}-0`;
      }
      // Small entries have no slices, and thousands of them may be waiting to be read in one go.
      if (this.#needsBreath()) await this.#breathe();
    }
  }

  #lastBreathAtMs = 0;

  /** Asked often, so that it costs no promise while there is time. */
  #needsBreath(): boolean {
    return this.ports.clock.monotonicMs() - this.#lastBreathAtMs >= BREATHE_AFTER_MS;
  }

  /** Lets others run. */
  async #breathe(): Promise<void> {
    await new Promise<void>((resolve) => this.ports.timers.soon(resolve));
    this.#lastBreathAtMs = this.ports.clock.monotonicMs();
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
      if (slot.fold === undefined || !isIdle || !isCovered || !slot.open.isEmpty || !slot.inFlight.isEmpty) continue;
      const { keyspace, effects } = slot.fold.engine;
      // Keys that expire have to be looked after.
      if (keyspace.expiring > 0 || effects.count > 0) continue;
      slot.fold = undefined;
      passivated += 1;
      this.ports.log.debug('partition.passivated', { partition: slot.name });
    }
    return passivated;
  }

  /** For INFO-like questions and tests: the partitions in memory. */
  *loaded(): IterableIterator<readonly [PartitionName, KvFold]> {
    for (const slot of this.#slotsByPartition.values()) if (slot.fold !== undefined) yield [slot.name, slot.fold];
  }

  #slotOf(partition: PartitionName): PartitionSlot {
    const known = this.#slotsByPartition.get(partition);
    if (known !== undefined) return known;
    const slot = this.#newSlot(partition);
    // Neither a snapshot nor an entry knows it: it is empty.
    slot.fold = this.ports.createFold();
    return slot;
  }

  #newSlot(partition: PartitionName): PartitionSlot {
    const slot = new PartitionSlot(partition);
    this.#slotsByPartition.set(partition, slot);
    return slot;
  }

  async #restoreSlot(slot: PartitionSlot): Promise<void> {
    const fold = this.ports.createFold();
    if (slot.snapshot !== undefined) await this.ports.loadPartition(slot.snapshot, fold);
    slot.fold = fold;
  }

  #load(slot: PartitionSlot): void {
    if (slot.isLoading) return;
    slot.isLoading = true;
    assert(slot.snapshot !== undefined, 'a partition without state has no snapshot', { partition: slot.name });
    this.#restoreSlot(slot).then(
      () => {
        slot.isLoading = false;
        this.#ready.push(...slot.parked.splice(0));
        this.onReady();
      },
      (error: unknown) => this.onFailure(error),
    );
  }
}

/** P2 of partition-slot.ts. */
function noteWait(slot: PartitionSlot, spec: CommandSpec, words: readonly string[], work: KvWork, turn: Turn): void {
  const waitFor = slot.turnToWaitFor(spec, words, turn.number);
  if (waitFor > work.waitsForTurn) work.waitsForTurn = waitFor;
}

/** Would a full server refuse one of its commands? */
function mayGrow({ request }: KvWork): boolean {
  return request.commands.some((words) => findCommand(words)?.flags.includes('denyoom') ?? false);
}
