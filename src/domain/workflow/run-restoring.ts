/** A run as events that build it again, for snapshots. */
import type { DlqId } from '../../kernel/index.js';
import type { WorkflowEvent } from './events.js';
import type { FailureFunction } from './records.js';
import type { Run } from './run.js';

/** Entries of one event. */
const ENTRIES_AT_ONCE = 500;

/** @param dlqId of one that failed: behind its entry */
export function* restoringEvents(
  run: Run,
  dlqId?: DlqId,
  failureFunction?: FailureFunction | undefined,
): Iterable<WorkflowEvent> {
  yield {
    type: 'RunRestored',
    runId: run.id,
    createdAtMs: run.createdAtMs,
    envelope: run.shared.envelope,
    invoker: run.invoker,
    payloadHash: run.payloadHash,
    waiters: run.waiting.map(({ waiter }) => waiter),
    storedEvents: run.storedEvents,
    invokes: [...run.invokes].map(([stepId, { child, messageId }]) => [stepId, child, messageId] as const),
    calls: [...run.calls],
    dlqId,
    failureFunction,
    entries: run.entries.slice(0, ENTRIES_AT_ONCE),
  };
  for (let at = ENTRIES_AT_ONCE; at < run.entries.length; at += ENTRIES_AT_ONCE) {
    const entries = run.entries.slice(at, at + ENTRIES_AT_ONCE);
    yield { type: 'RunEntriesRestored', runId: run.id, dlqId, entries };
  }
}
