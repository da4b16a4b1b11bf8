/**
 * The state of a queue account: the fold of its journal. Only `evolve` changes it.
 *
 *  QST1 `evolve` accepts every event that was ever journaled, judges none, and asserts when one cannot fit
 *  QST2 two states that applied the same events are equal, also if one was rebuilt from a snapshot on the way
 *  QST3 old state is forgotten by the times of events alone, a bounded part with each event, so that no event takes
 *       long
 */
import type { QueueEvent } from '../events.js';
import {
  ACCEPTED_ID_MEMORY_BYTES,
  type AccountUsage,
  DEDUPLICATION_MEMORY_BYTES,
  DELAYED_MEMORY_BYTES,
  DLQ_MEMORY_BYTES,
  MESSAGE_MEMORY_BYTES,
} from '../held.js';
import { AccountParts } from './account-parts.js';
import { rowOfEvent } from './event-table.js';
import { letGo } from './message-events.js';

export class QueueState extends AccountParts {
  get size(): number {
    const { messages, groups, applications, queues, schedules, flows, runs, deadLetters } = this;
    const parts = [messages, deadLetters, groups, applications, queues, schedules, flows, runs];
    return parts.reduce((sum, { size }) => sum + size, 0);
  }

  heldAt(nowMs: number): AccountUsage {
    return heldOf(this, nowMs);
  }

  evolve(event: QueueEvent): void {
    if ('atMs' in event) this.#passTime(event.atMs);
    rowOfEvent(event).evolve(event, this);
  }

  #passTime(atMs: number): void {
    if (atMs > this.nowMs) this.nowMs = atMs;
    this.usage.turnTo(atMs);
    this.deduplication.forget(atMs);
    this.flows.forget(atMs);
    this.runs.forget(atMs);
    for (const message of this.messages.forget(atMs)) letGo(message, this);
  }
}

/**
 * The holdings of an account (HE1–HE3 of held.ts: waiting messages, their stored bytes, their memory), counted from its
 * parts.
 * @param nowMs needed because expired entries may not have been forgotten yet
 */
function heldOf(parts: AccountParts, nowMs: number): AccountUsage {
  const { messages, envelopes, schedules, groups, applications, runs, bodies, deadLetters, runMemoryBytes } = parts;
  const delayed = messages.delayedCount(nowMs);
  return {
    messages: messages.pendingCount + deadLetters.size + runs.waiterCount,
    bytes:
      bodies.heldBytes +
      envelopes.bytes +
      deadLetters.answerBytes +
      schedules.bytes +
      groups.bytes +
      applications.bytes +
      runMemoryBytes,
    memoryBytes:
      (messages.pendingCount - delayed) * MESSAGE_MEMORY_BYTES +
      delayed * DELAYED_MEMORY_BYTES +
      deadLetters.size * (MESSAGE_MEMORY_BYTES + DLQ_MEMORY_BYTES) +
      deadLetters.answerMemoryBytes +
      schedules.memoryBytes +
      groups.memoryBytes +
      applications.memoryBytes +
      envelopes.memoryBytes +
      parts.deduplication.sizeAt(nowMs) * DEDUPLICATION_MEMORY_BYTES +
      parts.acceptedIds.sizeAt(nowMs) * ACCEPTED_ID_MEMORY_BYTES +
      parts.breakers.memoryBytes +
      runMemoryBytes,
  };
}
