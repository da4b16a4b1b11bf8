/** The steps that wait for any event, the earliest deadline first, a page at a time. All are looked at, in steps. */
import { FirstOf } from '../collections/first-of.js';
import type { QueueCommandOf, QueueReply } from '../commands.js';
import type { ListedWaiter, WaiterPlace } from '../runs/commands.js';
import type { Waiting } from '../runs/run.js';
import type { QueueTurn } from '../turn.js';

/** One step looks at so many: about a millisecond. */
const LOOKED_AT_ONCE = 2000;

export function* listAllWaiters(
  { count, after }: QueueCommandOf<'ListAllWaiters'>,
  { state: { runs } }: QueueTurn,
): Generator<void, QueueReply> {
  const page = new FirstOf<Waiting>(count, (a, b) => compare(placeOf(a), placeOf(b)));
  let looked = 0;
  for (const waiting of runs.allWaiters()) {
    looked += 1;
    if (looked % LOOKED_AT_ONCE === 0) yield;
    if (after === undefined || compare(placeOf(waiting), after) > 0) page.offer(waiting);
  }
  const last = page.hasMore ? page.items.at(-1) : undefined;
  return {
    type: 'AllWaiters',
    // What left between the steps waits no more.
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
