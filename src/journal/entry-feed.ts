/** A shard's journal, message by message, as entries that are each checked against the one before. */
import { EntryAssembler, type EntryReading, type ReadEntry, readAnew } from '../codec/envelope/index.js';
import { MillraceError, type ShardName } from '../kernel/index.js';
import type { StoredMessage } from '../ports/index.js';
import { Chain, type ChainLink } from './chain.js';

export class EntryFeed {
  readonly #assembler: EntryAssembler;
  #isFirst = true;

  /** @param onFirst is asked about the first entry, where the chain takes that at its word; it throws what is wrong */
  constructor(
    private readonly chain: Chain,
    private readonly onFirst: (read: ReadEntry) => void = () => {},
    reading?: EntryReading,
  ) {
    this.#assembler = new EntryAssembler(reading);
  }

  /** @returns undefined for a part of an entry. @throws JOURNAL_DAMAGED, and what `onFirst` throws */
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
 * Entries behind a link, for a reader that knows nothing else of what was before: sections are taken at their word.
 * @param refusal what is thrown when the first entry does not follow
 * @param reading another one where others read the same messages
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
