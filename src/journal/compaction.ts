/**
 * Makes a snapshot of a shard from the one before and the entries since, in parallel with its actor.
 *
 *  CMP1 memory is bounded by the two largest partitions, `stepBytes` of effects and two segments: one partition with
 *       many writes stays loaded, the others are folded one at a time, and bodies come with pending effects or one
 *       segment at a time
 *  CMP2 a manifest is written only after every object that it names was read back, loaded into another fold, and
 *       compared by digest: an existing manifest has been verified
 *  CMP3 a crash between any two steps leaves only objects that no manifest names; a later run removes them
 *  CMP4 a failed removal of old objects is no failure of the compaction: the snapshot is valid
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
import type { Clock, CompactionJob, CompactionResult, Journal, Log, ObjectStore } from '../ports/index.js';
import type { BodySegmentRef, ManifestPartition } from '../protocol/index.js';
import { RECENT_COMMANDS_KEPT, RECENT_COMMANDS_MS } from '../protocol/index.js';
import { readBodySegment, writeBodySegments, writeFreshBodies } from './body-segments.js';
import { copyReferred } from './branch-journal.js';
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
  /** Effects held in memory before their partitions are folded; a quarter of it for a partition that stays loaded. */
  readonly stepBytes: number;
  /** The approximate size of a segment; a larger single value makes a larger one. */
  readonly segmentBytes: number;
  readonly retention: AuditRetention;
  /** The bound of all journals together; undefined: there is none. */
  readonly total?: { readonly bytes: number; readonly shards: readonly ShardName[] };
}

export const DEFAULT_COMPACTION_LIMITS: CompactionLimits = {
  // Folding a large partition reads and writes all of it, so steps are few and large.
  stepBytes: 64 * 1024 * 1024,
  // Small enough to be hashed and loaded without a pause, large enough that a shard has hundreds of them, not
  // thousands.
  segmentBytes: 4 * 1024 * 1024,
  retention: DEFAULT_AUDIT_RETENTION,
};

/**
 * Covers everything up to the entry that ends at `job.upToPosition`.
 * @throws JOURNAL_UNAVAILABLE; JOURNAL_DAMAGED when the chain is broken, a snapshot cannot be read back, or
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
      return finish(ports, job, base, limits, broken);
    }
    try {
      const written = await new Compaction(ports, job, foldFactory, limits, base).run();
      return await finish(ports, job, written, limits, broken);
    } catch (error) {
      if (!(error instanceof BrokenBase) || base === undefined) throw error;
      ports.log.error('snapshot.broken', { shard: job.shard, manifest: base.name, reason: describeError(error.cause) });
      broken.add(base.name);
    }
  }
}

/** The base snapshot does not load; the one before it may. */
class BrokenBase extends Error {}

/** The part of a step's effects with which a partition stays loaded; they are then applied immediately. */
const LOADED_SHARE = 1 / 4;

interface LoadedPartition {
  readonly name: PartitionName;
  readonly fold: PartitionFold;
  /** The segments of the snapshot before, followed by those written since it was loaded. */
  readonly bodySegments: BodySegmentRef[];
}

class Compaction {
  readonly #partitions: Map<PartitionName, ManifestPartition>;
  readonly #chain: Chain;
  readonly #store: SnapshotStore;
  /** Effects read and not folded yet, by partition. */
  readonly #pending = new Map<PartitionName, CollectedEffects>();
  #pendingBytes = 0;
  /** The first partition with many writes: it is loaded and written once, for any number of steps. */
  #loaded: LoadedPartition | undefined;
  /** The partition that has enough pending effects to stay loaded. */
  #due: PartitionName | undefined;
  readonly #changed = new Set<PartitionName>();
  #journalBytes: number;
  #headStoredAtMs = 0;
  #recentCommandIds: (readonly [CommandId, number])[];
  /** Objects of the snapshot before: they are neither checked nor removed here. */
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
    const entries = readEntries(journal, this.#chain, from, upToPosition, ({ bytes, storedAtMs }) => {
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
      throw new MillraceError('JOURNAL_DAMAGED', `${shard}: no entry ends at the position of the snapshot`, {
        upToPosition,
        reached: this.#chain.head.position,
      });
    }
    await this.#foldPending();
    if (this.#loaded !== undefined) await this.#foldPartition(this.#loaded.name);
    // Released, because the next partition of its size is about to be loaded.
    this.#loaded = undefined;
    try {
      for (const name of this.#changed) await this.#verify(name);
      return await this.#writeManifest();
    } catch (error) {
      if (isMillraceError(error, 'JOURNAL_DAMAGED')) await this.#discard();
      throw error;
    }
  }

  /** Removes objects that could not be verified, so that the next attempt does not take them for complete ones. */
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

  /**
   * Applies pending effects to the loaded partition and writes their bodies, so that only the state stays in memory.
   */
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

  /** Folds all partitions except the loaded one. */
  async #foldPending(): Promise<void> {
    for (const name of [...this.#pending.keys()]) if (name !== this.#loaded?.name) await this.#foldPartition(name);
    this.#forgetOldCommands();
  }

  /** Loads, applies, writes and drops one partition (CMP1). */
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

  /** Loads the written partition as a recovery would, and compares it (CMP2). */
  async #verify(name: PartitionName): Promise<void> {
    const partition = this.#partitions.get(name);
    assert(partition !== undefined, 'a changed partition was not folded', { name });
    const scratch = this.foldFactory(name);
    await this.#store.loadWhole(partition, scratch, { checkDigest: true });
    for (const ref of partition.bodySegments ?? []) {
      // Segments taken from the snapshot before were read back when they were written.
      if (!this.#known.has(ref.bodies.object)) await readBodySegment(this.#store, name, ref);
    }
  }

  #forgetOldCommands(): void {
    const since = this.#chain.head.clockMs - RECENT_COMMANDS_MS;
    // The newest ids stay regardless of their age, because a clock jump must not make a caller's command unknown.
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
  job: CompactionJob,
  newest: StoredManifest,
  limits: CompactionLimits,
  broken: ReadonlySet<string>,
): Promise<CompactionResult> {
  const { shard } = job;
  const store = new SnapshotStore(ports.objects, ports.log);
  const manifests: StoredManifest[] = [];
  for await (const stored of store.newestFirst(shard, broken)) manifests.push(stored);
  const ceiling = await ceilingOf(ports, shard, limits);
  const plan = planRetention(manifests, limits.retention, ports.clock.nowMs(), ceiling);
  if (plan.isOver) ports.log.warn('journal.over-total', { shard, ...ceiling });
  const { first } = await ports.journal.tail(shard);
  let purgeBelow = first;
  try {
    const deleted = await store.prune(shard, plan.keep);
    if (deleted > 0) ports.log.debug('snapshot.pruned', { shard, deleted });
    // BRJ1: the references are read after older snapshots are removed.
    if (plan.purgeBelow !== undefined) purgeBelow = await copyReferred(ports, shard, plan.purgeBelow);
  } catch (error) {
    ports.log.warn('snapshot.prune-failed', { shard, reason: describeError(error) });
  }
  const { head } = newest.manifest;
  return {
    manifest: newest.name,
    manifestDigest: newest.digest,
    coveredNumber: head.number,
    coveredPosition: head.position,
    // The newest entry is never removed either: it comes after the older of two manifests (RET1: the two newest
    // manifests stay).
    purgeBelow: Math.max(first, purgeBelow),
    snapshotBytes: segmentsOf(newest.manifest).reduce((sum, { bytes }) => sum + bytes, 0),
  };
}

/** The ceiling of this journal from the bound of all journals (RET6 in retention.ts). */
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
