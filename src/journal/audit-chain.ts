/**
 * Verifies a shard's entries in one pass: numbers, hashes, epochs, clocks, the chains of sections, and the statements
 * of snapshots, leases and checkpoints about single entries. After a finding it trusts the next entry and continues
 * from there.
 */

import { EntryAssembler, type ReadEntry } from '../codec/envelope/index.js';
import { describeError, isMillraceError, type PartitionName, type ShardName } from '../kernel/index.js';
import { entrySections } from '../protocol/index.js';
import { Chain, type ChainHead, EMPTY_HEAD, isSameHash } from './chain.js';
import { chainAfter } from './entry-reader.js';
import type { StoredManifest } from './snapshot-store.js';

export interface Finding {
  readonly reason: string;
  readonly position?: number | undefined;
  readonly partition?: PartitionName | undefined;
  /** True when the data is not damaged, but written by a newer release. */
  readonly isNewer?: true;
}

export function newerFinding(error: unknown): Pick<Finding, 'isNewer'> {
  return isMillraceError(error, 'NEWER_FORMAT') ? { isNewer: true } : {};
}

export interface PartitionAudit {
  /** The number of sections, and the index of the last one. */
  sections: number;
  lastIndex: number;
}

/** A partition's last section at some entry. */
export interface SectionMark {
  readonly name: PartitionName;
  readonly index: number;
  readonly hash: Uint8Array;
}

/** An entry for which a lease, a checkpoint or a snapshot vouches. */
export interface EntryMark {
  /** The voucher: `the lease`, `the checkpoint`. */
  readonly source: string;
  readonly number: number;
  readonly hash: Uint8Array;
  /** The position of the entry's last message. */
  readonly position: number;
  /** The last section of every partition; undefined: not stated. */
  readonly partitions?: readonly SectionMark[];
}

export type Anchor = 'beginning' | 'snapshot' | 'trusted';

/** A journal that is damaged everywhere needs no longer list. */
const MAX_FINDINGS = 100;

export class ChainAudit {
  readonly findings: Finding[] = [];
  readonly partitions = new Map<PartitionName, PartitionAudit>();
  entries = 0;
  firstNumber = 0;
  manifestsOnChain = 0;
  marksMet = 0;
  readonly #anchor: StoredManifest | undefined;
  #assembler = new EntryAssembler();
  #chain: Chain;
  #head: ChainHead;
  /** Manifests with an end that was not reached yet. */
  readonly #expected: Map<number, StoredManifest>;
  readonly #marks: Set<EntryMark>;

  constructor(
    private readonly shard: ShardName,
    private readonly first: number,
    private readonly manifests: readonly StoredManifest[],
    marks: readonly EntryMark[],
  ) {
    // The journal begins directly after a snapshot, which proves its first entry.
    this.#anchor = first === 1 ? undefined : manifests.find(({ manifest }) => manifest.head.position === first - 1);
    this.#chain =
      this.#anchor === undefined
        ? new Chain(shard, first === 1 ? EMPTY_HEAD : undefined)
        : chainAfter(shard, this.#anchor.manifest);
    this.#head = this.#chain.head;
    this.#expected = new Map(
      manifests.filter(({ manifest }) => manifest.head.position >= first).map((m) => [m.manifest.head.number, m]),
    );
    this.#marks = new Set(marks);
  }

  get isFull(): boolean {
    return this.findings.length >= MAX_FINDINGS;
  }

  /** The last entry read. */
  get head(): ChainHead {
    return this.#head;
  }

  get anchoredBy(): Anchor {
    if (this.first === 1) return 'beginning';
    return this.#anchor === undefined ? 'trusted' : 'snapshot';
  }

  find(finding: Finding): void {
    if (!this.isFull) this.findings.push(finding);
  }

  add(position: number, bytes: Uint8Array): void {
    let read: ReadEntry | undefined;
    try {
      read = this.#assembler.add(position, bytes);
    } catch (error) {
      this.find({ reason: describeError(error), position, ...newerFinding(error) });
      if (isMillraceError(error, 'NEWER_FORMAT')) this.skip();
      else this.#assembler = new EntryAssembler();
    }
    if (read !== undefined) this.#follow(read);
  }

