/** Conversion between a run and the events that restore it from a snapshot. */
import type { DlqId } from '../../../../kernel/index.js';
import type { FailureFunction } from '../run-records.js';
import type { WorkflowEvent, WorkflowEventOf } from '../workflow-events.js';
import { Run } from './run.js';
import { appendHeld, heldInvoker, type RunHolds, weighAsked, weighEvent, weighRun } from './run-holds.js';

/** Entries per event. */
const ENTRIES_AT_ONCE = 500;

/** @param dlqId for a failed run, after its DLQ entry */
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

/** The run without its waiters, with the entries of this event. */
export function restoredRun(event: WorkflowEventOf<'RunRestored'>, holds: RunHolds): Run {
  const { runId, createdAtMs, envelope, invoker, payloadHash, dlqId, entries, storedEvents, invokes, calls } = event;
  const isActive = dlqId === undefined;
  const shared = holds.holdEnvelope(envelope);
  // A run that has ended has told its invoker and released that envelope.
  const asked = isActive ? heldInvoker(invoker, holds) : invoker;
  const run = new Run(runId, createdAtMs, shared, asked, payloadHash);
  if (!isActive) run.endState = 'RUN_FAILED';
  weighRun(run, holds);
  for (const entry of entries) appendHeld(run, entry, holds);
  for (const stored of storedEvents) {
    run.storedEvents.push({ ...stored, content: Uint8Array.from(stored.content) });
    weighEvent(run, stored, 1, holds);
  }
  for (const [stepId, child, messageId] of invokes) {
    run.addInvoke(stepId, { child, messageId });
    weighAsked(run, holds);
  }
  for (const [stepId, messageId] of calls) {
    run.addCall(stepId, messageId);
    weighAsked(run, holds);
  }
  return run;
}
