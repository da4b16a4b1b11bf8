/** Turns a shard's messages into entries, each checked against the one before. */
import { EntryAssembler, type EntryReading, type ReadEntry, readAnew } from '../codec/envelope/index.js';
import { MillraceError, type ShardName } from '../kernel/index.js';
import type { StoredMessage } from '../ports/index.js';
import { Chain, type ChainLink } from './chain.js';

export class EntryFeed {
  readonly #assembler: EntryAssembler;
  #isFirst = true;

  /** @param onFirst  checks the first entry, where the chain trusts it; throws its fault */
  constructor(
    private readonly chain: Chain,
    private readonly onFirst: (read: ReadEntry) => void = () => {},
    reading?: EntryReading,
  ) {
    this.#assembler = new EntryAssembler(reading);
  }

  /** @returns undefined for a part of an entry. @throws JOURNAL_DAMAGED, and the errors of `onFirst` */
  add({ position, bytes }: StoredMessage): ReadEntry | undefined {
    const read = this.#assembler.add(position, bytes);
    if (read === undefined) return undefined;
    if (this.#isFirst) this.onFirst(read);
    this.#isFirst = false;
    this.chain.follow(read);
    return read;
  }
}

/**
 * Entries after a link, for a reader that knows no earlier state: sections are trusted.
 * @param refusal  makes the error when the first entry does not follow
 * @param reading  given when other readers share the messages
 */
export function entriesBehind(
  shard: ShardName,
  { number, hash }: ChainLink,
  refusal: (read: ReadEntry) => Error = (read) => notFollowing(shard, number, read),
  reading: EntryReading = readAnew,
): EntryFeed {
  const onFirst = (read: ReadEntry) => {
    const { entry } = read;
    if (entry.number !== number + 1 || Buffer.compare(entry.previousHash, hash) !== 0) throw refusal(read);
  };
  return new EntryFeed(new Chain(shard, undefined, [], reading), onFirst, reading);
}

function notFollowing(shard: ShardName, after: number, { entry, position }: ReadEntry): MillraceError {
  const details = { shard, position, number: entry.number, after };
  return new MillraceError('JOURNAL_DAMAGED', `${shard}: an entry does not follow what is known`, details);
}
