/**
 * A log's messages as batches. A reader slower than the log holds a bounded amount of it in memory: beyond that the log
 * is not listened to until the rest has been taken.
 */
import { MillraceError, type ShardName } from '../kernel/index.js';
import type { JournalFollower, StoredMessage, Subscription, Timers } from '../ports/index.js';

/** As the ports of logs give it, for one of them. */
export type Follow = (from: number, follower: JournalFollower) => Subscription;

export interface BatchOptions {
  /** The name that errors give the log. */
  readonly shard: ShardName;
  readonly maxQueuedBytes: number;
  /** How long the first message of a batch waits for others; undefined: what is there is a batch. */
  readonly linger?: { readonly timers: Timers; readonly ms: number } | undefined;
  /** What is gone from the log has been worked off: positions may be missing. */
  readonly mayLackSome?: boolean | undefined;
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
  { shard, maxQueuedBytes, linger, mayLackSome = false, onIdle }: BatchOptions,
  signal: AbortSignal,
): AsyncGenerator<readonly StoredMessage[]> {
  let queue: StoredMessage[] = [];
  let queuedBytes = 0;
  let next = from;
  let subscription: Subscription | undefined;
  /** Thrown when what arrived before it has been handed out. */
  let failure: unknown;
  let wake = () => {};
  /** For others to come; not when as much is here as may be, or nothing more is wanted. */
  let enough = new AbortController();
  const listen = (): Subscription =>
    follow(next, {
      onMessage(message) {
        // A subscription that was stopped may still deliver what was under way.
        if (message.position < next || subscription === undefined) return;
        if (message.position > next && !mayLackSome) {
          failure = missing(shard, next);
          stop();
          return wake();
        }
        next = message.position + 1;
        queue.push(message);
        queuedBytes += message.bytes.length;
        if (queuedBytes > maxQueuedBytes) {
          stop();
          enough.abort();
        }
        wake();
      },
      onAlive() {
        if (queue.length > 0) return;
        try {
          onIdle?.();
        } catch (error) {
          failure = error;
          stop();
          wake();
        }
      },
    });
  const stop = () => {
    subscription?.stop();
    subscription = undefined;
  };
  const onAbort = () => {
    wake();
    enough.abort();
  };
  signal.addEventListener('abort', onAbort);
  try {
    while (!signal.aborted) {
      if (queue.length === 0 && failure !== undefined) throw failure;
      if (failure === undefined && queuedBytes <= maxQueuedBytes) subscription ??= listen();
      if (queue.length === 0) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
        wake = () => {};
        continue;
      }
      if (subscription !== undefined) await linger?.timers.pause(linger.ms, enough.signal);
      if (signal.aborted) return;
      const batch = queue;
      queue = [];
      queuedBytes = 0;
      enough = new AbortController();
      yield batch;
    }
  } finally {
    signal.removeEventListener('abort', onAbort);
    stop();
  }
}

function missing(shard: ShardName, position: number): MillraceError {
  return new MillraceError('JOURNAL_DAMAGED', `${shard}: messages are missing`, { shard, position });
}
