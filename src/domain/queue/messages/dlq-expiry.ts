/** Expiry of DLQ entries, by age and by the limit on their number. */
import type { QueueTurn } from './turn.js';

/** Entries that one call removes: about 1 ms. */
const EXPIRED_AT_ONCE = 100;
/** Removing a failed run also removes its list: 20 entries of a run cost as much as one DLQ entry. */
const RUN_ENTRIES_TO_ONE = 20;

/**
 * Removes entries by age, and by number after the limit was lowered.
 * @returns whether more entries are due
 */
export function expireDlq({ state, context, evolve }: QueueTurn): boolean {
  const { dlqRetentionMs, maxDlqEntries } = context.account.limits;
  const dlqIds = [];
  let excess = state.deadLetters.size - maxDlqEntries;
  let room = EXPIRED_AT_ONCE;
  for (const { dlqId, failedAtMs } of state.deadLetters.ascending()) {
    const isOld = failedAtMs + dlqRetentionMs <= context.nowMs;
    if ((!isOld && excess <= 0) || room <= 0) break;
    excess -= 1;
    room -= 1 + (state.runs.failed(dlqId)?.run.entries.length ?? 0) / RUN_ENTRIES_TO_ONE;
    dlqIds.push(dlqId);
  }
  if (dlqIds.length > 0) evolve({ type: 'DlqExpired', dlqIds, atMs: context.nowMs });
  return room <= 0;
}

/** Removes the oldest DLQ entry, of a message or of a run, when there are too many. */
export function expireBeyondLimit({ state, context, evolve }: QueueTurn): void {
  if (state.deadLetters.size <= context.account.limits.maxDlqEntries) return;
  const oldest = state.deadLetters.oldest;
  if (oldest !== undefined) evolve({ type: 'DlqExpired', dlqIds: [oldest.dlqId], atMs: context.nowMs });
}
