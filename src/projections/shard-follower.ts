/**
 * Folds one journal, or another log, into a read model's file, from its checkpoint until it is stopped.
 *
 *  SF1 an entry that does not follow the checkpoint is never folded
 *  SF2 after a failure folding starts again from the checkpoint after a pause; only `OtherJournal` and a damaged file
 *      end it, because then the whole file is useless
 */
import { type FollowingReader, followLog } from '../journal/index.js';
import { describeError, type ShardName } from '../kernel/index.js';
import type { Clock, StoredMessage } from '../ports/index.js';
import { SqlFailure } from '../ports/index.js';
import type { Checkpoint } from './checkpoint.js';
import { Progress, type ShardLag, unreadableAt } from './progress.js';
import type { RestorePorts } from './snapshot-restore.js';

export interface ShardFollowerPorts extends RestorePorts {
  readonly clock: Clock;
}

/** The file to fold into. */
export interface FollowedModel {
  checkpoint(shard: ShardName): Checkpoint | undefined;
  setCheckpoint(shard: ShardName, checkpoint: Checkpoint): void;
  /** Resolves when the file may be changed again; undefined: it may now. */
  whenFree?(): Promise<void> | undefined;
}

/** Readers that wait for folding. */
export interface FollowerReaders {
  /** More has been folded. */
  wake?(): void;
  /** Whether a reader waits. Absent where readers never wait. */
  isAwaited?(): boolean;
}

/** The log to fold, and the conversion of its messages into transactions. */
export interface FollowedSource {
  readonly shard: ShardName;
  /** The hash in a checkpoint without an entry. */
  readonly noHash: Uint8Array;
  /**
   * Called when the front of the log is gone: restores the state from another source.
   * @returns the checkpoint to continue from
   */
  restore(known: Checkpoint, first: number): Promise<Checkpoint>;
  /** A function that turns successive batches after a checkpoint into transactions. */
  reader(after: Checkpoint): (batch: readonly StoredMessage[]) => Iterable<FoldTransaction>;
}

export interface FoldTransaction {
  /** The time at which its last message was stored. */
  readonly storedAtMs: number;
  /** @returns the new checkpoint, and the number of added rows for the status */
  apply(before: Checkpoint): { readonly after: Checkpoint; readonly rows: number };
}

export interface FollowerOptions {
  /** The model's name in log lines. */
  readonly model: string;
  /** The time to collect entries for one transaction, if fewer come than it holds. */
  readonly lingerMs: number;
  /** The same while a reader waits, where the model knows its readers. */
  readonly awaitedLingerMs: number;
  /** Bytes of effects that one transaction folds: some tens of milliseconds. */
  readonly batchBytes: number;
  /** Bytes of the journal held in memory when the file is slower. */
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

/** The log is not the one of the checkpoint, or cannot be followed from there. */
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

  /** The folded position. */
  get position(): number {
    return this.#progress.position;
  }

  get hasGap(): boolean {
    return this.#hasGap;
  }

  get lag(): ShardLag {
    return this.#progress.lag;
  }

  /** Milliseconds since it was last known to have all; undefined: it has no data yet. */
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

  /** The reason why folding is stopped at the moment. */
  get trouble(): string | undefined {
    return this.#progress.trouble;
  }

  /** @returns the reason to discard the whole file; undefined after a stop */
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
          await timers.yieldToEventLoop();
          if (signal.aborted) return;
        }
      },
      idle: () => this.#progress.idle(),
      end: { journal, last: () => this.#progress.lastAtStart, unreadable: (position) => this.#lacksEnd(position) },
      failed: (error) => {
        whyUseless = this.#heldUp(error);
        return whyUseless === undefined;
      },
    };
    const { isAwaited } = this.readers;
    // A start also waits until all entries stored before it are folded.
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

  /**
   * SF2 (only `OtherJournal` and a damaged file end the folding).
   * @returns the reason to discard the file; undefined: it is tried again
   */
  #heldUp(error: unknown): string | undefined {
    if (error instanceof OtherJournal) return error.message;
    const reason = describeError(error);
    if (error instanceof SqlFailure && error.isDamaged) return reason;
    this.#tellHeldUp(reason);
    return undefined;
  }

  #lacksEnd(position: number): void {
    if (this.trouble === undefined) this.#tellHeldUp(unreadableAt(position));
  }

  #tellHeldUp(reason: string): void {
    this.#progress.trouble = reason;
    this.ports.log.warn('read-model.held-up', { model: this.options.model, shard: this.shard, reason });
  }

  async #beginning(): Promise<Checkpoint> {
    const { shard, model } = this;
    const { first, last, createdAt } = await this.ports.journal.tail(shard);
    const known = model.checkpoint(shard);
    if (known !== undefined && known.createdAt !== createdAt) {
      throw new OtherJournal(`the journal ${shard} was deleted and created again`);
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
