/**
 * Proves a shard's history, or says where it does not hold: numbers, hashes, epochs and clocks of entries,
 * the chain of every partition's sections, positions without a gap, and that snapshots end on this chain.
 * It goes on behind a finding, so that one report shows all of them.
 */
import { EntryAssembler, type ReadEntry } from '../codec/envelope/index.js';
import { describeError, isMillraceError, MillraceError, type PartitionName, type ShardName } from '../kernel/index.js';
import type { Manifest } from '../messages/index.js';
import type { Journal, Log, ObjectStore } from '../ports/index.js';
import { Chain, type ChainHead, EMPTY_HEAD } from './chain.js';
import { chainAfter } from './entry-reader.js';
import { SnapshotStore, type StoredManifest } from './snapshot-store.js';

export interface AuditPorts {
  readonly journal: Journal;
  readonly objects: ObjectStore;
  readonly log: Log;
}

export interface Finding {
  readonly reason: string;
  readonly position?: number | undefined;
  readonly partition?: PartitionName | undefined;
}

export interface PartitionAudit {
  /** Sections met, and the index of the last one. */
  sections: number;
  lastIndex: number;
}

export interface ShardAudit {
  readonly shard: ShardName;
  readonly firstPosition: number;
  readonly lastPosition: number;
  readonly entries: number;
  readonly firstNumber: number;
  readonly head: ChainHead;
  /** `beginning`: from entry 1; `snapshot`: from where a snapshot ends; `trusted`: the first entry had to be believed. */
  readonly anchoredBy: 'beginning' | 'snapshot' | 'trusted';
  /** Manifests whose end was found on the chain. */
  readonly manifestsOnChain: number;
  readonly partitions: ReadonlyMap<PartitionName, PartitionAudit>;
  readonly findings: readonly Finding[];
}

/** A journal that is broken everywhere needs no longer list. */
const MAX_FINDINGS = 100;

/** Reads all of the shard's journal. @throws JOURNAL_UNAVAILABLE, SHUTTING_DOWN when aborted; damage is reported, not thrown */
export async function verifyShard(
  ports: AuditPorts,
  shard: ShardName,
  { signal }: { signal?: AbortSignal } = {},
): Promise<ShardAudit> {
  const manifests: StoredManifest[] = [];
  for await (const stored of new SnapshotStore(ports.objects, ports.log).newestFirst(shard)) manifests.push(stored);
  const tail = await ports.journal.tail(shard);
  const audit = new Audit(shard, tail.first, manifests);
  if (tail.holes > 0) audit.find({ reason: `${tail.holes} messages are missing in the middle` });
  try {
    if (tail.last >= tail.first) {
      for await (const { position, bytes } of ports.journal.read(shard, tail.first, tail.last)) {
        audit.add(position, bytes);
        if (audit.isFull) break;
        if (signal?.aborted === true) throw new MillraceError('SHUTTING_DOWN', 'the audit was interrupted');
      }
    }
  } catch (error) {
    if (!isMillraceError(error, 'JOURNAL_DAMAGED')) throw error;
    audit.find({ reason: describeError(error) });
  }
  return audit.end(tail.first, tail.last);
}

class Audit {
  readonly #findings: Finding[] = [];
  readonly #partitions = new Map<PartitionName, PartitionAudit>();
  readonly #anchor: StoredManifest | undefined;
  #assembler = new EntryAssembler();
  #chain: Chain;
  #entries = 0;
  #firstNumber = 0;
  #manifestsOnChain = 0;
  /** Manifests whose end is still to come. */
  readonly #expected: Map<number, StoredManifest>;

