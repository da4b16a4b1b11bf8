/**
 * Decides when a shard is snapshotted. The compactor works in parallel with the actor; then the snapshot is recorded in
 * the journal, and the journal's front is removed as far as two verified snapshots cover it.
 *
 *  SNP1 the front is removed only after its snapshot is verified and recorded in the journal
 *  SNP2 a failed compaction changes nothing; it is tried again after a pause
 *  SNP3 the history of a shard without writes is shortened too: retention is checked again at intervals
 */
import type { ChainHead } from '../../journal/index.js';
import { describeError, type ShardName } from '../../kernel/index.js';
import type { Clock, CompactionResult, Compactor, Journal, Log, Timer, Timers } from '../../ports/index.js';
import type { RuntimeMetrics } from './runtime-metrics.js';
import type { ShardActor } from './shard-actor.js';
import type { Work } from './work.js';

export interface SnapshotPolicy {
  /** Reaching either bound since the last snapshot starts the next one. */
  readonly entries: number;
  readonly bytes: number;
  /** A shard idle for this long is snapshotted too, so that its journal can be shortened. */
  readonly idleMs: number;
  /** The interval of checks of retention after a snapshot (SNP3). */
  readonly retainMs: number;
  readonly retryMs: number;
}

/** Values without a setting. */
export const DEFAULT_SNAPSHOT_POLICY = { idleMs: 600_000, retainMs: 3_600_000, retryMs: 10_000 };

export interface SnapshotterPorts {
  readonly compactor: Compactor;
  readonly journal: Journal;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
  readonly metrics: RuntimeMetrics;
  /** Called after a snapshot is verified and before the front is removed. */
  onSnapshot(shard: ShardName, result: CompactionResult): Promise<void>;
}

/** After a snapshot the compactor pauses as long as it worked, so it uses at most half of one core. */
const REST = 1;

interface Progress<W extends Work> {
  readonly actor: ShardActor<W>;
  head: ChainHead | undefined;
  entries: number;
  bytes: number;
  snapshotBytes: number;
  /** Position that the newest snapshot covers; 0: not known. */
  coveredPosition: number;
  retainedAtMs: number;
  lastStoredAtMs: number;
  notBeforeMs: number;
  isRunning: boolean;
}

export class Snapshotter<W extends Work> {
  readonly #progress = new Map<ShardName, Progress<W>>();
  #timer: Timer | undefined;

  constructor(
    private readonly ports: SnapshotterPorts,
    private readonly policy: SnapshotPolicy,
    private readonly clusterId: string,
  ) {}

  start(): void {
    this.#timer = this.ports.timers.every(this.policy.idleMs / 2, () => {
      for (const progress of this.#progress.values()) this.#consider(progress);
    });
  }

  stop(): void {
    this.#timer?.cancel();
    this.#progress.clear();
  }

  /** An actor serves: entries that it replayed after the newest snapshot count. */
  watch(actor: ShardActor<W>): void {
    const { entries, bytes } = actor.replayed;
    const progress: Progress<W> = {
      actor,
      head: actor.head,
      entries,
      bytes,
      snapshotBytes: 0,
      coveredPosition: 0,
      retainedAtMs: 0,
      lastStoredAtMs: this.ports.clock.monotonicMs(),
      notBeforeMs: 0,
      isRunning: false,
    };
    this.#progress.set(actor.shard, progress);
    void actor.ended.then(() => {
      if (this.#progress.get(actor.shard) === progress) this.#progress.delete(actor.shard);
    });
    this.#consider(progress);
  }

  noteStored(actor: ShardActor<W>, head: ChainHead, bytes: number): void {
    const progress = this.#progress.get(actor.shard);
    if (progress === undefined || progress.actor !== actor) return;
    progress.head = head;
    progress.entries += 1;
    progress.bytes += bytes;
    progress.lastStoredAtMs = this.ports.clock.monotonicMs();
    if (progress.entries >= this.policy.entries || progress.bytes >= this.policy.bytes) this.#consider(progress);
  }

  #consider(progress: Progress<W>): void {
    const { policy } = this;
    const nowMs = this.ports.clock.monotonicMs();
    if (progress.isRunning || progress.head === undefined || nowMs < progress.notBeforeMs) return;
    // Rewriting a large state for a few entries would write more than it saves.
    const isLarge = progress.bytes >= Math.max(policy.bytes, progress.snapshotBytes / 2);
    const isLong = progress.entries >= policy.entries && progress.bytes >= progress.snapshotBytes / 8;
    const isIdle = progress.entries > 0 && nowMs - progress.lastStoredAtMs >= policy.idleMs;
    const isOver = progress.coveredPosition > 0 && nowMs - progress.retainedAtMs >= policy.retainMs;
    if (isLarge || isLong || isIdle) void this.#run(progress, progress.head.position);
    else if (isOver) void this.#run(progress, progress.coveredPosition);
  }

  async #run(progress: Progress<W>, upToPosition: number): Promise<void> {
    const { actor } = progress;
    const { shard } = actor;
    const { compactor, journal, log, clock } = this.ports;
    progress.isRunning = true;
    const isNew = upToPosition > progress.coveredPosition;
    const { entries, bytes } = isNew ? progress : { entries: 0, bytes: 0 };
    const startedAtMs = clock.monotonicMs();
    try {
      const result = await compactor.compact({ shard, clusterId: this.clusterId, upToPosition });
      if (isNew) await actor.appendSnapshot(result.manifest, result.manifestDigest, result.coveredNumber);
      await this.ports.onSnapshot(shard, result);
      await journal.truncateFront(shard, result.purgeBelow);
      progress.entries -= entries;
      progress.bytes -= bytes;
      progress.snapshotBytes = result.snapshotBytes;
      progress.coveredPosition = result.coveredPosition;
      progress.retainedAtMs = clock.monotonicMs();
      const durationMs = Math.round(clock.monotonicMs() - startedAtMs);
      progress.notBeforeMs = clock.monotonicMs() + durationMs * REST;
      if (!isNew) return;
      this.ports.metrics.snapshotted(shard);
      log.info('shard.snapshotted', { shard, number: result.coveredNumber, bytes: result.snapshotBytes, durationMs });
    } catch (error) {
      progress.notBeforeMs = clock.monotonicMs() + this.policy.retryMs;
      if (actor.state === 'serving') log.warn('shard.snapshot-failed', { shard, cause: describeError(error) });
    } finally {
      progress.isRunning = false;
    }
  }
}
