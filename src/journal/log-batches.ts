/**
 * Delivers a log's messages in batches. A reader slower than the log holds a bounded amount in memory: above the bound
 * the subscription pauses until the batches have been taken.
 */
import { MillraceError, type ShardName } from '../kernel/index.js';
import type { JournalFollower, StoredMessage, Subscription, Timers } from '../ports/index.js';

/** Lets one reader wait until there is room for more. The code that makes room, or ends the reading, calls `look`. */
export class Gate {
  #look = (): void => {};

  async until(isOpen: () => boolean): Promise<void> {
    while (!isOpen()) {
      await new Promise<void>((resolve) => {
        this.#look = resolve;
      });
    }
  }

  /** Lets the waiting reader check its condition again. */
  look(): void {
    this.#look();
  }
}

/** The subscription of one log, from its port. */
export type Follow = (from: number, follower: JournalFollower) => Subscription;

export interface Linger {
  readonly timers: Timers;
  readonly ms: number;
  /** This many bytes are a batch, without waiting for more. */
  readonly enoughBytes?: number | undefined;
  /** Checked regularly: true when a caller needs the present messages immediately. */
  readonly awaited?: { readonly everyMs: number; is(): boolean } | undefined;
}

export interface BatchOptions {
  /** The name of the log in errors. */
  readonly shard: ShardName;
  readonly maxQueuedBytes: number;
  /** How long the first message of a batch waits for others; undefined: the present messages are a batch. */
  readonly linger?: Linger | undefined;
  /** True when removed messages of the log were processed already, so positions may be missing. */
  readonly mayLackSome?: boolean | undefined;
  /** How often the log has to give a sign of life; undefined: the log's default. */
  readonly aliveEveryMs?: number | undefined;
  /** Called when the log answers, has no newer message, and every message was delivered. */
  readonly onIdle?: (() => void) | undefined;
}

/**
 * Everything stored from `from` on, until aborted; never an empty batch.
 * @throws JOURNAL_DAMAGED when the next message was removed or lost; the errors of `onIdle`
 */
export async function* inBatches(
  follow: Follow,
  from: number,
  options: BatchOptions,
  signal: AbortSignal,
): AsyncGenerator<readonly StoredMessage[]> {
  const queue = new BatchQueue(follow, from, options);
  const onAbort = () => queue.interrupt();
  signal.addEventListener('abort', onAbort);
  try {
    while (!signal.aborted) {
      if (!(await queue.fill())) continue;
      if (signal.aborted) return;
      yield queue.take();
    }
  } finally {
    signal.removeEventListener('abort', onAbort);
    queue.stop();
  }
}

class BatchQueue implements JournalFollower {
  #messages: StoredMessage[] = [];
  #bytes = 0;
  #subscription: Subscription | undefined;
  /** Thrown after the messages that arrived before it were delivered. */
  #failure: unknown;
  #wake = () => {};
  /** The log has no message after those that arrived. */
  #isAtEnd = false;
  /** Ends the wait for further messages when the batch is full or no more are wanted. */
  #enough = new AbortController();

  constructor(
    private readonly follow: Follow,
    private next: number,
    private readonly options: BatchOptions,
  ) {}

  get aliveEveryMs(): number | undefined {
    return this.options.aliveEveryMs;
  }

  /** Subscribes, unless too much waits. @returns true when there is a batch. @throws when the log has failed */
  async fill(): Promise<boolean> {
    const { maxQueuedBytes, linger } = this.options;
    if (this.#messages.length === 0 && this.#failure !== undefined) throw this.#failure;
    if (this.#failure === undefined && this.#bytes <= maxQueuedBytes) {
      this.#subscription ??= this.follow(this.next, this);
    }
    if (this.#messages.length === 0) {
      if (this.#isAtEnd && this.#failure === undefined) this.options.onIdle?.();
      this.#isAtEnd = false;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = () => {};
      return false;
    }
    if (this.#subscription !== undefined && linger !== undefined) await this.#gather(linger);
    return true;
  }

  async #gather({ timers, ms, awaited }: Linger): Promise<void> {
    const { signal } = this.#enough;
    for (let leftMs = ms; leftMs > 0 && !signal.aborted; ) {
      const stepMs = Math.min(leftMs, awaited?.everyMs ?? ms);
      await timers.pause(stepMs, signal);
      if (awaited?.is()) return;
      leftMs -= stepMs;
    }
  }

  take(): readonly StoredMessage[] {
    const batch = this.#messages;
    this.#messages = [];
    this.#bytes = 0;
    this.#enough = new AbortController();
    return batch;
  }

  onMessage(message: StoredMessage): void {
    const { shard, maxQueuedBytes, mayLackSome = false, linger } = this.options;
    // A stopped subscription may still deliver messages in transit.
    if (message.position < this.next || this.#subscription === undefined) return;
    if (message.position > this.next && !mayLackSome) {
      this.#fail(missing(shard, this.next));
      return;
    }
    this.next = message.position + 1;
    this.#isAtEnd = false;
    this.#messages.push(message);
    this.#bytes += message.bytes.length;
    const isFull = this.#bytes > maxQueuedBytes;
    if (isFull) this.stop();
    if (isFull || this.#bytes >= (linger?.enoughBytes ?? Number.POSITIVE_INFINITY)) this.#endGathering();
    this.#wake();
  }

  onAlive(): void {
    if (this.#subscription === undefined) return;
    this.#isAtEnd = true;
    this.#wake();
  }

  /** Ends the waiting. */
  interrupt(): void {
    this.#wake();
    this.#endGathering();
  }

  stop(): void {
    this.#subscription?.stop();
    this.#subscription = undefined;
  }

  /** Aborted only once: each abort creates an error, and in a backlog every message would abort. */
  #endGathering(): void {
    if (!this.#enough.signal.aborted) this.#enough.abort();
  }

  #fail(error: unknown): void {
    this.#failure = error;
    this.stop();
    this.#wake();
  }
}

function missing(shard: ShardName, position: number): MillraceError {
  return new MillraceError('JOURNAL_DAMAGED', `${shard}: messages are missing`, { shard, position });
}
