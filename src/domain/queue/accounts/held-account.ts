/** What an account holds (HE1–HE3 of held.ts), counted from its parts. */
import type { AccountParts } from './account-parts.js';
import {
  ACCEPTED_ID_MEMORY_BYTES,
  DEDUPLICATION_MEMORY_BYTES,
  DLQ_MEMORY_BYTES,
  type Held,
  MESSAGE_MEMORY_BYTES,
  RESTING_MEMORY_BYTES,
} from './held.js';

/** @param nowMs what is too old to count is not always forgotten */
export function heldOf(parts: AccountParts, nowMs: number): Held {
  const { messages, envelopes, schedules, groups, runs, bodies, deadLetters, runMemoryBytes } = parts;
  const resting = messages.restingCount(nowMs);
  return {
    messages: messages.pendingCount + deadLetters.size + runs.waiterCount,
    bytes:
      bodies.heldBytes + envelopes.bytes + deadLetters.answerBytes + schedules.bytes + groups.bytes + runMemoryBytes,
    memoryBytes:
      (messages.pendingCount - resting) * MESSAGE_MEMORY_BYTES +
      resting * RESTING_MEMORY_BYTES +
      deadLetters.size * (MESSAGE_MEMORY_BYTES + DLQ_MEMORY_BYTES) +
      deadLetters.answerMemoryBytes +
      schedules.memoryBytes +
      groups.memoryBytes +
      envelopes.memoryBytes +
      parts.deduplication.sizeAt(nowMs) * DEDUPLICATION_MEMORY_BYTES +
      parts.acceptedIds.sizeAt(nowMs) * ACCEPTED_ID_MEMORY_BYTES +
      runMemoryBytes,
  };
}