  constructor(
    private readonly shard: ShardName,
    private readonly first: number,
    manifests: readonly StoredManifest[],
  ) {
    // The front is cut right behind a snapshot: what it covers proves the first entry left.
    this.#anchor = first === 1 ? undefined : manifests.find(({ manifest }) => manifest.head.position === first - 1);
    this.#chain = this.#anchor === undefined ? this.#freshChain() : chainAfter(shard, this.#anchor.manifest);
    this.#expected = new Map(
      manifests.filter(({ manifest }) => manifest.head.position >= first).map((m) => [m.manifest.head.number, m]),
    );
  }

  get isFull(): boolean {
    return this.#findings.length >= MAX_FINDINGS;
  }

  find(finding: Finding): void {
    if (!this.isFull) this.#findings.push(finding);
  }

  add(position: number, bytes: Uint8Array): void {
    let read: ReadEntry | undefined;
    try {
      read = this.#assembler.add(position, bytes);
    } catch (error) {
      this.find({ reason: describeError(error), position });
      this.#assembler = new EntryAssembler();
    }
    if (read !== undefined) this.#follow(read);
  }

  #follow(read: ReadEntry): void {
    try {
      this.#chain.follow(read);
    } catch (error) {
      if (!isMillraceError(error, 'JOURNAL_DAMAGED')) throw error;
      const partition = error.details.partition as PartitionName | undefined;
      this.find({ reason: describeError(error), position: read.position, partition });
      // Behind a break the next entry is taken at its word, and followed from there.
      this.#chain = new Chain(this.shard, undefined);
      if (read.entry.shard === this.shard) this.#chain.follow(read);
    }
    const { entry } = read;
    if (this.#entries === 0) this.#firstNumber = entry.number;
    this.#entries += 1;
    if (entry.body.kind === 'batch') {
      for (const { partition, index } of entry.body.sections) {
        const known = this.#partitions.get(partition);
        if (known === undefined) this.#partitions.set(partition, { sections: 1, lastIndex: index });
        else {
          known.sections += 1;
          known.lastIndex = index;
        }
      }
    }
    this.#compareWithManifest(read);
  }

  #compareWithManifest({ entry, hash, position }: ReadEntry): void {
    const stored = this.#expected.get(entry.number);
    if (stored === undefined) return;
    this.#expected.delete(entry.number);
    const { head } = stored.manifest;
    if (head.position !== position || Buffer.compare(head.hash, hash) !== 0) {
      this.find({ reason: `${stored.name} covers another entry than the one that is here`, position });
      return;
    }
    this.#manifestsOnChain += 1;
    this.#compareSections(stored.name, stored.manifest, position);
  }

  #compareSections(name: string, manifest: Manifest, position: number): void {
    const covered = new Map(manifest.partitions.map((partition) => [partition.name, partition]));
    for (const [partition, link] of this.#chain.sections()) {
      const there = covered.get(partition);
      if (there !== undefined && there.index === link.number && Buffer.compare(there.hash, link.hash) === 0) continue;
      this.find({ reason: `${name} has another history of ${partition}`, position, partition });
    }
  }

  end(firstPosition: number, lastPosition: number): ShardAudit {
    if (!this.isFull) {
      for (const { name, manifest } of this.#expected.values()) {
        this.find({ reason: `${name} covers entry ${manifest.head.number}, which is not here` });
      }
    }
    return {
      shard: this.shard,
      firstPosition,
      lastPosition,
      entries: this.#entries,
      firstNumber: this.#firstNumber,
      head: this.#chain.head,
      anchoredBy: this.first === 1 ? 'beginning' : this.#anchor === undefined ? 'trusted' : 'snapshot',
      manifestsOnChain: this.#manifestsOnChain,
      partitions: this.#partitions,
      findings: this.#findings,
    };
  }

  #freshChain(): Chain {
    return new Chain(this.shard, this.first === 1 ? EMPTY_HEAD : undefined);
  }
}

/** What of a shard's audit concerns one partition: its own sections, and whatever is not known to concern only others. */
export function auditOfPartition(
  audit: ShardAudit,
  partition: PartitionName,
): PartitionAudit & { readonly findings: Finding[] } {
  const { sections, lastIndex } = audit.partitions.get(partition) ?? { sections: 0, lastIndex: 0 };
  const findings = audit.findings.filter(
    (finding) => finding.partition === undefined || finding.partition === partition,
  );
  return { sections, lastIndex, findings };
}

export async function verifyPartition(
  ports: AuditPorts,
  shard: ShardName,
  partition: PartitionName,
): Promise<PartitionAudit & { readonly findings: Finding[] }> {
  return auditOfPartition(await verifyShard(ports, shard), partition);
}
