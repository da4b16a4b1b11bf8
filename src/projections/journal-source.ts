/**
 * Reads a shard's journal for a read model's file: entries, each checked against the previous one.
 *
 *  JS1 an entry that does not follow the checkpoint is never folded; without a checkpoint, or with one that names no
 *      entry, the first entry left is accepted unchecked
 */
import { type ReadEntry, readOnce } from '../codec/envelope/index.js';
import { Chain, EMPTY_HEAD, EntryFeed, entriesBehind } from '../journal/index.js';
import { MillraceError, type ShardName } from '../kernel/index.js';
import type { StoredMessage } from '../ports/index.js';
import type { Checkpoint } from './checkpoint.js';
import { type FoldTransaction, type FollowedSource, OtherJournal } from './shard-follower.js';

/** A file that folds entries. */
export interface EntryModel {
  /** Folds entries that follow the checkpoint, in one transaction. */
  apply(shard: ShardName, entries: readonly ReadEntry[], before: Checkpoint): ReturnType<FoldTransaction['apply']>;
}

/** Shared by all folds of a thread, most of which are at the same position. */
const reading = readOnce();

export class JournalSource implements FollowedSource {
  readonly noHash = EMPTY_HEAD.hash;

  constructor(
    readonly shard: ShardName,
    private readonly model: EntryModel,
    /** Bytes of effects that one transaction folds: some tens of milliseconds. */
    private readonly batchBytes: number,
    readonly restore: () => Promise<Checkpoint>,
  ) {}

  reader(after: Checkpoint): (batch: readonly StoredMessage[]) => Iterable<FoldTransaction> {
    const entries = this.#entriesBehind(after);
    return (batch) => this.#transactions(entries, batch);
  }

  *#transactions(entries: EntryFeed, batch: readonly StoredMessage[]): Iterable<FoldTransaction> {
    let reads: ReadEntry[] = [];
    let bytes = 0;
    for (const message of batch) {
      const read = entries.add(message);
      if (read === undefined) continue;
      reads.push(read);
      bytes += read.totalBytes;
      if (bytes < this.batchBytes) continue;
      yield this.#transaction(reads, message);
      reads = [];
      bytes = 0;
    }
    if (reads.length > 0) yield this.#transaction(reads, batch.at(-1) as StoredMessage);
  }

  #transaction(reads: readonly ReadEntry[], { storedAtMs }: StoredMessage): FoldTransaction {
    return { storedAtMs, apply: (before) => this.model.apply(this.shard, reads, before) };
  }

  /** JS1 (an entry that does not follow the checkpoint is never folded). */
  #entriesBehind({ entry: number, hash, hasGap }: Checkpoint): EntryFeed {
    const { shard } = this;
    if (number === 0 && hasGap) return new EntryFeed(new Chain(shard, undefined, [], reading), undefined, reading);
    const refusal = ({ position }: ReadEntry) =>
      number > 0
        ? new OtherJournal(`an entry of ${shard} does not follow the one folded before`)
        : new MillraceError('JOURNAL_DAMAGED', `${shard}: the journal does not begin with its first entry`, {
            shard,
            position,
          });
    return entriesBehind(shard, { number, hash }, refusal, reading);
  }
}
