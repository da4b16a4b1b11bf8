/**
 * A snapshot of a shard from the one before and the entries since, made beside its actor.
 *
 *  CMP1 memory is bounded by the two largest partitions, `stepBytes` of effects and two segments: one partition that much
 *       is written to stays loaded, the others are folded one at a time, and bodies that lie beside a state come with
 *       pending effects or one segment at a time
 *  CMP2 a manifest is written only after all that it names was read back, loaded into another fold and its
 *       digest compared: a manifest that is there has been verified
 *  CMP3 a crash between any two steps leaves only objects that no manifest names; a later run sweeps them
 *  CMP4 what a failed sweep leaves behind is no reason to fail: the snapshot is good
 */
import {
  assert,
  type CommandId,
  describeError,
  isMillraceError,
  MillraceError,
  type PartitionName,
  type ShardName,
} from '../kernel/index.js';
import type { BodySegmentRef, ManifestPartition } from '../messages/index.js';
import { RECENT_COMMANDS_KEPT, RECENT_COMMANDS_MS } from '../messages/index.js';
import type { Clock, CompactionJob, CompactionResult, Journal, Log, ObjectStore } from '../ports/index.js';
import { readBodySegment, writeBodySegments, writeFreshBodies } from './body-segments.js';
import type { Chain } from './chain.js';
import { CollectedEffects } from './collected-effects.js';
import { chainAfter, readEntries } from './entry-reader.js';
import type { FoldFactory, PartitionFold } from './partition-fold.js';
import {
  type AuditRetention,
  DEFAULT_AUDIT_RETENTION,
  type JournalCeiling,
  levelOf,
  planRetention,
} from './retention.js';
import { manifestPartition, type PartitionTarget, writeSegments } from './snapshot-partition.js';
import { SnapshotStore, type StoredManifest, segmentsOf, segmentsOfPartition } from './snapshot-store.js';

export interface CompactionPorts {
  readonly journal: Journal;
  readonly objects: ObjectStore;
  readonly clock: Clock;
  readonly log: Log;
}

export interface CompactionLimits {
  /** Effects held in memory before the partitions they touch are folded; a quarter of it for one that stays loaded. */
  readonly stepBytes: number;
  /** About how large a segment is; one value larger than this makes a larger one. */
  readonly segmentBytes: number;
  readonly retention: AuditRetention;
  /** What all journals may hold together; left out: there is no such bound. */
  readonly total?: { readonly bytes: number; readonly shards: readonly ShardName[] };
}

export const DEFAULT_COMPACTION_LIMITS: CompactionLimits = {
  // Folding a large partition costs reading and writing all of it: fewer, larger steps.
  stepBytes: 64 * 1024 * 1024,
  // Small enough to be hashed and loaded without a pause, large enough that a shard has hundreds, not thousands.
  segmentBytes: 4 * 1024 * 1024,
  retention: DEFAULT_AUDIT_RETENTION,
};

/**
 * Covers everything up to the entry that ends at `job.upToPosition`.
 * @throws JOURNAL_UNAVAILABLE; JOURNAL_DAMAGED when the chain is broken, a snapshot does not read back, or
 *         no snapshot that loads reaches the beginning of the journal
 */
export async function compactShard(
  ports: CompactionPorts,
  job: CompactionJob,
  foldFactory: FoldFactory,
  limits: CompactionLimits = DEFAULT_COMPACTION_LIMITS,
): Promise<CompactionResult> {
  const store = new SnapshotStore(ports.objects, ports.log);
  const broken = new Set<string>();
  for (;;) {
    const base = await store.newest(job.shard, broken);
    if (base !== undefined && base.manifest.head.position >= job.upToPosition) {
      return finish(ports, store, job, base, limits, broken);
    }
    try {
      const written = await new Compaction(ports, job, foldFactory, limits, base).run();
      return await finish(ports, store, job, written, limits, broken);
    } catch (error) {
      if (!(error instanceof BrokenBase) || base === undefined) throw error;
      ports.log.error('snapshot.broken', { shard: job.shard, manifest: base.name, reason: describeError(error.cause) });
      broken.add(base.name);
    }
  }
}

