/**
 * Snapshots of a shard in the object store: `<shard>/manifest/<number>` and the segments that it names,
 * `<shard>/segment/<number>-<partition>-<n>`, where the number is that of the last entry covered. Bodies are stored in
 * segments `…-b<n>` with their index `…-i<n>`.
 *
 *  SNS1 a manifest is valid only when it decodes, has its digest, and all its segments exist with their full length
 *  SNS2 an invalid manifest (SNS1) is logged and skipped, and the one before it is used
 *  SNS4 a segment that a branch refers to is not removed
 *  SNS3 only objects older than a valid manifest are removed, because a compaction in progress has higher numbers than
 *       any existing manifest
 */
import { createHash } from 'node:crypto';
import { decodeManifest, encodeManifest, sha256 } from '../codec/envelope/index.js';
import { describeError, isMillraceError, MillraceError, type PartitionName, type ShardName } from '../kernel/index.js';
import type { Log, ObjectStore } from '../ports/index.js';
import type { Manifest, ManifestPartition, SegmentRef } from '../protocol/index.js';
import { referredObjects } from './branch-references.js';
import type { PartitionFold } from './partition-fold.js';

export interface StoredManifest {
  /** Name of the object. */
  readonly name: string;
  readonly manifest: Manifest;
  /** SHA-256 of the object's bytes, as the journal's snapshot entry names it. */
  readonly digest: Uint8Array;
}

/** Digits of a number in a name, so that names sort as numbers do; 2^53 has 16. */
const NUMBER_DIGITS = 16;
/** Hex digits of a partition's hash in a segment's name: 64 bits distinguish the partitions of a shard. */
const PARTITION_DIGITS = 16;
/** Hashing this much takes well under a millisecond; then other work may run. */
const HASH_SLICE_BYTES = 256 * 1024;

export class SnapshotStore {
  constructor(
    private readonly objects: ObjectStore,
    private readonly log: Log,
  ) {}

  /** The newest valid manifest (SNS1). @throws JOURNAL_UNAVAILABLE */
  async newest(shard: ShardName, avoid: ReadonlySet<string> = new Set()): Promise<StoredManifest | undefined> {
    for await (const stored of this.newestFirst(shard, avoid)) return stored;
    return undefined;
  }

  /** Every valid manifest, the newest first, without those named in `avoid`. @throws JOURNAL_UNAVAILABLE */
  async *newestFirst(shard: ShardName, avoid: ReadonlySet<string> = new Set()): AsyncGenerator<StoredManifest> {
    const manifests = (await this.objects.list(manifestPrefix(shard)))
      .map(({ name }) => name)
      .filter((n) => !avoid.has(n));
    if (manifests.length === 0) return;
    const lengths = await this.#segmentLengths(shard);
    for (const name of manifests.sort().reverse()) {
      const stored = await this.#read(shard, name, lengths);
      if (stored !== undefined) yield stored;
    }
  }