  /** The next entry need not follow the last one; that fault has been reported. */
  skip(): void {
    this.#assembler = new EntryAssembler();
    this.#chain = new Chain(this.shard, undefined);
  }

  #follow(read: ReadEntry): void {
    try {
      this.#chain.follow(read);
    } catch (error) {
      if (!isMillraceError(error, 'JOURNAL_DAMAGED')) throw error;
      const partition = error.details.partition as PartitionName | undefined;
      this.find({ reason: describeError(error), position: read.position, partition });
      this.#chain = new Chain(this.shard, undefined);
      if (read.entry.shard === this.shard) this.#chain.follow(read);
    }
    this.#head = this.#chain.head;
    const { entry } = read;
    if (this.entries === 0) this.firstNumber = entry.number;
    this.entries += 1;
    for (const { partition, index } of entrySections(entry)) {
      const known = this.partitions.get(partition);
      if (known === undefined) this.partitions.set(partition, { sections: 1, lastIndex: index });
      else {
        known.sections += 1;
        known.lastIndex = index;
      }
    }
    this.#compareWithManifest(read);
    for (const mark of this.#marks) if (mark.number === entry.number) this.#compareWithMark(mark, read);
  }

  #compareWithManifest({ entry, hash, position }: ReadEntry): void {
    const stored = this.#expected.get(entry.number);
    if (stored === undefined) return;
    this.#expected.delete(entry.number);
    const { head } = stored.manifest;
    if (head.position !== position || !isSameHash(head.hash, hash)) {
      this.find({ reason: `${stored.name} covers another entry than the stored one`, position });
      return;
    }
    this.manifestsOnChain += 1;
    this.#compareSections(stored.name, stored.manifest.partitions, position);
  }

  #compareWithMark(mark: EntryMark, { hash, position }: ReadEntry): void {
    this.#marks.delete(mark);
    if (mark.position !== position || !isSameHash(mark.hash, hash)) {
      const reason = `entry ${mark.number} differs from the one that ${mark.source} recorded`;
      this.find({ reason, position });
      return;
    }
    this.marksMet += 1;
    if (mark.partitions !== undefined) this.#compareSections(mark.source, mark.partitions, position);
  }

  #compareSections(name: string, covered: readonly SectionMark[], position: number): void {
    const byName = new Map(covered.map((partition) => [partition.name, partition]));
    for (const [partition, link] of this.#chain.sections()) {
      const there = byName.get(partition);
      if (there !== undefined && there.index === link.number && isSameHash(there.hash, link.hash)) continue;
      this.find({ reason: `${name} has another history of ${partition}`, position, partition });
    }
  }

  /**
   * Reports expected entries that were missing.
   * @returns marks of entries older than the journal's first, which cannot be compared
   */
  end(): EntryMark[] {
    const tooOld: EntryMark[] = [];
    const { number: last, position } = this.head;
    for (const mark of this.#marks) {
      const { number, source } = mark;
      const covering = this.manifests.find(({ manifest }) => manifest.head.number === number)?.manifest;
      if (covering !== undefined && number < this.firstNumber) {
        if (isSameHash(covering.head.hash, mark.hash)) this.marksMet += 1;
        else
          this.find({
            reason: `entry ${number} differs from the one that ${source} recorded`,
            position: mark.position,
          });
      } else if (this.entries > 0 && number < this.firstNumber) {
        tooOld.push(mark);
      } else if (number > last) {
        const reason = `${source} recorded entry ${number} at position ${mark.position}: the journal is shorter than before, its last entry is ${last}`;
        this.find({ reason, position: position + 1 });
      } else {
        this.find({ reason: `${source} recorded entry ${number}, which is missing`, position: mark.position });
      }
    }
    for (const { name, manifest } of this.#expected.values()) {
      const { number } = manifest.head;
      this.find({
        reason: `${name} covers entry ${number}, which is missing`,
        position: number > last ? position + 1 : undefined,
      });
    }
    return tooOld;
  }
}
