/**
 * Lists the steps that wait for any event, earliest deadline first, by page. Every page scans all waiters, in steps.
 */
import { TopN } from '../collections/top-n.js';
import type { QueueTurn } from '../messages/turn.js';
import type { QueueCommandOf, QueueReply } from '../model/commands.js';
import type { Waiting } from '../model/runs/run.js';
import type { ListedWaiter, WaiterPlace } from '../model/workflow-commands.js';

/** Waiters that one step looks at: about 1 ms. */
const LOOKED_AT_ONCE = 2000;

export function* listAllWaiters(
  { count, after }: QueueCommandOf<'ListAllWaiters'>,
  { state: { runs } }: QueueTurn,
): Generator<void, QueueReply> {
  const page = new TopN<Waiting>(count, (a, b) => compare(placeOf(a), placeOf(b)));
  let looked = 0;
  for (const waiting of runs.allWaiters()) {
    looked += 1;
    if (looked % LOOKED_AT_ONCE === 0) yield;
    if (after === undefined || compare(placeOf(waiting), after) > 0) page.offer(waiting);
  }
  const last = page.hasMore ? page.items.at(-1) : undefined;
  return {
    type: 'AllWaiters',
    // Waiters that left between the steps are not shown.
    waiters: page.items.filter(({ heapIndex }) => heapIndex !== -1).map(shown),
    total: runs.waiterCount,
    after: last && placeOf(last),
  };
}

function shown({ waiter, run }: Waiting): ListedWaiter {
  const { eventId, runId, step, addedAtMs, deadlineMs } = waiter;
  const { stepId, stepName } = step;
  return { eventId, runId, runCreatedAtMs: run.createdAtMs, stepId, stepName, addedAtMs, deadlineMs };
}

function placeOf({ waiter: { deadlineMs, runId, step } }: Waiting): WaiterPlace {
  return { deadlineMs, runId, stepId: step.stepId };
}

function compare(a: WaiterPlace, b: WaiterPlace): number {
  if (a.deadlineMs !== b.deadlineMs) return a.deadlineMs - b.deadlineMs;
  if (a.runId !== b.runId) return a.runId < b.runId ? -1 : 1;
  return a.stepId - b.stepId;
}