  async #read(
    shard: ShardName,
    name: string,
    lengths: ReadonlyMap<string, number>,
  ): Promise<StoredManifest | undefined> {
    try {
      const bytes = await this.objects.get(name);
      // Between list and get an owner may have removed it; that is no damage.
      if (bytes === undefined) return undefined;
      const manifest = decodeManifest(bytes);
      if (manifest.shard !== shard || manifestName(shard, manifest.head.number) !== name) {
        throw new MillraceError('JOURNAL_DAMAGED', 'a manifest has the name of another', { name });
      }
      for (const segment of segmentsOf(manifest)) {
        if (lengths.get(segment.object) === segment.bytes) continue;
        throw new MillraceError('JOURNAL_DAMAGED', 'a segment is missing or incomplete', { segment: segment.object });
      }
      return { name, manifest, digest: sha256(bytes) };
    } catch (error) {
      if (!isMillraceError(error, 'JOURNAL_DAMAGED')) throw error;
      this.log.error('snapshot.refused', { shard, manifest: name, reason: describeError(error), ...error.details });
      return undefined;
    }
  }

  async #segmentLengths(shard: ShardName): Promise<Map<string, number>> {
    const infos = await this.objects.list(segmentPrefix(shard));
    return new Map(infos.map(({ name, bytes }) => [name, bytes]));
  }

  /**
   * Builds a partition's state in an empty fold, in slices of about 2 ms, between which the caller can run other work.
   * @throws JOURNAL_DAMAGED when a segment is missing or differs from the manifest, or (with `checkDigest`, which
   *         is not sliced) the state differs; JOURNAL_UNAVAILABLE
   */
  async *loadPartition(
    partition: ManifestPartition,
    fold: PartitionFold,
    { checkDigest = false }: { checkDigest?: boolean } = {},
  ): AsyncGenerator<void> {
    for (const segment of partition.segments) {
      const bytes = await this.#bytesOf(partition.name, segment);
      for (const _ of checked(bytes, partition.name, segment)) yield;
      for (const _ of fold.applyInSlices(bytes)) yield;
    }
    if (fold.size !== partition.keys) throw notAsWritten('a snapshot has another number of keys', partition.name);
    if (checkDigest && fold.digest() !== partition.digest) {
      throw notAsWritten('a snapshot loads to another state', partition.name);
    }
  }

  /** The same without pauses, for the compactor's thread. */
  async loadWhole(
    partition: ManifestPartition,
    fold: PartitionFold,
    options: { checkDigest?: boolean } = {},
  ): Promise<void> {
    const slices = this.loadPartition(partition, fold, options);
    while ((await slices.next()).done !== true);
  }

  /** A partition's segments as they were written, in order. @throws as `readObject` */
  async *segmentBytes(partition: ManifestPartition, pause?: () => Promise<void>): AsyncGenerator<Uint8Array> {
    for (const segment of partition.segments) yield await this.readObject(partition.name, segment, pause);
  }

  /**
   * One object of a partition, compared with its manifest. `pause` is awaited between slices.
   * @throws JOURNAL_DAMAGED, JOURNAL_UNAVAILABLE
   */
  async readObject(partition: PartitionName, ref: SegmentRef, pause?: () => Promise<void>): Promise<Uint8Array> {
    const bytes = await this.#bytesOf(partition, ref);
    for (const _ of checked(bytes, partition, ref)) await pause?.();
    return bytes;
  }

  async #bytesOf(partition: PartitionName, ref: SegmentRef): Promise<Uint8Array> {
    const bytes = await this.objects.get(ref.object);
    if (bytes === undefined) throw notAsWritten('a segment is gone', partition, ref);
    return bytes;
  }

  /**
   * Writes one object of a partition; `suffix` distinguishes the objects of one snapshot. @throws JOURNAL_UNAVAILABLE
   */
  async writeSegment(
    shard: ShardName,
    number: number,
    partition: string,
    suffix: number | string,
    bytes: Uint8Array,
  ): Promise<SegmentRef> {
    const object = `${segmentPrefix(shard)}${padded(number)}-${partitionDigits(partition)}-${suffix}`;
    await this.#putOver(object, bytes);
    return { object, bytes: bytes.length, sha256: sha256(bytes) };
  }

  /** @throws JOURNAL_UNAVAILABLE */
  async writeManifest(manifest: Manifest): Promise<StoredManifest> {
    const name = manifestName(manifest.shard, manifest.head.number);
    const bytes = encodeManifest(manifest);
    await this.#putOver(name, bytes);
    return { name, manifest, digest: sha256(bytes) };
  }

  /** Checks that the object can be read as it was written. @throws JOURNAL_DAMAGED, JOURNAL_UNAVAILABLE */
  async readBackManifest(written: StoredManifest): Promise<void> {
    const bytes = await this.objects.get(written.name);
    if (bytes !== undefined && Buffer.compare(sha256(bytes), written.digest) === 0) return;
    throw new MillraceError('JOURNAL_DAMAGED', 'a manifest cannot be read back', { manifest: written.name });
  }

  /** An interrupted attempt may have left an object with this name, with the same bytes or others. */
  async #putOver(name: string, bytes: Uint8Array): Promise<void> {
    try {
      await this.objects.put(name, bytes);
    } catch (error) {
      if (!isMillraceError(error, 'CONFLICT')) throw error;
      await this.objects.delete(name);
      await this.objects.put(name, bytes);
    }
  }

  /** Deletes a manifest, if it exists, and then segments that it alone names. @throws JOURNAL_UNAVAILABLE */
  async discard(shard: ShardName, number: number, segments: readonly SegmentRef[]): Promise<void> {
    await this.objects.delete(manifestName(shard, number));
    for (const { object } of segments) await this.objects.delete(object);
  }

  /**
   * Deletes all manifests except those kept, and all segments that no kept one names, up to the newest kept (SNS3).
   * Manifests are deleted first, so that one without its segments never looks complete.
   * @returns the number of deleted objects. @throws JOURNAL_UNAVAILABLE
   */
  async prune(shard: ShardName, keep: readonly StoredManifest[]): Promise<number> {
    const newest = Math.max(0, ...keep.map(({ manifest }) => manifest.head.number));
    const keptManifests = new Set(keep.map(({ name }) => name));
    const keptSegments = new Set(keep.flatMap(({ manifest }) => segmentsOf(manifest).map(({ object }) => object)));
    const isOver = (name: string, prefix: string) => Number(name.slice(prefix.length).split('-')[0]) <= newest;
    const removeOver = async (prefix: string, kept: ReadonlySet<string>) => {
      let deleted = 0;
      for (const { name } of await this.objects.list(prefix)) {
        if (kept.has(name) || !isOver(name, prefix)) continue;
        await this.objects.delete(name);
        deleted += 1;
      }
      return deleted;
    };
    const manifests = await removeOver(manifestPrefix(shard), keptManifests);
    // SNS4: read after manifests are removed, because a branch refers to a snapshot and then looks for its manifest.
    for (const object of await referredObjects(this.objects)) keptSegments.add(object);
    return manifests + (await removeOver(segmentPrefix(shard), keptSegments));
  }
}

