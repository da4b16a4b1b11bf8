/**
 * Snapshots of the statistics in the object store: `statistics/manifest/<position of the meter's log>` and the segments
 * that it names, `statistics/segment/<position>-<writer>-<n>`. Any process may write one, several also at the same
 * time.
 *
 *  STS1 a manifest is valid only when it decodes and all its segments exist with their full length; an invalid one is
 *       logged and skipped
 *  STS2 a manifest is written after every object that it names was read back as it was written
 *  STS3 the two newest valid ones and all newer objects stay; the meter's log may be removed below the older of the
 *       two (`coveredUpTo`), so a single one removes no records
 */
import { sha256 } from '../codec/envelope/index.js';
import {
  decodeStatisticsManifest,
  decodeStatisticsSegment,
  encodeStatisticsManifest,
  encodeStatisticsSegment,
  type StatisticsSegment,
} from '../codec/statistics/index.js';
import { describeError, isMillraceError, MillraceError } from '../kernel/index.js';
import type { Log, ObjectStore } from '../ports/index.js';
import { METER_SHARD, type SegmentRef, type StatisticsManifest } from '../protocol/index.js';

/** Separate from the names of shards, in which old snapshots are removed. */
const STATISTICS_PREFIX = 'statistics/';
const MANIFESTS = `${STATISTICS_PREFIX}manifest/`;
const SEGMENTS = `${STATISTICS_PREFIX}segment/`;
/** Digits of a position in a name, so that names sort as numbers do; 2^53 has 16. */
const POSITION_DIGITS = 16;
const KEPT = 2;

export interface StoredStatistics {
  /** Name of the object. */
  readonly name: string;
  readonly manifest: StatisticsManifest;
}

export class StatisticsSnapshots {
  constructor(
    private readonly objects: ObjectStore,
    private readonly log: Log,
  ) {}

  /** Names of manifests, valid or not, the newest first. Cheap. @throws JOURNAL_UNAVAILABLE */
  async names(): Promise<string[]> {
    return (await this.objects.list(MANIFESTS))
      .map(({ name }) => name)
      .sort()
      .reverse();
  }

  /** Every valid one (STS1), the newest first. @throws JOURNAL_UNAVAILABLE */
  async *newestFirst(): AsyncGenerator<StoredStatistics> {
    const names = await this.names();
    if (names.length === 0) return;
    const lengths = new Map((await this.objects.list(SEGMENTS)).map(({ name, bytes }) => [name, bytes]));
    for (const name of names) {
      const stored = await this.#read(name, lengths);
      if (stored !== undefined) yield stored;
    }
  }

  /** @throws JOURNAL_UNAVAILABLE */
  async newest(): Promise<StoredStatistics | undefined> {
    for await (const stored of this.newestFirst()) return stored;
    return undefined;
  }

