/** Entries of the DLQ do not stay for ever, and there is a limit to how many there are. */
import type { QueueTurn } from '../turn.js';

/** One call drops so many: about a millisecond. */
const EXPIRED_AT_ONCE = 100;
/** A failed run lets go of its list: so many entries of it count like one entry of the DLQ. */
const RUN_ENTRIES_TO_ONE = 20;

/** Entries go by age, and by number when the limit was lowered. @returns more are to go */
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
