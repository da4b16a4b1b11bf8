/**
 * Verifies that snapshots agree with the journal. Each is folded again from the one before it, or from the journal's
 * beginning, and must have the same digests; the objects that it names must be readable and load to the same state.
 *
 *  AS1 a snapshot with a kept predecessor and kept entries is folded again; of the oldest one only the named objects
 *      can be verified
 *  AS2 memory is bounded by the largest partition, or by partitions that total `groupBytes` in their snapshots;
 *      entries are read again for each such group
 *  AS3 a segment is read at most twice, for any number of snapshots that name it: once to be verified, and once as the
 *      base of the partition's next change
 *  AS4 a snapshot that is removed during the audit is no damage
 */
import { describeError, isMillraceError, MillraceError, type PartitionName, type ShardName } from '../kernel/index.js';
import { entrySections, type ManifestPartition } from '../protocol/index.js';
import type { AuditOptions, AuditPorts } from './audit.js';
import { compareBodies, readBodies } from './audit-bodies.js';
import { type Finding, newerFinding } from './audit-chain.js';
import { chainAfter, readEntries } from './entry-reader.js';
import type { FoldFactory, PartitionFold } from './partition-fold.js';
import { SnapshotStore, type StoredManifest, segmentsOfPartition } from './snapshot-store.js';

export interface SnapshotAudit {
  /** The number of snapshots, and how many of them were folded again (AS1). */
  readonly snapshots: number;
  readonly refolded: number;
  /** Bytes of objects that were read. */
  readonly bytes: number;
  readonly findings: readonly Finding[];
}

export interface SnapshotAuditOptions extends Pick<AuditOptions, 'signal' | 'onProgress'> {
  readonly groupBytes?: number | undefined;
}

const DEFAULT_GROUP_BYTES = 128 * 1024 * 1024;

/** @throws JOURNAL_UNAVAILABLE, SHUTTING_DOWN when aborted; damage is reported, not thrown */
export async function verifySnapshots(
  ports: AuditPorts,
  shard: ShardName,
  foldFactory: FoldFactory,
  { signal, onProgress, groupBytes = DEFAULT_GROUP_BYTES }: SnapshotAuditOptions = {},
): Promise<SnapshotAudit> {
  const store = new SnapshotStore(ports.objects, ports.log);
  // The names are listed first: a snapshot written during the audit may be among the valid ones, and then must not be
  // reported as missing.
  const names = (await ports.objects.list(`${shard}/manifest/`)).map(({ name }) => name);
  const manifests: StoredManifest[] = [];
  for await (const stored of store.newestFirst(shard)) manifests.unshift(stored);
  const audit = new Audit(ports, shard, foldFactory, groupBytes, signal);
  const whole = new Set(manifests.map(({ name }) => name));
  for (const name of names) {
    if (!whole.has(name)) await audit.judge([name], async () => audit.find({ reason: `${name} is incomplete` }));
  }
  const { first } = await ports.journal.tail(shard);
  let before: StoredManifest | undefined;
  for (const [i, stored] of manifests.entries()) {
    await audit.judge([stored.name], () => audit.loads(stored, before));
    const from = (before?.manifest.head.position ?? 0) + 1;
    const pair = before === undefined ? [stored.name] : [before.name, stored.name];
    if (from >= first) await audit.judge(pair, () => audit.refold(before, stored));
    before = stored;
    onProgress?.({ shard, phase: 'snapshots', done: i + 1, total: manifests.length });
  }
  const { refolded, bytes, findings } = audit;
  return { snapshots: manifests.length, refolded, bytes, findings };
}

class Audit {
  readonly #store: SnapshotStore;
  readonly findings: Finding[] = [];
  refolded = 0;
  bytes = 0;

  constructor(
    private readonly ports: AuditPorts,
    private readonly shard: ShardName,
    private readonly foldFactory: FoldFactory,
    private readonly groupBytes: number,
    private readonly signal: AbortSignal | undefined,
  ) {
    this.#store = new SnapshotStore(ports.objects, ports.log);
  }

  find(finding: Finding): void {
    this.findings.push(finding);
  }

  /** Findings about snapshots count only while the snapshots exist (AS4). */
  async judge(names: readonly string[], question: () => Promise<void>): Promise<void> {
    const { refolded } = this;
    const known = this.findings.length;
    await question();
    if (this.findings.length === known) return;
    for (const name of names) {
      if (!(await this.#isGone(name))) continue;
      this.findings.splice(known);
      this.refolded = refolded;
    }
  }

  async #isGone(name: string): Promise<boolean> {
    try {
      return (await this.ports.objects.get(name)) === undefined;
    } catch (error) {
      if (isMillraceError(error, 'JOURNAL_DAMAGED')) return false;
      throw error;
    }
  }

  /** Checks that the named objects have their written bytes and load to the stated state. */
  async loads({ name, manifest }: StoredManifest, before: StoredManifest | undefined): Promise<void> {
    const known = new Map(before?.manifest.partitions.map((partition) => [partition.name, partition]));
    for (const partition of manifest.partitions) {
      this.#checkSignal();
      const earlier = known.get(partition.name);
      if (isSame(earlier, partition)) continue;
      await this.#attempt(name, partition.name, manifest.head.position, async () => {
        await this.#store.loadWhole(partition, this.foldFactory(partition.name), { checkDigest: true });
        await readBodies(this.#store, partition, earlier);
      });
      this.bytes += segmentsOfPartition(partition).reduce((sum, { bytes }) => sum + bytes, 0);
    }
  }

