/**
 * A journal's messages as batches. A reader slower than the journal holds a bounded amount of it in memory: beyond
 * that the journal is not listened to until the rest has been taken.
 */
import { MillraceError, type ShardName } from '../kernel/index.js';
import type { Journal, StoredMessage, Subscription, Timers } from '../ports/index.js';

export interface FeedOptions {
  readonly signal: AbortSignal;
  /** How long the first message of a batch waits for others. */
  readonly lingerMs: number;
  readonly maxQueuedBytes: number;
  /** The journal answers and has nothing newer. */
  onIdle(): void;
}

/**
 * Everything stored from `from` on, until aborted; never an empty batch.
 * @throws JOURNAL_DAMAGED when the next message is gone: truncated meanwhile, or lost
 */
export async function* follow(
  journal: Pick<Journal, 'follow'>,
  timers: Timers,
  shard: ShardName,
  from: number,
  { signal, lingerMs, maxQueuedBytes, onIdle }: FeedOptions,
): AsyncGenerator<readonly StoredMessage[]> {
  let queue: StoredMessage[] = [];
  let queuedBytes = 0;
  let next = from;
  let subscription: Subscription | undefined;
  let missing: number | undefined;
  let wake = () => {};
  let endLinger = () => {};
  const listen = (): Subscription =>
    journal.follow(shard, next, {
      onMessage(message) {
        // A subscription that was stopped may still deliver what was under way.
        if (message.position < next || subscription === undefined) return;
        if (message.position > next) {
          missing = next;
          stop();
          return wake();
        }
        next += 1;
        queue.push(message);
        queuedBytes += message.bytes.length;
        if (queuedBytes > maxQueuedBytes) {
          stop();
          endLinger();
        }
        wake();
      },
      onAlive() {
        if (queue.length === 0) onIdle();
      },
    });
  const stop = () => {
    subscription?.stop();
    subscription = undefined;
  };
  const onAbort = () => {
    wake();
    endLinger();
  };
  /** For others to come; not when as much is here as may be, or nothing more is wanted. */
  const linger = () =>
    new Promise<void>((resolve) => {
      const timer = timers.after(lingerMs, resolve);
      endLinger = () => {
        timer.cancel();
        resolve();
      };
    });
  signal.addEventListener('abort', onAbort);
  try {
    while (!signal.aborted) {
      if (queue.length === 0 && missing !== undefined) {
        throw new MillraceError('JOURNAL_DAMAGED', `${shard}: messages are missing`, { shard, position: missing });
      }
      if (missing === undefined && queuedBytes <= maxQueuedBytes) subscription ??= listen();
      if (queue.length === 0) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
        wake = () => {};
        continue;
      }
      if (subscription !== undefined) await linger();
      if (signal.aborted) return;
      const batch = queue;
      queue = [];
      queuedBytes = 0;
      yield batch;
    }
  } finally {
    signal.removeEventListener('abort', onAbort);
    stop();
  }
}
