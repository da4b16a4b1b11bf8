/**
 * Checks the chain of a shard while its journal is read: numbers without a gap, in each entry the hash of the one
 * before, epochs and clocks that never fall, and the same for every partition's sections.
 *
 * A reader that starts from a snapshot begins with the snapshot's link. Where the front was removed and no older link
 * is known, the first entry is trusted.
 */

import { type EntryReading, NO_HASH, type ReadEntry, readAnew } from '../codec/envelope/index.js';
import { MillraceError, type PartitionName, type ShardName } from '../kernel/index.js';
import { entrySections } from '../protocol/index.js';

export interface ChainLink {
  readonly number: number;
  readonly hash: Uint8Array;
}

export interface ChainHead extends ChainLink {
  readonly epoch: number;
  readonly clockMs: number;
  /** Position of the entry's last message. */
  readonly position: number;
}

export const EMPTY_HEAD: ChainHead = { number: 0, hash: NO_HASH, epoch: 0, clockMs: 0, position: 0 };

export class Chain {
  #head: ChainHead | undefined;
  readonly #sections = new Map<PartitionName, ChainLink>();

  /** @param head  undefined: the first entry is trusted, and so is each partition's first section */
  constructor(
    readonly shard: ShardName,
    head: ChainHead | undefined,
    sections: Iterable<readonly [PartitionName, ChainLink]> = [],
    private readonly reading: Pick<EntryReading, 'sectionHash'> = readAnew,
  ) {
    this.#head = head;
    for (const [partition, link] of sections) this.#sections.set(partition, link);
    this.trustsUnknownSections = head === undefined;
  }

  private readonly trustsUnknownSections: boolean;

  get head(): ChainHead {
    return this.#head ?? EMPTY_HEAD;
  }

  sectionLink(partition: PartitionName): ChainLink {
    return this.#sections.get(partition) ?? { number: 0, hash: NO_HASH };
  }

  sections(): ReadonlyMap<PartitionName, ChainLink> {
    return this.#sections;
  }

  /** Checks one more entry. @throws JOURNAL_DAMAGED naming the fault */
  follow(read: ReadEntry): void {
    const { entry, hash, position } = read;
    const head = this.#head;
    if (entry.shard !== this.shard) throw this.#damage('an entry belongs to another shard', read);
    if (head !== undefined) {
      if (entry.number !== head.number + 1) throw this.#damage('an entry does not have the next number', read);
      if (!isSameHash(entry.previousHash, head.hash))
        throw this.#damage('an entry does not have the hash of the one before', read);
      if (entry.epoch < head.epoch) throw this.#damage('an epoch is lower than the one before', read);
      if (entry.epoch > head.epoch && entry.body.kind !== 'claim')
        throw this.#damage('an epoch does not begin with a claim', read);
      if (entry.clockMs < head.clockMs) throw this.#damage('a clock is earlier than the one before', read);
    }
    for (const section of entrySections(entry)) {
      const link = this.#sections.get(section.partition);
      if (link !== undefined || !this.trustsUnknownSections) {
        const before = link ?? { number: 0, hash: NO_HASH };
        if (section.index !== before.number + 1 || !isSameHash(section.previousHash, before.hash)) {
          throw this.#damage('a section is not the next one of its partition', read, { partition: section.partition });
        }
      }
      this.#sections.set(section.partition, { number: section.index, hash: this.reading.sectionHash(section) });
    }
    this.#head = { number: entry.number, hash, epoch: entry.epoch, clockMs: entry.clockMs, position };
  }

  #damage(reason: string, read: ReadEntry, details: Record<string, unknown> = {}): MillraceError {
    const { entry, position } = read;
    return new MillraceError('JOURNAL_DAMAGED', `${this.shard}: ${reason}`, {
      shard: this.shard,
      position,
      number: entry.number,
      epoch: entry.epoch,
      after: this.#head?.number,
      ...details,
    });
  }
}

export function isSameHash(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}
