/**
 * The part of a branch's first state that stays in the journal of its origin: a segment which names a range of entries
 * instead of an object. Making such a branch reads and copies no entry.
 *
 *   journal/<shard>/<from>-<to>   its hash is that of the last entry, which the chain links to all others
 *
 *  BRJ1 a range is referred to from the end of a snapshot that still exists after the reference was stored, or from the
 *       journal's beginning while the shard has no snapshot. The front of a journal is removed after older snapshots are,
 *       and after the references are read, so no referred entry is removed
 *  BRJ2 before the front of a journal is removed, referred entries before that position are copied; the removal waits for
 *       those that could not be copied
 *  BRJ3 messages for the queue are left out: they are of the origin
 */
import { encodeManifest, NO_HASH, sha256 } from '../codec/envelope/index.js';
import { encodeCommand, RespCommandReader } from '../codec/resp/index.js';
import {
  assert,
  bufferOver,
  type DatabaseId,
  describeError,
  isMillraceError,
  MillraceError,
  type PartitionName,
  type ShardName,
} from '../kernel/index.js';
import type { Clock, Journal, JournalTail, Log, ObjectStore } from '../ports/index.js';
import { entrySections, type Manifest, type ManifestPartition, type SegmentRef } from '../protocol/index.js';
import type { AuditPorts } from './audit.js';
import { branchManifests, branchObject } from './branch-references.js';
import { Chain, type ChainHead } from './chain.js';
import { CollectedEffects } from './collected-effects.js';
import { readEntries } from './entry-reader.js';
import { journalEndAt } from './journal-end.js';
import type { PartitionFold } from './partition-fold.js';
import { positionBefore } from './position-at.js';
import { beginningFor } from './replay.js';
import { SnapshotStore, type StoredManifest } from './snapshot-store.js';

export interface BranchPorts extends AuditPorts {
  readonly clock: Clock;
}

export interface BranchRequest {
  readonly branch: DatabaseId;
  /** Of the origin, in order of index; `shards[i]` holds `partitions[i]`. */
  readonly partitions: readonly PartitionName[];
  readonly shards: readonly ShardName[];
  /** Undefined: now. */
  readonly atMs: number | undefined;
  /** The most bytes of one partition, because its owner stores it in one entry. */
  readonly maxPartitionBytes: number;
}

export interface ReferredState {
  readonly atMs: number;
  /** Bytes of all segments that it refers to, and of those copied. */
  readonly bytes: number;
  readonly copiedBytes: number;
}

interface JournalRange {
  readonly shard: ShardName;
  readonly from: number;
  readonly to: number;
}

const RANGE = /^journal\/([A-Z]+_\d+)\/(\d+)-(\d+)$/;

function rangeOf({ object }: SegmentRef): JournalRange | undefined {
  const [, shard, from, to] = RANGE.exec(object) ?? [];
  return shard === undefined ? undefined : { shard: shard as ShardName, from: Number(from), to: Number(to) };
}

/**
 * Stores the references of a branch without reading entries.
 * @returns undefined, without references, where entries have to be copied: the size of the partition is not surely within
 *          the bound, or its snapshots change (BRJ1)
 * @throws INVALID for a moment that is not kept; JOURNAL_DAMAGED, JOURNAL_UNAVAILABLE
 */
export async function referInPlace(ports: BranchPorts, request: BranchRequest): Promise<ReferredState | undefined> {
  const atMs = instantOf(ports, request);
  let bytes = 0;
  for (const shard of new Set(request.shards)) {
    const written = await referShard(ports, request, shard);
    if (written === undefined) return undefined;
    bytes += written;
  }
  return { atMs, bytes, copiedBytes: 0 };
}

/** @throws INVALID for a moment to come */
export function instantOf({ clock }: BranchPorts, { atMs }: BranchRequest): number {
  const nowMs = clock.nowMs();
  if (atMs === undefined || atMs <= nowMs) return atMs ?? nowMs;
  throw new MillraceError('INVALID', `${new Date(atMs).toISOString()} has not come yet`);
}