/** Every object that a manifest names. */
export function segmentsOf(manifest: Manifest): SegmentRef[] {
  return manifest.partitions.flatMap(segmentsOfPartition);
}

/** The segments of its state and of its bodies. */
export function segmentsOfPartition({ segments, bodySegments = [] }: ManifestPartition): SegmentRef[] {
  return [...segments, ...bodySegments.flatMap(({ bodies, index }) => [bodies, index])];
}

function manifestName(shard: ShardName, number: number): string {
  return `${manifestPrefix(shard)}${padded(number)}`;
}

function manifestPrefix(shard: ShardName): string {
  return `${shard}/manifest/`;
}

function segmentPrefix(shard: ShardName): string {
  return `${shard}/segment/`;
}

function padded(number: number): string {
  return String(number).padStart(NUMBER_DIGITS, '0');
}

function partitionDigits(partition: string): string {
  return createHash('sha256').update(partition, 'utf8').digest('hex').slice(0, PARTITION_DIGITS);
}

/** Compares the bytes with their digest, in steps of less than a millisecond. @throws JOURNAL_DAMAGED */
function* checked(bytes: Uint8Array, partition: PartitionName, ref: SegmentRef): Iterable<void> {
  const hash = createHash('sha256');
  for (let from = 0; from < bytes.length; from += HASH_SLICE_BYTES) {
    hash.update(bytes.subarray(from, from + HASH_SLICE_BYTES));
    yield;
  }
  if (!hash.digest().equals(ref.sha256)) throw notAsWritten('a segment has other bytes', partition, ref);
}

function notAsWritten(reason: string, partition: PartitionName, segment?: SegmentRef): MillraceError {
  return new MillraceError('JOURNAL_DAMAGED', `${partition}: ${reason}`, {
    partition,
    segment: segment?.object,
  });
}
