/**
 * Folds one shard's journal into a read model, from its checkpoint on and for as long as it is not stopped.
 *
 *  SF1 the chain is checked: an entry that does not follow the checkpoint is never folded
 *  SF2 what fails is begun again from the checkpoint after a pause; only `OTHER_JOURNAL` and damage of the file end it,
 *      because then the file as a whole is of no use
 */
import { EntryAssembler, type ReadEntry } from '../codec/envelope/index.js';
import { Chain, EMPTY_HEAD } from '../journal/index.js';
import { describeError, MillraceError, type ShardName } from '../kernel/index.js';
import type { Clock, StoredMessage } from '../ports/index.js';
import { SqlFailure } from '../ports/index.js';
import { follow } from './bounded-feed.js';
import type { Checkpoint } from './checkpoint.js';
import { Progress, type ShardLag } from './progress.js';
import type { RestorePorts } from './snapshot-restore.js';

export interface FollowerPorts extends RestorePorts {
  readonly clock: Clock;
}

/** What a journal is folded into. */
export interface FollowedModel {
  checkpoint(shard: ShardName): Checkpoint | undefined;
  /** Folds entries that follow the checkpoint, in one transaction. @returns rows added, for a person to see that it goes on */
  apply(shard: ShardName, entries: readonly ReadEntry[], before: Checkpoint): { after: Checkpoint; rows: number };
  setCheckpoint(shard: ShardName, checkpoint: Checkpoint): void;
  /** Where it must not be changed at the moment: until it may be. */
  whenFree?(): Promise<void> | undefined;
}

export interface FollowerOptions {
  /** Of the model, in a line of the log. */
  readonly model: string;
  /** How long entries are gathered for one transaction. */
  readonly lingerMs: number;
  /** Of effects in one transaction: some tens of milliseconds. */
  readonly batchBytes: number;
  /** Of a journal held in memory when the file is slower. */
  readonly maxQueuedBytes: number;
  readonly retryMs: number;
}

export const DEFAULT_FOLLOWER_OPTIONS: Omit<FollowerOptions, 'model'> = {
  lingerMs: 25,
  batchBytes: 256 * 1024,
  maxQueuedBytes: 4 * 1024 * 1024,
  retryMs: 1000,
};

/** The stream is not the one that the checkpoint is of. */
class OtherJournal extends Error {}

export class ShardFollower {
  readonly #progress: Progress;
  #lastAtStart = 0;
  #hasGap = false;
  #isCaughtUp = false;
  #rows = 0;

  constructor(
    private readonly ports: FollowerPorts,
    private readonly store: FollowedModel,
    /** Where the journal's front is gone: takes over what else is known. @returns where to go on */
    private readonly restore: (shard: ShardName) => Promise<Checkpoint>,
    readonly shard: ShardName,
    private readonly options: FollowerOptions,
    private readonly onProgress: () => void,
  ) {
    this.#progress = new Progress(ports.clock);
  }

  /** Position up to which everything is folded. */
  get position(): number {
    return this.#progress.position;
  }

  get hasGap(): boolean {
    return this.#hasGap;
  }

  get lag(): ShardLag {
    return this.#progress.lag;
  }

  /** Since when it has not been known to have everything, milliseconds; undefined: it has nothing yet. */
  get ageMs(): number | undefined {
    return this.#progress.ageMs;
  }

  /** Has folded what was stored when it began. */
  get isCaughtUp(): boolean {
    return this.#isCaughtUp;
  }

  /** Rows since the start. */
  get rows(): number {
    return this.#rows;
  }

  /** Why nothing is folded at the moment. */
  get trouble(): string | undefined {
    return this.#progress.trouble;
  }

  /** @returns the reason why the whole file has to be discarded; undefined when it was stopped */
  async run(signal: AbortSignal): Promise<string | undefined> {
    while (!signal.aborted) {
      try {
        await this.#followFromCheckpoint(signal);
      } catch (error) {
        if (signal.aborted) return undefined;
        if (error instanceof OtherJournal) return error.message;
        if (error instanceof SqlFailure && error.isDamaged) return describeError(error);
        const reason = describeError(error);
        this.#progress.trouble = reason;
        const { model } = this.options;
        this.ports.log.warn('read-model.held-up', { model, shard: this.shard, reason });
        await this.ports.timers.pause(this.options.retryMs);
      }
    }
    return undefined;
  }