/** @returns the bytes referred to */
async function referShard(ports: BranchPorts, request: BranchRequest, shard: ShardName): Promise<number | undefined> {
  const { journal, objects, log } = ports;
  const { branch, partitions, shards, atMs, maxPartitionBytes } = request;
  const tail = await journal.tail(shard);
  const last = atMs === undefined ? tail.last : await lastAt(journal, shard, atMs);
  if (last === undefined) return undefined;
  const { head } = await journalEndAt(journal, shard, { ...tail, last });
  const { base } = await beginningFor(ports, shard, { kind: 'position', position: head.position }, new Set());
  if (base === undefined && (await hasSnapshot(ports, shard))) return undefined;
  const later = await laterSegment(ports, shard, tail, base, head);
  let bytes = 0;
  for (const [index, name] of partitions.entries()) {
    if (shards[index] !== shard) continue;
    const before = base?.manifest.partitions.find((partition) => partition.name === name)?.segments ?? [];
    const segments = [...before, ...later];
    const size = segments.reduce((sum, segment) => sum + segment.bytes, 0);
    if (size > maxPartitionBytes) return undefined;
    const state: ManifestPartition = { name, index: 0, hash: NO_HASH, keys: 0, digest: '', segments };
    await putOver(
      objects,
      branchObject(branch, index, 'manifest'),
      encodeManifest(manifestOf(ports, shard, head, state)),
    );
    bytes += size;
  }
  // BRJ1 (the snapshot still exists, or there is still none).
  const isStill =
    base === undefined ? !(await hasSnapshot(ports, shard)) : (await objects.get(base.name)) !== undefined;
  if (!isStill) log.debug('branch.snapshot-changed', { shard });
  return isStill ? bytes : undefined;
}

/** The last position at an instant; undefined: the journal does not go back so far, and a snapshot may. */
async function lastAt(journal: Journal, shard: ShardName, atMs: number): Promise<number | undefined> {
  try {
    return await positionBefore(journal, shard, atMs + 1);
  } catch (error) {
    if (isMillraceError(error, 'INVALID')) return undefined;
    throw error;
  }
}

/** One segment for the entries after the snapshot, with an upper bound of their bytes. */
async function laterSegment(
  { objects, log }: AuditPorts,
  shard: ShardName,
  { first, bytes }: JournalTail,
  base: StoredManifest | undefined,
  head: ChainHead,
): Promise<readonly SegmentRef[]> {
  const from = (base?.manifest.head.position ?? 0) + 1;
  if (from > head.position) return [];
  let bytesBefore = 0;
  if (base !== undefined) {
    for await (const { manifest } of new SnapshotStore(objects, log).newestFirst(shard)) {
      if (manifest.head.position < first - 1) break;
      bytesBefore = Math.max(bytesBefore, base.manifest.journalBytes - manifest.journalBytes);
    }
  }
  const object = `journal/${shard}/${from}-${head.position}`;
  return [{ object, bytes: Math.max(0, bytes - bytesBefore), sha256: head.hash }];
}

async function hasSnapshot({ objects }: AuditPorts, shard: ShardName): Promise<boolean> {
  return (await objects.list(`${shard}/manifest/`)).length > 0;
}

export interface BranchReading {
  readonly journal: Journal;
  readonly objects: ObjectStore;
  readonly log: Log;
}

/**
 * Fills an empty fold with the first state of a branch, with pauses.
 * @returns its effects, in blocks
 * @throws INVALID when it has more than `maxBytes`, JOURNAL_DAMAGED, JOURNAL_UNAVAILABLE
 */
export async function loadBranch(
  { journal, objects, log }: BranchReading,
  { name, segments }: ManifestPartition,
  fold: PartitionFold,
  maxBytes: number,
  pause: () => Promise<void>,
): Promise<Uint8Array[]> {
  const store = new SnapshotStore(objects, log);
  const blocks: Uint8Array[] = [];
  let bytes = 0;
  for (const segment of segments) {
    const range = rangeOf(segment);
    const parts = range === undefined ? [await store.readObject(name, segment, pause)] : undefined;
    for (const block of parts ?? (await rangeEffects(journal, name, segment, pause)).taken()) {
      bytes += block.length;
      if (bytes > maxBytes) {
        const message = `the first state of the branch has more than ${maxBytes} bytes, which can take a partition's place at once`;
        throw new MillraceError('INVALID', message, { partition: name });
      }
      for (const _ of fold.applyInSlices(block)) await pause();
      blocks.push(block);
    }
  }
  return blocks;
}

