/**
 * One pass over a shard's entries: numbers, hashes, epochs, clocks and the chains of sections, and whether what was
 * said elsewhere about single entries (by snapshots, leases, checkpoints) is true of them. It goes on behind a
 * finding: the next entry is taken at its word, and followed from there.
 */

import { EntryAssembler, type ReadEntry } from '../codec/envelope/index.js';
import { describeError, isMillraceError, type PartitionName, type ShardName } from '../kernel/index.js';
import { entrySections } from '../messages/index.js';
import { Chain, type ChainHead, EMPTY_HEAD } from './chain.js';
import { chainAfter } from './entry-reader.js';
import type { StoredManifest } from './snapshot-store.js';

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

/** A partition's last section at some entry. */
export interface SectionMark {
  readonly name: PartitionName;
  readonly index: number;
  readonly hash: Uint8Array;
}

/** An entry that somebody vouches for. */
export interface EntryMark {
  /** Who: `the lease`, `the checkpoint`. */
  readonly source: string;
  readonly number: number;
  readonly hash: Uint8Array;
  /** The position of the entry's last message. */
  readonly position: number;
  /** What every partition's chain had come to; left out: nothing is said of them. */
  readonly partitions?: readonly SectionMark[];
}

export type Anchor = 'beginning' | 'snapshot' | 'trusted';

/** A journal that is broken everywhere needs no longer list. */
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
  /** Manifests whose end is still to come. */
  readonly #expected: Map<number, StoredManifest>;
  readonly #marks: Set<EntryMark>;

  constructor(
    private readonly shard: ShardName,
    private readonly first: number,
    private readonly manifests: readonly StoredManifest[],
    marks: readonly EntryMark[],
  ) {
    // The front is cut right behind a snapshot: what it covers proves the first entry left.
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

  /** The last entry that was met. */
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
      this.find({ reason: describeError(error), position });
      this.#assembler = new EntryAssembler();
    }
    if (read !== undefined) this.#follow(read);
  }

  /** What comes next does not follow what was there before, which has been reported. */
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
    if (head.position !== position || !isEqual(head.hash, hash)) {
      this.find({ reason: `${stored.name} covers another entry than the one that is here`, position });
      return;
    }
    this.manifestsOnChain += 1;
    this.#compareSections(stored.name, stored.manifest.partitions, position);
  }

  #compareWithMark(mark: EntryMark, { hash, position }: ReadEntry): void {
    this.#marks.delete(mark);
    if (mark.position !== position || !isEqual(mark.hash, hash)) {
      const reason = `entry ${mark.number} is not the one that ${mark.source} has seen`;
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
      if (there !== undefined && there.index === link.number && isEqual(there.hash, link.hash)) continue;
      this.find({ reason: `${name} has another history of ${partition}`, position, partition });
    }
  }

  /**
   * What should have come and did not.
   * @returns marks of entries from before what is kept, which nothing here can be compared with
   */
  end(): EntryMark[] {
    const tooOld: EntryMark[] = [];
    const { number: last, position } = this.head;
    for (const mark of this.#marks) {
      const { number, source } = mark;
      const covering = this.manifests.find(({ manifest }) => manifest.head.number === number)?.manifest;
      if (covering !== undefined && number < this.firstNumber) {
        if (isEqual(covering.head.hash, mark.hash)) this.marksMet += 1;
        else this.find({ reason: `entry ${number} is not the one that ${source} has seen`, position: mark.position });
      } else if (this.entries > 0 && number < this.firstNumber) {
        tooOld.push(mark);
      } else if (number > last) {
        const reason = `${source} has seen entry ${number} at position ${mark.position}: the journal is shorter than it was, entry ${last} is its last`;
        this.find({ reason, position: position + 1 });
      } else {
        this.find({ reason: `${source} has seen entry ${number}, which is not here`, position: mark.position });
      }
    }
    for (const { name, manifest } of this.#expected.values()) {
      const { number } = manifest.head;
      this.find({
        reason: `${name} covers entry ${number}, which is not here`,
        position: number > last ? position + 1 : undefined,
      });
    }
    return tooOld;
  }
}

function isEqual(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}