/** The snapshot that was built upon does not load: the one before it may. */
class BrokenBase extends Error {}

/** The part of a step that makes a partition one that stays loaded, and is then applied to it at once. */
const LOADED_SHARE = 1 / 4;

interface LoadedPartition {
  readonly name: PartitionName;
  readonly fold: PartitionFold;
  /** Those of the snapshot before, and behind them those written since it was loaded. */
  readonly bodySegments: BodySegmentRef[];
}

class Compaction {
  readonly #partitions: Map<PartitionName, ManifestPartition>;
  readonly #chain: Chain;
  readonly #store: SnapshotStore;
  /** Effects read and not folded yet, by partition. */
  readonly #pending = new Map<PartitionName, CollectedEffects>();
  #pendingBytes = 0;
  /** The first one that much is written to: it is loaded and written once, however many steps it takes. */
  #loaded: LoadedPartition | undefined;
  /** So many effects are pending for a partition that may stay loaded. */
  #due: PartitionName | undefined;
  readonly #changed = new Set<PartitionName>();
  #journalBytes: number;
  #headStoredAtMs = 0;
  #recentCommandIds: (readonly [CommandId, number])[];
  /** Objects of the snapshot before: not ours to check again or to take back. */
  readonly #known: ReadonlySet<string>;

  constructor(
    private readonly ports: CompactionPorts,
    private readonly job: CompactionJob,
    private readonly foldFactory: FoldFactory,
    private readonly limits: CompactionLimits,
    private readonly base: StoredManifest | undefined,
  ) {
    const manifest = base?.manifest;
    this.#store = new SnapshotStore(ports.objects, ports.log);
    this.#partitions = new Map(manifest?.partitions.map((partition) => [partition.name, partition]));
    this.#chain = chainAfter(job.shard, manifest);
    this.#journalBytes = manifest?.journalBytes ?? 0;
    this.#recentCommandIds = [...(manifest?.recentCommandIds ?? [])];
    this.#known = new Set(manifest === undefined ? [] : segmentsOf(manifest).map(({ object }) => object));
  }

