/**
 * One entry's way into the journal, sent again until the answer is definite.
 *
 *  AUN1 the same bytes with the same expectation, every time: a late copy of an earlier try is refused by it
 *  AUN2 a conflict after an unknown try is resolved by reading what stands there, never by guessing
 *  AUN3 a conflict below our own expectation means that acknowledged data has vanished
 *  AUN4 never a new expectation: an owner that has been overtaken does not append on top
 *  AUN5 the messages of a chunk set are appended one after the other (docs/adr/0013-chunk-sets-in-order.md)
 */

import { assert, describeError, MillraceError, type ShardName } from '../kernel/index.js';
import type { Journal, Timers } from '../ports/index.js';

export interface AppendLimits {
  readonly firstRetryMs: number;
  readonly maxRetryMs: number;
}

/**
 * Between two tries of an append that was not answered, milliseconds: at first, and at most. A shard whose leader was
 * elected just now waits for no more than this.
 */
const DEFAULT_LIMITS: AppendLimits = { firstRetryMs: 20, maxRetryMs: 200 };

export interface AppendWatch {
  /** Aborted when the actor gives up (lease lost, shutdown): the outcome then stays unknown. */
  readonly signal: AbortSignal;
  /** Called at every unknown answer. */
  onUnknown(cause: unknown): void;
}

export class DefiniteAppender {
  constructor(
    private readonly journal: Journal,
    private readonly timers: Timers,
    private readonly limits = DEFAULT_LIMITS,
  ) {}

  /**
   * Stores the messages right behind `expectedLast` and each other.
   * @returns position of the last one
   * @throws FENCED (surely not stored, or another's is there; `details.outcome` says which),
   *         JOURNAL_DAMAGED, OUTCOME_UNKNOWN when aborted while the answer was open
   */
  append(shard: ShardName, messages: readonly Uint8Array[], expectedLast: number, watch: AppendWatch): Promise<number> {
    const [first] = messages;
    // Nearly every entry is one message.
    if (messages.length === 1 && first !== undefined) return this.#appendOne(shard, first, expectedLast, watch);
    return this.#appendEach(shard, messages, expectedLast, watch);
  }

  async #appendEach(
    shard: ShardName,
    messages: readonly Uint8Array[],
    expectedLast: number,
    watch: AppendWatch,
  ): Promise<number> {
    let position = expectedLast;
    // AUN5: one after the other. A later message of the set must never be sent on the guess that the one
    // before it was stored: where a successor's claim stands instead, the guess is right by accident.
    for (const bytes of messages) position = await this.#appendOne(shard, bytes, position, watch);
    return position;
  }

  async #appendOne(shard: ShardName, bytes: Uint8Array, expectedLast: number, watch: AppendWatch): Promise<number> {
    let isOpen = false;
    let retryMs = this.limits.firstRetryMs;
    for (;;) {
      const outcome = await this.journal.append(shard, bytes, expectedLast);
      switch (outcome.kind) {
        case 'stored':
          assert(outcome.position === expectedLast + 1, 'an append was stored elsewhere than expected', {
            shard,
            expectedLast,
            position: outcome.position,
          });
          return outcome.position;
        case 'conflict': {
          if (outcome.last !== undefined && outcome.last < expectedLast)
            throw vanished(shard, expectedLast, outcome.last);
          if (!isOpen) throw fenced(shard, expectedLast, 'not-applied');
          return this.#resolveConflict(shard, bytes, expectedLast, watch);
        }
        case 'rejected':
          if (!outcome.retryable) {
            throw new MillraceError('DEFECT', `the journal refused an entry: ${outcome.reason}`, {
              shard,
              expectedLast,
            });
          }
          if (watch.signal.aborted) throw isOpen ? unresolved(shard, expectedLast) : notApplied(shard, expectedLast);
          break;
        case 'unknown':
          watch.onUnknown(outcome.cause);
          isOpen = true;
          if (watch.signal.aborted) throw unresolved(shard, expectedLast, outcome.cause);
          break;
      }
      await this.timers.pause(retryMs, watch.signal);
      retryMs = Math.min(retryMs * 2, this.limits.maxRetryMs);
    }
  }

  /** AUN2: ours is stored if and only if the message right behind the expectation has our bytes. */
  async #resolveConflict(
    shard: ShardName,
    bytes: Uint8Array,
    expectedLast: number,
    watch: AppendWatch,
  ): Promise<number> {
    let retryMs = this.limits.firstRetryMs;
    for (;;) {
      try {
        const stored = await this.journal.readAt(shard, expectedLast + 1);
        if (stored !== undefined) {
          if (Buffer.compare(stored, bytes) === 0) return expectedLast + 1;
          throw fenced(shard, expectedLast, 'not-applied');
        }
        const { first } = await this.journal.tail(shard);
        // A successor has claimed, and compacted what stood here: whose it was cannot be told any more.
        if (first > expectedLast + 1) throw fenced(shard, expectedLast, 'unknown');
      } catch (error) {
        if (!(error instanceof MillraceError) || error.code !== 'JOURNAL_UNAVAILABLE') throw error;
        watch.onUnknown(error);
      }
      if (watch.signal.aborted) throw unresolved(shard, expectedLast);
      await this.timers.pause(retryMs, watch.signal);
      retryMs = Math.min(retryMs * 2, this.limits.maxRetryMs);
    }
  }
}

function fenced(shard: ShardName, expectedLast: number, outcome: 'not-applied' | 'unknown'): MillraceError {
  return new MillraceError('FENCED', `${shard} has another owner`, { shard, expectedLast, outcome });
}

function vanished(shard: ShardName, expectedLast: number, last: number): MillraceError {
  return new MillraceError('JOURNAL_DAMAGED', `${shard}: acknowledged entries have vanished`, {
    shard,
    expectedLast,
    last,
  });
}

function unresolved(shard: ShardName, expectedLast: number, cause?: unknown): MillraceError {
  const why = cause === undefined ? '' : ` (${describeError(cause)})`;
  return new MillraceError('OUTCOME_UNKNOWN', `${shard}: an append was not answered${why}`, { shard, expectedLast });
}

function notApplied(shard: ShardName, expectedLast: number): MillraceError {
  return new MillraceError('NOT_APPLIED', `${shard}: an append was refused until its owner stopped`, {
    shard,
    expectedLast,
  });
}
