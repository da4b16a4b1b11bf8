/**
 * Builds the state of every partition of a backed-up shard, one at a time, from its snapshot and the later entries.
 *
 *  FB1 the whole chain, up to the head that the manifest names, is checked before the first state is returned
 *  FB2 the bytes and the number of keys of segments are compared with their manifest before effects are applied. A
 *      different digest is reported: for a backup of this release it is damage, for one of another release the
 *      encoding of states may differ
 *  FB3 memory is bounded by the largest partition and `stepBytes` of effects; entries are read again for each step
 */
import { EntryAssembler, type ReadEntry } from '../../codec/envelope/index.js';
import { MillraceError, type PartitionName } from '../../kernel/index.js';
import type { BackupFiles, Log } from '../../ports/index.js';
import { entrySections, type Manifest, type ManifestPartition } from '../../protocol/index.js';
import type { Chain, ChainLink } from '../chain.js';
import { CollectedEffects } from '../collected-effects.js';
import { DEFAULT_COMPACTION_LIMITS } from '../compaction.js';
import { chainAfter } from '../entry-reader.js';
import type { PartitionFold } from '../partition-fold.js';
import { SnapshotStore } from '../snapshot-store.js';
import { headToJson, type JournalBackup } from './backup-manifest.js';
import { BackupObjects } from './backup-objects.js';
import { readRange } from './copy-log.js';
import type { BackupPlanes } from './planes.js';

export interface FoldedPartition {
  readonly name: PartitionName;
  readonly fold: PartitionFold;
  /** Its last section. */
  readonly link: ChainLink;
  /** The partition in the snapshot, with the locations of its bodies. */
  readonly before: ManifestPartition | undefined;
  /** Objects of the shard's backup. */
  readonly objects: BackupObjects;
}

export interface FoldOptions {
  readonly files: BackupFiles;
  readonly clusterId: string;
  readonly planes: BackupPlanes;
  readonly log: Log;
  readonly stepBytes?: number;
  /** True when a different digest is damage (FB2). */
  readonly isOfThisRelease: boolean;
}

/** In order of name. @throws JOURNAL_DAMAGED naming the fault */
export async function* foldBackup(backup: JournalBackup, options: FoldOptions): AsyncGenerator<FoldedPartition> {
  const { files, planes, log, stepBytes = DEFAULT_COMPACTION_LIMITS.stepBytes } = options;
  const objects = await BackupObjects.open(files, backup.objects);
  const store = new SnapshotStore(objects, log);
  const manifest = await snapshotOf(backup, store, options.clusterId);
  const { chain, bytesByPartition } = await followed(backup, options, manifest);
  const known = new Map(manifest?.partitions.map((partition) => [partition.name, partition]));
  const names = [...new Set([...known.keys(), ...bytesByPartition.keys()])].sort();
  for (const some of inSteps(names, bytesByPartition, stepBytes)) {
    const effects = await effectsOf(backup, files, some, bytesByPartition);
    for (const name of some) {
      const fold = planes.fold(name);
      const before = known.get(name);
      if (before !== undefined) await load(store, before, fold, options);
      for (const block of effects.get(name)?.blocks() ?? []) fold.apply(block);
      effects.delete(name);
      yield { name, fold, link: chain.sectionLink(name), before, objects };
    }
  }
}

/** Loads the segments and compares them (FB2). */
async function load(
  store: SnapshotStore,
  before: ManifestPartition,
  fold: PartitionFold,
  { isOfThisRelease, log }: FoldOptions,
): Promise<void> {
  await store.loadWhole(before, fold, { checkDigest: isOfThisRelease });
  if (fold.digest() !== before.digest) log.warn('backup.other-digest', { partition: before.name });
}

async function snapshotOf(
  { shard, snapshot, from }: JournalBackup,
  store: SnapshotStore,
  clusterId: string,
): Promise<Manifest | undefined> {
  if (snapshot === null) return undefined;
  const stored = await store.newest(shard);
  const manifest = stored?.name === snapshot ? stored.manifest : undefined;
  if (manifest === undefined || manifest.clusterId !== clusterId || manifest.head.position !== from - 1) {
    throw new MillraceError('JOURNAL_DAMAGED', `${shard}: the snapshot of the backup cannot be used`, { snapshot });
  }
  return manifest;
}

/** Reads and checks the chain (FB1). */
async function followed(
  backup: JournalBackup,
  { files, clusterId }: FoldOptions,
  manifest: Manifest | undefined,
): Promise<{ chain: Chain; bytesByPartition: Map<PartitionName, number> }> {
  const { shard } = backup;
  const chain = chainAfter(shard, manifest);
  const bytesByPartition = new Map<PartitionName, number>();
  for await (const read of entriesOf(backup, files)) {
    chain.follow(read);
    const { body } = read.entry;
    if (body.kind === 'claim' && body.clusterId !== clusterId) {
      throw new MillraceError('JOURNAL_DAMAGED', `${shard}: a claim of another installation`, { at: read.position });
    }
    for (const { partition, effects } of entrySections(read.entry)) {
      bytesByPartition.set(partition, (bytesByPartition.get(partition) ?? 0) + effects.length);
    }
  }
  const reached = headToJson(chain.head);
  if (reached.hash !== backup.head.hash || reached.number !== backup.head.number) {
    const details = { reached: reached.number, wanted: backup.head.number };
    throw new MillraceError('JOURNAL_DAMAGED', `${shard}: the entries do not end where the manifest says`, details);
  }
  return { chain, bytesByPartition };
}

async function* entriesOf(backup: JournalBackup, files: BackupFiles): AsyncGenerator<ReadEntry> {
  const assembler = new EntryAssembler();
  for await (const { position, bytes } of readRange(files, backup.entries, backup)) {
    const read = assembler.add(position, bytes);
    if (read !== undefined) yield read;
  }
}

/** Groups partitions by the size of their effects (FB3). */
function* inSteps(
  names: readonly PartitionName[],
  bytesByPartition: ReadonlyMap<PartitionName, number>,
  stepBytes: number,
): Iterable<readonly PartitionName[]> {
  let some: PartitionName[] = [];
  let bytes = 0;
  for (const name of names) {
    const added = bytesByPartition.get(name) ?? 0;
    if (some.length > 0 && bytes + added > stepBytes) {
      yield some;
      [some, bytes] = [[], 0];
    }
    some.push(name);
    bytes += added;
  }
  if (some.length > 0) yield some;
}

async function effectsOf(
  backup: JournalBackup,
  files: BackupFiles,
  names: readonly PartitionName[],
  bytesByPartition: ReadonlyMap<PartitionName, number>,
): Promise<Map<PartitionName, CollectedEffects>> {
  const collected = new Map<PartitionName, CollectedEffects>();
  for (const name of names) if (bytesByPartition.has(name)) collected.set(name, new CollectedEffects());
  if (collected.size === 0) return collected;
  for await (const { entry } of entriesOf(backup, files)) {
    for (const { partition, effects } of entrySections(entry)) collected.get(partition)?.add(effects);
  }
  return collected;
}