  async run(): Promise<StoredManifest> {
    const { journal } = this.ports;
    const { shard, clusterId, upToPosition } = this.job;
    if (this.base !== undefined && this.base.manifest.clusterId !== clusterId) {
      throw new MillraceError('JOURNAL_DAMAGED', `${shard}: a snapshot of another cluster`, {
        manifest: this.base.name,
      });
    }
    const from = this.#chain.head.position + 1;
    const { first } = await journal.tail(shard);
    if (first > from) {
      throw new MillraceError('JOURNAL_DAMAGED', `${shard}: entries after the snapshot are missing`, { from, first });
    }
    const entries = readEntries(journal, shard, from, upToPosition, this.#chain, ({ bytes, storedAtMs }) => {
      this.#journalBytes += bytes.length;
      this.#headStoredAtMs = storedAtMs;
    });
    for await (const { entry } of entries) {
      const { body } = entry;
      if (body.kind === 'claim' && body.clusterId !== clusterId) {
        throw new MillraceError('JOURNAL_DAMAGED', `${shard}: a claim of another cluster`, { number: entry.number });
      }
      if (body.kind !== 'batch') continue;
      for (const id of body.commandIds) this.#recentCommandIds.push([id, entry.clockMs]);
      for (const { partition, effects } of body.sections) this.#collect(partition, effects);
      if (this.#due !== undefined) await this.#applyToLoaded(this.#due);
      if (this.#pendingBytes >= this.limits.stepBytes) await this.#foldPending();
    }
    if (this.#chain.head.position !== upToPosition) {
      throw new MillraceError('JOURNAL_DAMAGED', `${shard}: no entry ends where the snapshot has to`, {
        upToPosition,
        reached: this.#chain.head.position,
      });
    }
    await this.#foldPending();
    if (this.#loaded !== undefined) await this.#foldPartition(this.#loaded.name);
    // The next of its size is about to be loaded.
    this.#loaded = undefined;
    try {
      for (const name of this.#changed) await this.#verify(name);
      return await this.#writeManifest();
    } catch (error) {
      if (isMillraceError(error, 'JOURNAL_DAMAGED')) await this.#discard();
      throw error;
    }
  }

  /** What does not read back must not be found there, whole by its name, when the next attempt writes it. */
  async #discard(): Promise<void> {
    const { shard } = this.job;
    const changed = [...this.#changed].flatMap((name) => this.#partitions.get(name) ?? []);
    const segments = changed.flatMap(segmentsOfPartition).filter(({ object }) => !this.#known.has(object));
    await this.#store.discard(shard, this.#chain.head.number, segments).catch((error: unknown) => {
      this.ports.log.warn('snapshot.discard-failed', { shard, reason: describeError(error) });
    });
  }

  #collect(partition: PartitionName, effects: Uint8Array): void {
    const collected = this.#pending.get(partition) ?? new CollectedEffects();
    collected.add(effects);
    this.#pending.set(partition, collected);
    this.#pendingBytes += effects.length;
    this.#changed.add(partition);
    const mayStay = this.#loaded === undefined || this.#loaded.name === partition;
    if (mayStay && collected.bytes >= this.limits.stepBytes * LOADED_SHARE) this.#due = partition;
  }

  /** What came is not held any longer than this, and its bodies are written: the state alone stays. */
  async #applyToLoaded(name: PartitionName): Promise<void> {
    this.#due = undefined;
    this.#loaded ??= await this.#load(name);
    const { fold, bodySegments } = this.#loaded;
    this.#applyPending(name, fold);
    if (fold.bodies === undefined) return;
    const target = this.#targetOf(name);
    bodySegments.push(
      ...(await writeFreshBodies(this.#store, target, bodySegments.length, fold.bodies, this.limits.segmentBytes)),
    );
    fold.bodies.forgetFresh();
  }

  /** All but those of the partition that stays. */
  async #foldPending(): Promise<void> {
    for (const name of [...this.#pending.keys()]) if (name !== this.#loaded?.name) await this.#foldPartition(name);
    this.#forgetOldCommands();
  }

  /** CMP1: load, apply, write, drop. */
  async #foldPartition(name: PartitionName): Promise<void> {
    const { fold, bodySegments } = this.#loaded?.name === name ? this.#loaded : await this.#load(name);
    this.#applyPending(name, fold);
    const target = this.#targetOf(name);
    const segments = await writeSegments(this.#store, target, fold, this.limits.segmentBytes);
    const bodies = await this.#writeBodies(target, fold, bodySegments);
    const link = this.#chain.sectionLink(name);
    this.#partitions.set(name, manifestPartition(name, link, fold, segments, bodies));
  }

  #applyPending(name: PartitionName, fold: PartitionFold): void {
    const effects = this.#pending.get(name);
    if (effects === undefined) return;
    this.#pending.delete(name);
    this.#pendingBytes -= effects.bytes;
    for (const block of effects.taken()) fold.apply(block);
  }

  async #load(name: PartitionName): Promise<LoadedPartition> {
    const fold = this.foldFactory(name);
    const before = this.#partitions.get(name);
    if (before === undefined) return { name, fold, bodySegments: [] };
    try {
      await this.#store.loadWhole(before, fold);
    } catch (cause) {
      if (!isMillraceError(cause, 'JOURNAL_DAMAGED')) throw cause;
      throw new BrokenBase('a partition of the snapshot does not load', { cause });
    }
    return { name, fold, bodySegments: [...(before.bodySegments ?? [])] };
  }

  #targetOf(partition: PartitionName): PartitionTarget {
    return { shard: this.job.shard, number: this.#chain.head.number, partition };
  }

  async #writeBodies(
    target: PartitionTarget,
    { bodies }: PartitionFold,
    before: readonly BodySegmentRef[],
  ): Promise<BodySegmentRef[]> {
    if (bodies === undefined) return [];
    try {
      return await writeBodySegments(this.#store, target, before, bodies, this.limits.segmentBytes);
    } catch (cause) {
      if (!isMillraceError(cause, 'JOURNAL_DAMAGED')) throw cause;
      throw new BrokenBase('bodies of the snapshot do not read back', { cause });
    }
  }

  /** CMP2: what a recovery would do. */
  async #verify(name: PartitionName): Promise<void> {
    const partition = this.#partitions.get(name);
    assert(partition !== undefined, 'a changed partition was not folded', { name });
    const scratch = this.foldFactory(name);
    await this.#store.loadWhole(partition, scratch, { checkDigest: true });
    for (const ref of partition.bodySegments ?? []) {
      // What is carried over was read back when it was written.
      if (!this.#known.has(ref.bodies.object)) await readBodySegment(this.#store, name, ref);
    }
  }

  #forgetOldCommands(): void {
    const since = this.#chain.head.clockMs - RECENT_COMMANDS_MS;
    // The newest stay whatever their age says: a clock that jumped must not make a caller's command unknown.
    const newest = this.#recentCommandIds.length - RECENT_COMMANDS_KEPT;
    this.#recentCommandIds = this.#recentCommandIds.filter(([, atMs], i) => i >= newest || atMs > since);
  }