  /** Checks that the first snapshot and the entries between make the second one (AS1). */
  async refold(before: StoredManifest | undefined, next: StoredManifest): Promise<void> {
    const base = new Map(before?.manifest.partitions.map((partition) => [partition.name, partition]));
    const { head, partitions } = next.manifest;
    const named = new Set(partitions.map(({ name }) => name));
    for (const name of base.keys()) {
      if (named.has(name)) continue;
      this.find({ reason: `${next.name} lacks ${name}`, position: head.position, partition: name });
    }
    const changed = partitions.filter((partition) => !isSame(base.get(partition.name), partition));
    for (const group of inGroups(changed, this.groupBytes)) {
      await this.#attempt(next.name, undefined, head.position, () => this.#refoldGroup(before, next, base, group));
    }
    this.refolded += 1;
  }

  async #refoldGroup(
    before: StoredManifest | undefined,
    next: StoredManifest,
    base: ReadonlyMap<PartitionName, ManifestPartition>,
    group: readonly ManifestPartition[],
  ): Promise<void> {
    const folds = new Map<PartitionName, PartitionFold>();
    for (const { name } of group) {
      const fold = this.foldFactory(name);
      const earlier = base.get(name);
      if (earlier !== undefined) await this.#store.loadWhole(earlier, fold);
      folds.set(name, fold);
    }
    const chain = chainAfter(this.shard, before?.manifest);
    const { position } = next.manifest.head;
    for await (const { entry } of readEntries(this.ports.journal, chain, chain.head.position + 1, position)) {
      this.#checkSignal();
      for (const { partition, effects } of entrySections(entry)) folds.get(partition)?.apply(effects);
    }
    for (const partition of group) {
      const { name, keys, digest } = partition;
      const fold = folds.get(name) as PartitionFold;
      if (fold.size !== keys || fold.digest() !== digest) {
        this.find({
          reason: `${next.name} has another state of ${name} than its entries give`,
          position,
          partition: name,
        });
      }
      if (fold.bodies === undefined) continue;
      for (const reason of await compareBodies(this.#store, base.get(name), partition, fold.bodies)) {
        this.find({ reason: `${next.name}: ${reason}`, position, partition: name });
      }
    }
  }

  async #attempt(
    name: string,
    partition: PartitionName | undefined,
    position: number,
    work: () => Promise<void>,
  ): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!isMillraceError(error) || !(await this.#isDamage(error, position))) throw error;
      const at = error.details.position;
      this.find({
        reason: `${name} cannot be proven: ${describeError(error)}`,
        position: typeof at === 'number' ? at : position,
        partition,
        ...newerFinding(error),
      });
    }
  }

  async #isDamage({ code }: MillraceError, position: number): Promise<boolean> {
    // A server that does not return the last wanted message lets its readers wait until their time limit.
    if (code === 'JOURNAL_UNAVAILABLE') return (await this.ports.journal.readAt(this.shard, position)) === undefined;
    return code === 'JOURNAL_DAMAGED' || code === 'NEWER_FORMAT' || code === 'DEFECT';
  }

  #checkSignal(): void {
    if (this.signal?.aborted === true) throw new MillraceError('SHUTTING_DOWN', 'the audit was interrupted');
  }
}

/** True for identical objects: one verification covers both. */
function isSame(one: ManifestPartition | undefined, other: ManifestPartition): boolean {
  if (one === undefined || one.index !== other.index || one.digest !== other.digest) return false;
  const [ours, theirs] = [segmentsOfPartition(one), segmentsOfPartition(other)];
  return (
    ours.length === theirs.length &&
    ours.every(({ object, sha256 }, i) => {
      const there = theirs[i];
      return there?.object === object && Buffer.compare(there.sha256, sha256) === 0;
    })
  );
}

function* inGroups(partitions: readonly ManifestPartition[], groupBytes: number): Iterable<ManifestPartition[]> {
  let group: ManifestPartition[] = [];
  let bytes = 0;
  for (const partition of partitions) {
    const size = segmentsOfPartition(partition).reduce((sum, segment) => sum + segment.bytes, 0);
    if (group.length > 0 && bytes + size > groupBytes) {
      yield group;
      group = [];
      bytes = 0;
    }
    group.push(partition);
    bytes += size;
  }
  if (group.length > 0) yield group;
}
