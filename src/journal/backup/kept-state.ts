/**
 * Stores moments of partitions as immutable objects that the removal of old snapshots does not touch. The control state
 * refers to them by the names of their manifests.
 *
 *   backup/<backup>/<index of the partition>/manifest    in the form of a snapshot's, with one partition
 *   backup/<backup>/<index of the partition>/<ordinal>   segments
 *
 *  KS1 a state contains every change acknowledged before it was requested, up to one position of its shard
 *  KS2 a manifest is written after its segments were read back and gave the same state
 */
import { encodeManifest, sha256 } from '../../codec/envelope/index.js';
import {
  type BackupId,
  isMillraceError,
  MillraceError,
  type PartitionName,
  type ShardName,
} from '../../kernel/index.js';
import type { Clock, Journal, Log, ObjectStore } from '../../ports/index.js';
import { entrySections, type ManifestPartition, type SegmentRef } from '../../protocol/index.js';
import { putOver } from '../branch-journal.js';
import type { ChainHead } from '../chain.js';
import { CollectedEffects } from '../collected-effects.js';
import { DEFAULT_COMPACTION_LIMITS } from '../compaction.js';
import { chainAfter, readEntries } from '../entry-reader.js';
import type { FoldFactory, PartitionFold } from '../partition-fold.js';
import { SnapshotStore } from '../snapshot-store.js';
import { lastWholeEntry } from './copy-log.js';
import { prefixOf } from './kept-objects.js';
import { snapshotUpTo } from './snapshot-up-to.js';

export interface KeepPorts {
  readonly journal: Journal;
  readonly objects: ObjectStore;
  readonly clock: Clock;
  readonly log: Log;
}

export interface KeepRequest {
  readonly clusterId: string;
  readonly backup: BackupId;
  /** The partitions of the database in order of index; `shards[i]` holds `partitions[i]`. */
  readonly partitions: readonly PartitionName[];
  readonly shards: readonly ShardName[];
}

export interface KeptState {
  /** Names of the partitions' manifests, in order of index. */
  readonly manifests: readonly string[];
  /** The bytes of all segments. */
  readonly bytes: number;
}

/** A snapshot is removed after two later ones of its shard. */
const TRIES = 5;

/**
 * @throws JOURNAL_UNAVAILABLE; JOURNAL_DAMAGED when the shard cannot be verified. The caller then removes the written
 * objects
 */
export async function keepStates(ports: KeepPorts, request: KeepRequest, foldFactory: FoldFactory): Promise<KeptState> {
  const manifests = new Map<PartitionName, string>();
  let bytes = 0;
  for (const shard of new Set(request.shards)) {
    const wanted = request.partitions.filter((_, index) => request.shards[index] === shard);
    const kept = await keepOfShard(ports, request, shard, wanted, foldFactory);
    for (const [partition, { manifest, size }] of kept) {
      manifests.set(partition, manifest);
      bytes += size;
    }
  }
  return { manifests: request.partitions.map((partition) => manifests.get(partition) as string), bytes };
}

type KeptPartitions = Map<PartitionName, { readonly manifest: string; readonly size: number }>;

async function keepOfShard(
  ports: KeepPorts,
  request: KeepRequest,
  shard: ShardName,
  wanted: readonly PartitionName[],
  foldFactory: FoldFactory,
): Promise<KeptPartitions> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await new ShardKeeper(ports, request, shard, foldFactory).keep(wanted);
    } catch (error) {
      if (!isMillraceError(error, 'JOURNAL_DAMAGED') || tries === TRIES) throw error;
      ports.log.warn('backup.shard-again', { shard, tries, reason: error.message });
    }
  }
}

class ShardKeeper {
  readonly #store: SnapshotStore;

  constructor(
    private readonly ports: KeepPorts,
    private readonly request: KeepRequest,
    private readonly shard: ShardName,
    private readonly foldFactory: FoldFactory,
  ) {
    this.#store = new SnapshotStore(ports.objects, ports.log);
  }

  async keep(wanted: readonly PartitionName[]): Promise<KeptPartitions> {
    const { ports, shard } = this;
    const end = await lastWholeEntry(ports, shard);
    const manifest = (await snapshotUpTo(this.#store, shard, end))?.manifest;
    const chain = chainAfter(shard, manifest);
    const effects = new Map(wanted.map((partition) => [partition, new CollectedEffects()]));
    const from = chain.head.position + 1;
    const { first } = await ports.journal.tail(shard);
    if (first > from && end >= from) {
      throw new MillraceError('JOURNAL_DAMAGED', `${shard}: entries after the snapshot are missing`, { from, first });
    }
    for await (const { entry } of readEntries(ports.journal, chain, from, end)) {
      for (const section of entrySections(entry)) effects.get(section.partition)?.add(section.effects);
    }
    const before = new Map(manifest?.partitions.map((partition) => [partition.name, partition]));
    const kept: KeptPartitions = new Map();
    for (const partition of wanted) {
      const fold = this.foldFactory(partition);
      const snapshot = before.get(partition);
      if (snapshot !== undefined) await this.#store.loadWhole(snapshot, fold);
      for (const block of effects.get(partition)?.blocks() ?? []) fold.apply(block);
      effects.delete(partition);
      const { number: index, hash } = chain.sectionLink(partition);
      kept.set(partition, await this.#write({ name: partition, index, hash }, fold, chain.head));
    }
    return kept;
  }

  /** Writes and verifies the segments, then the manifest (KS2). */
  async #write(
    link: Pick<ManifestPartition, 'name' | 'index' | 'hash'>,
    fold: PartitionFold,
    head: ChainHead,
  ): Promise<{ manifest: string; size: number }> {
    const { objects, clock } = this.ports;
    const { backup, partitions, clusterId } = this.request;
    const prefix = `${prefixOf(backup)}${partitions.indexOf(link.name)}/`;
    const segments: SegmentRef[] = [];
    for (const bytes of fold.segments(DEFAULT_COMPACTION_LIMITS.segmentBytes)) {
      const object = `${prefix}${segments.length}`;
      await putOver(objects, object, bytes);
      segments.push({ object, bytes: bytes.length, sha256: sha256(bytes) });
    }
    const partition: ManifestPartition = { ...link, keys: fold.size, digest: fold.digest(), segments };
    await this.#store.loadWhole(partition, this.foldFactory(link.name), { checkDigest: true });
    const nowMs = clock.nowMs();
    const manifest = `${prefix}manifest`;
    const contents = { shard: this.shard, clusterId, head, partitions: [partition], recentCommandIds: [] };
    const times = { createdAtMs: nowMs, headStoredAtMs: nowMs, journalBytes: 0 };
    await putOver(objects, manifest, encodeManifest({ ...contents, ...times }));
    return { manifest, size: segments.reduce((sum, { bytes }) => sum + bytes, 0) };
  }
}
