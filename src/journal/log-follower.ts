/**
 * Follows a journal or another log until it is stopped. The reader states its position and processes the messages; this
 * loop is the same for all logs.
 *
 *  LF1 messages are delivered in order, each once, without gaps; a missing one is damage, unless the log may lack some
 *  LF2 while a batch is processed no other one is delivered, and a bounded amount of the log waits in memory
 *  LF3 after a failure the reading begins again, after a pause, from the reader's position at that time, unless the
 *      reader ends it
 *  LF4 after a stop no message is delivered, and the loop ends without an error
 *  LF5 a message up to the known end that is neither delivered nor returned for ten seconds is reported
 */
import type { ShardName } from '../kernel/index.js';
import type { Journal, StoredMessage, Timer, Timers } from '../ports/index.js';
import { type BatchOptions, type Follow, inBatches, type Linger } from './log-batches.js';

export interface FollowingReader {
  readonly follow: Follow;
  /** Prepares the reader at the start and after every failure. @returns the position up to which it has everything */
  begin(signal: AbortSignal): Promise<number>;
  take(batch: readonly StoredMessage[], signal: AbortSignal): Promise<void> | void;
  /** Called when the log answers and has no message after the delivered ones. */
  idle?(): void;
  /** Called after a failure. @returns true to begin again */
  failed(error: unknown): boolean;
  /** The end up to which missing messages are reported (LF5). */
  readonly end?: KnownEnd | undefined;
}

/** The end of a log when following began. */
export interface KnownEnd {
  readonly journal: Pick<Journal, 'readAt'>;
  last(): number;
  /** The server counts the message at this position, and neither delivers nor returns it. */
  unreadable(position: number): void;
}

/** A late server returns its counted messages within an election and a reconnect; a damaged store never does. */
const UNREADABLE_MS = 10_000;

export interface LogFollowing extends Pick<BatchOptions, 'shard' | 'maxQueuedBytes' | 'mayLackSome' | 'aliveEveryMs'> {
  /** How long messages are gathered for one batch; undefined: the present messages are a batch. */
  readonly lingerMs?: number | undefined;
  /** Each ends the gathering early. */
  readonly awaited?: Linger['awaited'];
  readonly enoughBytes?: Linger['enoughBytes'];
  /** Pause after a failure. */
  readonly retryMs: number;
}

/** Resolves after a stop, or when the reader has given up. */
export async function followLog(
  timers: Timers,
  reader: FollowingReader,
  { lingerMs, awaited, enoughBytes, retryMs, ...following }: LogFollowing,
  signal: AbortSignal,
): Promise<void> {
  const linger = lingerMs === undefined ? undefined : { timers, ms: lingerMs, awaited, enoughBytes };
  const options = { ...following, linger, onIdle: () => reader.idle?.() };
  while (!signal.aborted) {
    let watch: EndWatch | undefined;
    try {
      const position = await reader.begin(signal);
      watch = reader.end && new EndWatch(timers, following.shard, reader.end, position);
      for await (const batch of inBatches(reader.follow, position + 1, options, signal)) {
        watch?.arrived(batch.at(-1)?.position ?? position);
        await reader.take(batch, signal);
      }
    } catch (error) {
      if (signal.aborted || !reader.failed(error)) return;
      await timers.pause(retryMs, signal);
    } finally {
      watch?.stop();
    }
  }
}

/** Reports missing messages (LF5); ends when everything up to the known end has arrived. */
class EndWatch {
  #timer: Timer | undefined;
  #hasMoved = false;

  constructor(
    timers: Timers,
    private readonly shard: ShardName,
    private readonly end: KnownEnd,
    private position: number,
  ) {
    if (position < end.last()) this.#timer = timers.every(UNREADABLE_MS, () => this.#look());
  }

  arrived(position: number): void {
    this.position = position;
    this.#hasMoved = true;
    if (position >= this.end.last()) this.stop();
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  async #look(): Promise<void> {
    const { position, end } = this;
    if (!this.#hasMoved) {
      const found = await end.journal.readAt(this.shard, position + 1).catch(() => NOTHING);
      if (found === undefined && !this.#hasMoved && this.#timer !== undefined) end.unreadable(position + 1);
    }
    this.#hasMoved = false;
  }
}

/** Used in place of a message that could not be requested. */
const NOTHING = new Uint8Array();