  async #read(name: string, lengths: ReadonlyMap<string, number>): Promise<StoredStatistics | undefined> {
    try {
      const bytes = await this.objects.get(name);
      // Between list and get another process may have removed it.
      if (bytes === undefined) return undefined;
      const manifest = decodeStatisticsManifest(bytes);
      if (statisticsManifestName(meterPositionOf(manifest)) !== name) throw damaged('it has the name of another', name);
      const missing = manifest.segments.find((segment) => lengths.get(segment.object) !== segment.bytes);
      if (missing !== undefined) throw damaged('a segment is missing or incomplete', missing.object);
      return { name, manifest };
    } catch (error) {
      if (!isMillraceError(error, 'JOURNAL_DAMAGED')) throw error;
      this.log.error('statistics.snapshot-refused', { manifest: name, reason: describeError(error) });
      return undefined;
    }
  }

  /** The segments that a manifest names, one by one. @throws JOURNAL_DAMAGED, JOURNAL_UNAVAILABLE */
  async *segments({ segments }: StatisticsManifest): AsyncGenerator<StatisticsSegment> {
    for (const ref of segments) yield await decodeStatisticsSegment(await this.#bytesOf(ref));
  }

  /** @param writer  distinguishes the segments of one position. @throws JOURNAL_UNAVAILABLE */
  async writeSegment(position: number, writer: string, n: number, segment: StatisticsSegment): Promise<SegmentRef> {
    const bytes = await encodeStatisticsSegment(segment);
    const object = `${SEGMENTS}${padded(position)}-${writer}-${n}`;
    await this.objects.put(object, bytes);
    return { object, bytes: bytes.length, sha256: sha256(bytes) };
  }

  /**
   * Reads back all segments, then writes the manifest (STS2). @throws JOURNAL_UNAVAILABLE; JOURNAL_DAMAGED when an
   * object cannot be read back; CONFLICT: another process was faster
   */
  async writeManifest(manifest: StatisticsManifest): Promise<StoredStatistics> {
    for (const ref of manifest.segments) await this.#bytesOf(ref);
    const name = statisticsManifestName(meterPositionOf(manifest));
    const bytes = encodeStatisticsManifest(manifest);
    await this.objects.put(name, bytes);
    const found = await this.objects.get(name);
    if (found === undefined || Buffer.compare(found, bytes) !== 0) throw damaged('it does not read back', name);
    return { name, manifest };
  }

  /** Deletes the segments of an abandoned snapshot. @throws JOURNAL_UNAVAILABLE */
  async discard(segments: readonly SegmentRef[]): Promise<void> {
    for (const { object } of segments) await this.objects.delete(object);
  }

  /**
   * Removes old objects (STS3). Manifests are deleted first, so that one without its segments never looks complete.
   * @throws JOURNAL_UNAVAILABLE
   */
  async prune(keep: readonly StoredStatistics[]): Promise<void> {
    const newest = keep[0]?.name.slice(MANIFESTS.length);
    if (newest === undefined) return;
    const kept = new Set(
      keep.flatMap(({ name, manifest }) => [name, ...manifest.segments.map(({ object }) => object)]),
    );
    for (const prefix of [MANIFESTS, SEGMENTS]) {
      for (const { name } of await this.objects.list(prefix)) {
        // Newer objects may belong to a snapshot that is being written.
        const isOver = name.slice(prefix.length, prefix.length + POSITION_DIGITS) <= newest;
        if (isOver && !kept.has(name)) await this.objects.delete(name);
      }
    }
  }

  async #bytesOf({ object, sha256: digest }: SegmentRef): Promise<Uint8Array> {
    const bytes = await this.objects.get(object);
    if (bytes === undefined) throw damaged('a segment is gone', object);
    if (Buffer.compare(sha256(bytes), digest) !== 0) throw damaged('a segment has other bytes', object);
    return bytes;
  }
}

/** The snapshots that stay. @param stored  the valid ones, the newest first */
export function keptStatistics(stored: readonly StoredStatistics[]): readonly StoredStatistics[] {
  return stored.slice(0, KEPT);
}

/**
 * The position up to which the meter's log is in two snapshots; 0: it is not (STS3). @param stored the valid ones, the
 * newest first
 */
export function coveredUpTo(stored: readonly StoredStatistics[]): number {
  const older = stored[KEPT - 1];
  return older === undefined ? 0 : meterPositionOf(older.manifest);
}

/** @throws JOURNAL_DAMAGED when it has no position of the meter's log */
export function meterPositionOf({ marks }: StatisticsManifest): number {
  const mark = marks.find(({ shard }) => shard === METER_SHARD);
  if (mark === undefined) throw damaged('it does not say how far the meter was counted', METER_SHARD);
  return mark.position;
}

function statisticsManifestName(position: number): string {
  return `${MANIFESTS}${padded(position)}`;
}

function padded(position: number): string {
  return String(position).padStart(POSITION_DIGITS, '0');
}

function damaged(reason: string, object: string): MillraceError {
  return new MillraceError('JOURNAL_DAMAGED', `a snapshot of the statistics: ${reason}`, { object });
}
