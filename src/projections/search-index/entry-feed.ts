/** A shard's journal as entries that follow what a snapshot covers, each checked against the one before. */
import { EntryAssembler, type ReadEntry } from '../../codec/envelope/index.js';
import { Chain, type ChainHead, EMPTY_HEAD } from '../../journal/index.js';
import { MillraceError, type ShardName } from '../../kernel/index.js';
import type { StoredMessage } from '../../ports/index.js';

export class EntryFeed {
  readonly #assembler = new EntryAssembler();
  readonly #chain: Chain;
  #isFirst = true;

  /** @param head the last entry that is covered; `EMPTY_HEAD`: none */
  constructor(
    private readonly shard: ShardName,
    private readonly head: Pick<ChainHead, 'number' | 'hash'>,
  ) {
    // Sections are not checked from their beginning: their links in a manifest are of no use to a reader of a few.
    this.#chain = new Chain(shard, undefined);
  }

  /** @returns undefined for a part of an entry. @throws JOURNAL_DAMAGED */
  add({ position, bytes }: StoredMessage): ReadEntry | undefined {
    const read = this.#assembler.add(position, bytes);
    if (read === undefined) return undefined;
    if (this.#isFirst && !this.#follows(read)) {
      throw new MillraceError('JOURNAL_DAMAGED', `${this.shard}: an entry does not follow what is known`, {
        shard: this.shard,
        position,
        number: read.entry.number,
        after: this.head.number,
      });
    }
    this.#isFirst = false;
    this.#chain.follow(read);
    return read;
  }

  #follows({ entry }: ReadEntry): boolean {
    const { number, hash } = this.head;
    if (entry.number !== number + 1) return false;
    return number === EMPTY_HEAD.number || Buffer.compare(entry.previousHash, hash) === 0;
  }
}