  async #followFromCheckpoint(signal: AbortSignal): Promise<void> {
    const { journal, timers } = this.ports;
    const { shard, options } = this;
    let checkpoint = await this.#beginning();
    const entries = new EntryReader(shard, checkpoint);
    const { lingerMs, maxQueuedBytes } = options;
    const onIdle = () => this.#progress.idle();
    for await (const batch of follow(journal, timers, shard, checkpoint.position + 1, {
      signal,
      lingerMs,
      maxQueuedBytes,
      onIdle,
    })) {
      const newest = batch.at(-1) as StoredMessage;
      for (const { reads, storedAtMs } of entries.inTransactions(batch, options.batchBytes)) {
        for (let busy = this.store.whenFree?.(); busy !== undefined; busy = this.store.whenFree?.()) await busy;
        if (signal.aborted) return;
        const { after, rows } = this.store.apply(shard, reads, checkpoint);
        checkpoint = after;
        this.#rows += rows;
        this.#progress.knownLast = Math.max(this.#progress.knownLast, newest.position);
        this.#progress.folded(after.position, storedAtMs);
        this.#stand(after);
        await timers.breathe();
        if (signal.aborted) return;
      }
    }
  }

  async #beginning(): Promise<Checkpoint> {
    const { shard, store } = this;
    const tail = await this.ports.journal.tail(shard);
    const known = store.checkpoint(shard);
    if (known !== undefined && known.createdAt !== tail.createdAt) {
      throw new OtherJournal(`the journal ${shard} is another one than before`);
    }
    const { createdAt } = tail;
    let checkpoint = known ?? { createdAt, position: 0, entry: 0, hash: EMPTY_HEAD.hash, clockMs: 0, hasGap: false };
    if (checkpoint.position + 1 < tail.first) {
      checkpoint = await this.restore(shard);
      store.setCheckpoint(shard, checkpoint);
    }
    this.#lastAtStart = tail.last;
    this.#progress.begins(checkpoint.position, tail.last, checkpoint.clockMs);
    this.#stand(checkpoint);
    return checkpoint;
  }

  #stand({ position, hasGap }: Checkpoint): void {
    this.#hasGap = hasGap;
    if (position >= this.#lastAtStart) this.#isCaughtUp = true;
    this.onProgress();
  }
}

/** Messages → entries that follow the checkpoint. */
class EntryReader {
  readonly #assembler = new EntryAssembler();
  readonly #chain: Chain;
  #isFirst = true;

  constructor(
    private readonly shard: ShardName,
    private readonly checkpoint: Checkpoint,
  ) {
    this.#chain = new Chain(shard, undefined);
  }

  *inTransactions(
    messages: readonly StoredMessage[],
    batchBytes: number,
  ): Iterable<{ readonly reads: readonly ReadEntry[]; readonly storedAtMs: number }> {
    let reads: ReadEntry[] = [];
    let bytes = 0;
    for (const message of messages) {
      const read = this.#add(message);
      if (read === undefined) continue;
      reads.push(read);
      bytes += read.totalBytes;
      if (bytes < batchBytes) continue;
      yield { reads, storedAtMs: message.storedAtMs };
      reads = [];
      bytes = 0;
    }
    if (reads.length > 0) yield { reads, storedAtMs: messages.at(-1)?.storedAtMs ?? 0 };
  }

  /** @throws JOURNAL_DAMAGED, OtherJournal */
  #add({ position, bytes }: StoredMessage): ReadEntry | undefined {
    const read = this.#assembler.add(position, bytes);
    if (read === undefined) return undefined;
    if (this.#isFirst) this.#checkFirst(read);
    this.#isFirst = false;
    this.#chain.follow(read);
    return read;
  }

  /** Without a checkpoint, or with none that names an entry, the first one is taken at its word. */
  #checkFirst({ entry, position }: ReadEntry): void {
    const { entry: number, hash, hasGap } = this.checkpoint;
    if (number === 0 && hasGap) return;
    if (entry.number === number + 1 && Buffer.compare(entry.previousHash, hash) === 0) return;
    if (number > 0) throw new OtherJournal(`an entry of ${this.shard} does not follow the one folded before`);
    throw new MillraceError('JOURNAL_DAMAGED', `${this.shard}: the journal does not begin with its first entry`, {
      shard: this.shard,
      position,
    });
  }
}
