/**
 * Stores the first state of a branch: the segments of its origin's snapshot by reference, and a copy of the effects after
 * it. The usual way, without a copy, is in branch-journal.ts; this one is for moments and sizes that it cannot serve.
 *
 *  BRS1 a state has every entry up to one position of its shard: the last one at the given time, or every one that was
 *       acknowledged before the request
 *  BRS2 references are stored before the snapshot is looked up again. The removal of snapshots deletes manifests first
 *       and then reads the references, so that a referenced segment is never removed
 */
import { encodeManifest, NO_HASH, sha256 } from '../codec/envelope/index.js';
import { MillraceError, type PartitionName, type ShardName } from '../kernel/index.js';
import {
  entrySections,
  type Manifest,
  type ManifestPartition,
  type Moment,
  type SegmentRef,
} from '../protocol/index.js';
import type { AuditPorts } from './audit.js';
import { isAfter } from './audit-moment.js';
import {
  type BranchPorts,
  type BranchRequest,
  instantOf,
  manifestOf,
  putOver,
  type ReferredState,
  withoutMessages,
} from './branch-journal.js';
import { branchObject, removeReferences } from './branch-references.js';
import { CollectedEffects } from './collected-effects.js';
import { chainAfter, readEntries } from './entry-reader.js';
import { journalEndAt } from './journal-end.js';
import { beginningFor } from './replay.js';
import type { StoredManifest } from './snapshot-store.js';

/** A snapshot may be removed while it is being referred to. */
const TRIES = 5;

/**
 * The caller removes the objects of a request that failed.
 * @throws INVALID for a moment that is not kept, CONFLICT when a partition is too large; JOURNAL_DAMAGED,
 *         JOURNAL_UNAVAILABLE
 */
export async function referState(ports: BranchPorts, request: BranchRequest): Promise<ReferredState> {
  const atMs = instantOf(ports, request);
  let bytes = 0;
  let copiedBytes = 0;
  for (const shard of new Set(request.shards)) {
    const written = await referShard(ports, request, shard);
    bytes += written.bytes;
    copiedBytes += written.copiedBytes;
  }
  return { atMs, bytes, copiedBytes };
}

async function referShard(ports: BranchPorts, request: BranchRequest, shard: ShardName) {
  for (let tries = 1; ; tries += 1) {
    const moment = await momentOf(ports, request, shard);
    const { base, last } = await beginningFor(ports, shard, moment, new Set());
    const written = await new ShardReferences(ports, request, shard).write(base, moment, last);
    // BRS2 (the snapshot is looked up again).
    if (base === undefined || (await ports.objects.get(base.name)) !== undefined) return written;
    if (tries === TRIES) throw new MillraceError('JOURNAL_UNAVAILABLE', `${shard}: its snapshots change too often`);
    await removeReferences(ports.objects, request.branch);
  }
}

async function momentOf({ journal }: AuditPorts, { atMs }: BranchRequest, shard: ShardName): Promise<Moment> {
  if (atMs !== undefined) return { kind: 'time', atMs };
  const end = await journalEndAt(journal, shard, await journal.tail(shard));
  return { kind: 'position', position: end.head.position };
}

class ShardReferences {
  constructor(
    private readonly ports: BranchPorts,
    private readonly request: BranchRequest,
    private readonly shard: ShardName,
  ) {}

  async write(base: StoredManifest | undefined, moment: Moment, last: number) {
    const { partitions, shards } = this.request;
    const wanted = partitions.filter((_, index) => shards[index] === this.shard);
    const later = new Map(wanted.map((partition) => [partition, new CollectedEffects()]));
    const head = await this.#collect(base, moment, last, later);
    const before = new Map(base?.manifest.partitions.map((partition) => [partition.name, partition]));
    const sum = { bytes: 0, copiedBytes: 0 };
    for (const partition of wanted) {
      const collected = later.get(partition) as CollectedEffects;
      const written = await this.#writePartition(partition, before.get(partition), collected, head);
      sum.bytes += written.bytes;
      sum.copiedBytes += written.copiedBytes;
    }
    return sum;
  }

  /** @returns the last entry of the state */
  async #collect(
    base: StoredManifest | undefined,
    moment: Moment,
    last: number,
    later: ReadonlyMap<PartitionName, CollectedEffects>,
  ): Promise<Manifest['head']> {
    const { journal, log } = this.ports;
    const chain = chainAfter(this.shard, base?.manifest);
    let head: Manifest['head'] = chain.head;
    for await (const { entry, hash, position } of readEntries(journal, chain, head.position + 1, last)) {
      if (isAfter(position, entry.clockMs, moment)) break;
      for (const { partition, effects } of entrySections(entry)) later.get(partition)?.add(withoutMessages(effects));
      const { number, epoch, clockMs } = entry;
      head = { number, epoch, clockMs, hash, position };
    }
    log.debug('branch.collected', { shard: this.shard, position: head.position });
    return head;
  }

  async #writePartition(
    partition: PartitionName,
    base: ManifestPartition | undefined,
    later: CollectedEffects,
    head: Manifest['head'],
  ): Promise<{ bytes: number; copiedBytes: number }> {
    const { objects } = this.ports;
    const { branch, partitions, maxPartitionBytes } = this.request;
    const index = partitions.indexOf(partition);
    const bytes = (base?.segments ?? []).reduce((sum, segment) => sum + segment.bytes, 0) + later.bytes;
    if (bytes > maxPartitionBytes) {
      const message = `a partition of the database has ${bytes} bytes, and a branch can have at most ${maxPartitionBytes} in one`;
      throw new MillraceError('CONFLICT', message, { partition, bytes });
    }
    const segments: SegmentRef[] = [...(base?.segments ?? [])];
    if (later.bytes > 0) {
      const tail = Buffer.concat([...later.taken()]);
      const object = branchObject(branch, index, 'tail');
      await putOver(objects, object, tail);
      segments.push({ object, bytes: tail.length, sha256: sha256(tail) });
    }
    const state: ManifestPartition = { name: partition, index: 0, hash: NO_HASH, keys: 0, digest: '', segments };
    const manifest = manifestOf(this.ports, this.shard, head, state);
    await putOver(objects, branchObject(branch, index, 'manifest'), encodeManifest(manifest));
    return { bytes, copiedBytes: segments.length > (base?.segments.length ?? 0) ? (segments.at(-1)?.bytes ?? 0) : 0 };
  }
}
