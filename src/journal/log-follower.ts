/**
 * Following a journal, or another log, for as long as it is not stopped. Whoever follows one says where it stands and
 * what it does with the messages behind that; the loop around it is this one, whatever is followed.
 *
 *  LF1 messages are handed out in order, each once, none left out; what a log has lost is damage, unless it may lack some
 *  LF2 while a batch is worked off no other one is handed out, and a bounded amount of the log waits in memory
 *  LF3 what fails is begun again, after a pause, from where the reader then stands; the reader may say that it is not
 *  LF4 nothing is handed out once it was stopped, and it ends without an error
 */
import type { StoredMessage, Timers } from '../ports/index.js';
import { type BatchOptions, type Follow, inBatches, type Linger } from './log-batches.js';

export interface FollowingReader {
  readonly follow: Follow;
  /** Makes ready, at the start and after every failure. @returns the position up to which it has everything */
  begin(signal: AbortSignal): Promise<number>;
  take(batch: readonly StoredMessage[], signal: AbortSignal): Promise<void> | void;
  /** The log answers, and has nothing newer than what was handed out. */
  idle?(): void;
  /** Something of this failed. @returns whether to begin again */
  failed(error: unknown): boolean;
}

export interface LogFollowing extends Pick<BatchOptions, 'shard' | 'maxQueuedBytes' | 'mayLackSome' | 'aliveEveryMs'> {
  /** How long messages are gathered for one batch; undefined: what is there is a batch. */
  readonly lingerMs?: number | undefined;
  /** Each ends that early. */
  readonly awaited?: Linger['awaited'];
  readonly enoughBytes?: Linger['enoughBytes'];
  /** Before what failed is begun again. */
  readonly retryMs: number;
}

/** Resolves when it was stopped, or its reader has given up. */
export async function followLog(
  timers: Timers,
  reader: FollowingReader,
  { lingerMs, awaited, enoughBytes, retryMs, ...following }: LogFollowing,
  signal: AbortSignal,
): Promise<void> {
  const linger = lingerMs === undefined ? undefined : { timers, ms: lingerMs, awaited, enoughBytes };
  const options = { ...following, linger, onIdle: () => reader.idle?.() };
  while (!signal.aborted) {
    try {
      const position = await reader.begin(signal);
      for await (const batch of inBatches(reader.follow, position + 1, options, signal)) {
        await reader.take(batch, signal);
      }
    } catch (error) {
      if (signal.aborted || !reader.failed(error)) return;
      await timers.pause(retryMs, signal);
    }
  }
}