  async #writeManifest(): Promise<StoredManifest> {
    const { number, hash, epoch, clockMs, position } = this.#chain.head;
    const written = await this.#store.writeManifest({
      shard: this.job.shard,
      clusterId: this.job.clusterId,
      head: { number, hash, epoch, clockMs, position },
      partitions: [...this.#partitions.values()].sort((a, b) => (a.name < b.name ? -1 : 1)),
      recentCommandIds: this.#recentCommandIds,
      createdAtMs: this.ports.clock.nowMs(),
      headStoredAtMs: this.#headStoredAtMs,
      journalBytes: this.#journalBytes,
    });
    await this.#store.readBackManifest(written);
    return written;
  }
}

async function finish(
  ports: CompactionPorts,
  store: SnapshotStore,
  job: CompactionJob,
  newest: StoredManifest,
  limits: CompactionLimits,
  broken: ReadonlySet<string>,
): Promise<CompactionResult> {
  const { shard } = job;
  const manifests: StoredManifest[] = [];
  for await (const stored of store.newestFirst(shard, broken)) manifests.push(stored);
  const ceiling = await ceilingOf(ports, shard, limits);
  const plan = planRetention(manifests, limits.retention, ports.clock.nowMs(), ceiling);
  if (plan.isOver) ports.log.warn('journal.over-total', { shard, ...ceiling });
  const { first } = await ports.journal.tail(shard);
  try {
    const deleted = await store.prune(shard, plan.keep);
    if (deleted > 0) ports.log.debug('snapshot.pruned', { shard, deleted });
  } catch (error) {
    ports.log.warn('snapshot.prune-failed', { shard, reason: describeError(error) });
  }
  const { head } = newest.manifest;
  return {
    manifest: newest.name,
    manifestDigest: newest.digest,
    coveredNumber: head.number,
    coveredPosition: head.position,
    // Never the newest entry either: it is behind the older of two manifests (RET1 of retention).
    purgeBelow: Math.max(first, plan.purgeBelow ?? first),
    snapshotBytes: segmentsOf(newest.manifest).reduce((sum, { bytes }) => sum + bytes, 0),
  };
}

/** RET6 of retention. */
async function ceilingOf(
  { journal }: CompactionPorts,
  shard: ShardName,
  { total }: CompactionLimits,
): Promise<JournalCeiling | undefined> {
  if (total === undefined) return undefined;
  const sizes = await Promise.all(total.shards.map(async (one) => (await journal.tail(one)).bytes));
  const { bytes: heldBytes } = await journal.tail(shard);
  return { heldBytes, maxBytes: levelOf(sizes, total.bytes) };
}
