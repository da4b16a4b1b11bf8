/**
 * Folds one journal, or another log, into a read model's file, from its checkpoint on and for as long as it is not stopped.
 *
 *  SF1 what does not follow the checkpoint is never folded
 *  SF2 what fails is begun again from the checkpoint after a pause; only `OtherJournal` and damage of the file end it,
 *      because then the file as a whole is of no use
 */
import { type FollowingReader, followLog } from '../journal/index.js';
import { describeError, type ShardName } from '../kernel/index.js';
import type { Clock, StoredMessage } from '../ports/index.js';
import { SqlFailure } from '../ports/index.js';
import type { Checkpoint } from './checkpoint.js';
import { Progress, type ShardLag } from './progress.js';
import type { RestorePorts } from './snapshot-restore.js';

export interface ShardFollowerPorts extends RestorePorts {
  readonly clock: Clock;
}

/** The file that it is folded into. */
export interface FollowedModel {
  checkpoint(shard: ShardName): Checkpoint | undefined;
  setCheckpoint(shard: ShardName, checkpoint: Checkpoint): void;
  /** Where it must not be changed at the moment: until it may be. */
  whenFree?(): Promise<void> | undefined;
}

/** Whoever waits for what is folded. */
export interface FollowerReaders {
  /** More is folded. */
  wake?(): void;
  /** Does somebody wait? Undefined where nobody ever does. */
  isAwaited?(): boolean;
}

/** What is folded: how its messages become what the file takes. */
export interface FollowedSource {
  readonly shard: ShardName;
  /** What stands in a checkpoint for the hash of no entry. */
  readonly noHash: Uint8Array;
  /** Where its front is gone: takes over what else is known. @returns where to go on */
  restore(known: Checkpoint, first: number): Promise<Checkpoint>;
  /** What follows a checkpoint, batch after batch, a transaction's worth at a time. */
  reader(after: Checkpoint): (batch: readonly StoredMessage[]) => Iterable<FoldTransaction>;
}

export interface FoldTransaction {
  /** When its last message was stored. */
  readonly storedAtMs: number;
  /** @returns also the rows that were added, for a person to see that it goes on */
  apply(before: Checkpoint): { readonly after: Checkpoint; readonly rows: number };
}

export interface FollowerOptions {
  /** The name of the model in lines of the log. */
  readonly model: string;
  /** How long entries are gathered for one transaction, where not as many come as that takes. */
  readonly lingerMs: number;
  /** The same while somebody waits for them, where the model knows of that. */
  readonly awaitedLingerMs: number;
  /** The bytes of effects that one transaction folds: some tens of milliseconds. */
  readonly batchBytes: number;
  /** What of a journal may be held in memory when the file is slower. */
  readonly maxQueuedBytes: number;
  readonly retryMs: number;
}

export const DEFAULT_FOLLOWER_OPTIONS: Omit<FollowerOptions, 'model'> = {
  lingerMs: 250,
  awaitedLingerMs: 25,
  batchBytes: 256 * 1024,
  maxQueuedBytes: 4 * 1024 * 1024,
  retryMs: 1000,
};

/** The log is not the one that the checkpoint is of, or cannot be followed from there. */
export class OtherJournal extends Error {}

export class ShardFollower {
  readonly shard: ShardName;
  readonly #progress: Progress;
  #hasGap = false;
  #rows = 0;

  constructor(
    private readonly ports: ShardFollowerPorts,
    private readonly model: FollowedModel,
    private readonly source: FollowedSource,
    private readonly options: FollowerOptions,
    private readonly readers: FollowerReaders = {},
  ) {
    this.shard = source.shard;
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

  get isCaughtUp(): boolean {
    return this.#progress.isCaughtUp;
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
    const { journal, timers } = this.ports;
    const { shard, options } = this;
    let checkpoint: Checkpoint;
    let transactions: ReturnType<FollowedSource['reader']>;
    let whyUseless: string | undefined;
    const reader: FollowingReader = {
      follow: (from, follower) => journal.follow(shard, from, follower),
      begin: async () => {
        checkpoint = await this.#beginning();
        transactions = this.source.reader(checkpoint);
        return checkpoint.position;
      },
      take: async (batch) => {
        const newest = batch.at(-1) as StoredMessage;
        for (const transaction of transactions(batch)) {
          for (let busy = this.model.whenFree?.(); busy !== undefined; busy = this.model.whenFree?.()) await busy;
          if (signal.aborted) return;
          checkpoint = this.#fold(transaction, checkpoint, newest);
          await timers.breathe();
          if (signal.aborted) return;
        }
      },
      idle: () => this.#progress.idle(),
      failed: (error) => {
        whyUseless = this.#heldUp(error);
        return whyUseless === undefined;
      },
    };
    const { isAwaited } = this.readers;
    // A start waits too, until what was stored before it is folded.
    const awaited = isAwaited && { everyMs: options.awaitedLingerMs, is: () => !this.isCaughtUp || isAwaited() };
    const { batchBytes: enoughBytes } = options;
    await followLog(timers, reader, { ...options, awaited, enoughBytes, shard }, signal);
    return whyUseless;
  }

  #fold({ storedAtMs, apply }: FoldTransaction, before: Checkpoint, newest: StoredMessage): Checkpoint {
    const { after, rows } = apply(before);
    this.#rows += rows;
    this.#progress.folded(after.position, storedAtMs, newest.position);
    this.readers.wake?.();
    return after;
  }

  /** SF2. @returns why the file is of no use; undefined: it is, later */
  #heldUp(error: unknown): string | undefined {
    if (error instanceof OtherJournal) return error.message;
    const reason = describeError(error);
    if (error instanceof SqlFailure && error.isDamaged) return reason;
    this.#progress.trouble = reason;
    this.ports.log.warn('read-model.held-up', { model: this.options.model, shard: this.shard, reason });
    return undefined;
  }

  async #beginning(): Promise<Checkpoint> {
    const { shard, model } = this;
    const { first, last, createdAt } = await this.ports.journal.tail(shard);
    const known = model.checkpoint(shard);
    if (known !== undefined && known.createdAt !== createdAt) {
      throw new OtherJournal(`the journal ${shard} is another one than before`);
    }
    let checkpoint = known ?? { createdAt, position: 0, entry: 0, hash: this.source.noHash, clockMs: 0, hasGap: false };
    if (checkpoint.position + 1 < first) {
      checkpoint = await this.source.restore(checkpoint, first);
      model.setCheckpoint(shard, checkpoint);
    }
    this.#progress.begins(checkpoint.position, last, checkpoint.clockMs);
    this.#hasGap = checkpoint.hasGap;
    this.readers.wake?.();
    return checkpoint;
  }
}
