/**
 * Appends one entry to the journal, and repeats it until the answer is definite.
 *
 *  AUN1 every repetition has the same bytes and the same expectation, so a late copy of an earlier try is refused
 *  AUN2 a conflict after an unknown try is resolved by reading the message at that position
 *  AUN3 a conflict below our own expectation means that acknowledged data is lost
 *  AUN4 the expectation never changes: an owner that was overtaken never appends on top
 *  AUN5 the messages of a chunk set are appended one after the other (docs/decisions/journal.md)
 */

import { assert, describeError, MillraceError, type ShardName } from '../kernel/index.js';
import type { Journal, Timers } from '../ports/index.js';

export interface AppendLimits {
  readonly firstRetryMs: number;
  readonly maxRetryMs: number;
}

/**
 * Milliseconds between two tries of an unanswered append, at first and at most. A shard with a newly elected leader
 * waits no longer than this.
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
   * Stores the messages in order, directly after `expectedLast`.
   * @returns position of the last one
   * @throws FENCED (certainly not stored, or another's is there; `details.outcome` says which),
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
    // One after the other (AUN5). A later message of the set must not be sent on the guess that the one before was
    // stored: where a successor's claim has that position, the guess would be right by accident.
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

  /** Our message is stored if and only if the message directly after the expectation has our bytes (AUN2). */
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
        // A successor has claimed the shard and compacted this position, so the message's writer is no longer known.
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
  return new MillraceError('JOURNAL_DAMAGED', `${shard}: acknowledged entries are missing`, {
    shard,
    expectedLast,
    last,
  });
}

function unresolved(shard: ShardName, expectedLast: number, cause?: unknown): MillraceError {
  const reason = cause === undefined ? '' : ` (${describeError(cause)})`;
  return new MillraceError('OUTCOME_UNKNOWN', `${shard}: an append was not answered${reason}`, { shard, expectedLast });
}

function notApplied(shard: ShardName, expectedLast: number): MillraceError {
  return new MillraceError('NOT_APPLIED', `${shard}: an append was refused until its owner stopped`, {
    shard,
    expectedLast,
  });
}