/** The effects of a partition in a range of the journal, checked by the chain up to its last entry. */
async function rangeEffects(
  journal: Journal,
  partition: PartitionName,
  segment: SegmentRef,
  pause: () => Promise<void>,
): Promise<CollectedEffects> {
  const range = rangeOf(segment);
  assert(range !== undefined, 'a segment that is no range', { object: segment.object });
  const { shard, from, to } = range;
  const collected = new CollectedEffects();
  const chain = new Chain(shard, undefined);
  for await (const { entry } of readEntries(journal, chain, from, to)) {
    for (const section of entrySections(entry)) {
      if (section.partition === partition) collected.add(withoutMessages(section.effects));
    }
    await pause();
  }
  if (chain.head.position !== to || Buffer.compare(chain.head.hash, segment.sha256) !== 0) {
    throw new MillraceError('JOURNAL_DAMAGED', 'the journal has other entries than a branch refers to', {
      shard,
      from,
      to,
    });
  }
  return collected;
}

/**
 * Copies referred entries of a shard before a position (BRJ2).
 * @returns the position below which no entry is referred to; at most `below`
 * @throws JOURNAL_UNAVAILABLE when the references cannot be read
 */
export async function copyReferred(ports: BranchPorts, shard: ShardName, below: number): Promise<number> {
  let lowest = below;
  for (const { database, index, manifest } of await branchManifests(ports.objects)) {
    const [state] = manifest.partitions;
    const range = state?.segments.map(rangeOf).find((one) => one?.shard === shard);
    if (state === undefined || range === undefined || range.from >= below) continue;
    try {
      const tail = branchObject(database, index, 'tail');
      const segments: SegmentRef[] = [];
      for (const segment of state.segments) {
        segments.push(rangeOf(segment) === undefined ? segment : await copied(ports, state.name, segment, tail));
      }
      const copy = manifestOf(ports, shard, manifest.head, { ...state, segments });
      await putOver(ports.objects, branchObject(database, index, 'copied'), encodeManifest(copy));
    } catch (error) {
      ports.log.warn('branch.not-copied', { database, shard, from: range.from, cause: describeError(error) });
      lowest = Math.min(lowest, range.from);
    }
  }
  return lowest;
}

async function copied(
  { journal, objects }: BranchPorts,
  partition: PartitionName,
  segment: SegmentRef,
  object: string,
): Promise<SegmentRef> {
  const effects = await rangeEffects(journal, partition, segment, async () => {});
  const bytes = Buffer.concat([...effects.taken()]);
  await putOver(objects, object, bytes);
  return { object, bytes: bytes.length, sha256: sha256(bytes) };
}

export function manifestOf(
  { clock }: BranchPorts,
  shard: ShardName,
  head: Manifest['head'],
  state: ManifestPartition,
): Manifest {
  const nowMs = clock.nowMs();
  const times = { createdAtMs: nowMs, headStoredAtMs: nowMs, journalBytes: 0 };
  return { shard, clusterId: '', head, partitions: [state], recentCommandIds: [], ...times };
}

const OF_QUEUE = 'QUEUE.';

/** BRJ3 (messages for the queue are left out). */
export function withoutMessages(effects: Uint8Array): Uint8Array {
  const bytes = bufferOver(effects);
  if (!bytes.includes(OF_QUEUE)) return effects;
  let kept = '';
  for (const words of new RespCommandReader(bytes)) if (!words[0]?.startsWith(OF_QUEUE)) kept += encodeCommand(words);
  return Buffer.from(kept, 'latin1');
}

/** A failed try may have left an object with this name. */
export async function putOver(objects: ObjectStore, name: string, bytes: Uint8Array): Promise<void> {
  try {
    await objects.put(name, bytes);
  } catch (error) {
    if (!isMillraceError(error, 'CONFLICT')) throw error;
    await objects.delete(name);
    await objects.put(name, bytes);
  }
}
