/**
 * A log's messages as batches. A reader slower than the log holds a bounded amount of it in memory: beyond that the log
 * is not listened to until the rest has been taken.
 */
import { MillraceError, type ShardName } from '../kernel/index.js';
import type { JournalFollower, StoredMessage, Subscription, Timers } from '../ports/index.js';

/** The ports of logs give it, for one of them. */
export type Follow = (from: number, follower: JournalFollower) => Subscription;

export interface Linger {
  readonly timers: Timers;
  readonly ms: number;
  /** As much is a batch, whoever else may come. */
  readonly enoughBytes?: number | undefined;
  /** Whether somebody wants to have now what has come, asked every so often. */
  readonly awaited?: { readonly everyMs: number; is(): boolean } | undefined;
}

export interface BatchOptions {
  /** The name that errors give the log. */
  readonly shard: ShardName;
  readonly maxQueuedBytes: number;
  /** How long the first message of a batch waits for others; undefined: what is there is a batch. */
  readonly linger?: Linger | undefined;
  /** What is gone from the log has been worked off: positions may be missing. */
  readonly mayLackSome?: boolean | undefined;
  /** How often the log has to say that it is there; undefined: as often as it does by itself. */
  readonly aliveEveryMs?: number | undefined;
  /** The log answers, has nothing newer, and every message has been handed out. */
  readonly onIdle?: (() => void) | undefined;
}

/**
 * Everything stored from `from` on, until aborted; never an empty batch.
 * @throws JOURNAL_DAMAGED when the next message is gone: truncated meanwhile, or lost; what `onIdle` throws
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
  /** Thrown when what arrived before it has been handed out. */
  #failure: unknown;
  #wake = () => {};
  /** The log has nothing newer than what arrived. */
  #isAtEnd = false;
  /** It waits for others to come; not when as much is here as may be, or nothing more is wanted. */
  #enough = new AbortController();

  constructor(
    private readonly follow: Follow,
    private next: number,
    private readonly options: BatchOptions,
  ) {}

  get aliveEveryMs(): number | undefined {
    return this.options.aliveEveryMs;
  }

  /** Listens, unless too much waits. @returns is there a batch now? @throws when the log has failed */
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
    // A subscription that was stopped may still deliver what was under way.
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

  /** Nothing more is wanted. */
  interrupt(): void {
    this.#wake();
    this.#endGathering();
  }

  stop(): void {
    this.#subscription?.stop();
    this.#subscription = undefined;
  }

  /** Aborting makes an error, also when it changes nothing, and behind a backlog every message would. */
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
