/** Commands that show, count and delete failed runs. */
import type { QueueSteps, QueueTurn } from '../messages/turn.js';
import type { QueueCommandOf, QueueReply } from '../model/commands.js';
import { rejection } from '../model/decision.js';
import type { BodyRef } from '../model/records.js';
import type { FailedRun } from '../model/runs/failed-run-index.js';
import type { FailedRunView } from '../model/workflow-commands.js';
import { selectFailedRuns } from './failed-run-selection.js';
import { failedRunNotFound } from './failure-function.js';

/** Entries of runs that one event deletes: about 1 ms. */
const DROPPED_AT_ONCE = 2000;
const FREE = { costOf: () => 0, most: 0 };
const NO_BODY: BodyRef = { number: 0, bytes: 0 };

export function getFailedRun({ dlqId }: QueueCommandOf<'GetFailedRun'>, { state }: QueueTurn): QueueReply {
  const failed = state.runs.failed(dlqId);
  if (failed === undefined) return failedRunNotFound(dlqId);
  return { type: 'FailedRuns', runs: [viewOf(failed)], after: undefined };
}

/** `after` is also set for named runs when not all of them fit. */
export function* listFailedRuns(
  { selector, maxBytes }: QueueCommandOf<'ListFailedRuns'>,
  { state }: QueueTurn,
): Generator<void, QueueReply> {
  const { runs, after } = yield* selectFailedRuns(selector, { costOf: shownBytes, most: maxBytes }, state);
  // A run that left between the steps is not shown: its bodies may be gone.
  const left = runs.filter(({ entry, run }) => state.runs.failed(entry.dlqId)?.run === run);
  return { type: 'FailedRuns', runs: left.map(viewOf), after };
}

export function* countFailedRuns(
  { filter }: QueueCommandOf<'CountFailedRuns'>,
  { state }: QueueTurn,
): Generator<void, QueueReply> {
  const counts = new Map<number, number>();
  const all = {
    kind: 'filter',
    filter,
    count: Number.POSITIVE_INFINITY,
    after: undefined,
    order: 'earliestFirst',
  } as const;
  const { runs } = yield* selectFailedRuns(all, FREE, state);
  for (const { entry } of runs) counts.set(entry.response.status, (counts.get(entry.response.status) ?? 0) + 1);
  return { type: 'FailedRunCounts', counts: [...counts] };
}

export function deleteFailedRuns(
  command: QueueCommandOf<'DeleteFailedRuns'>,
  turn: QueueTurn,
): QueueReply | QueueSteps {
  const { selector } = command;
  const { runs } = turn.state;
  if (selector.kind === 'ids' && selector.dlqIds.some((dlqId) => runs.failed(dlqId) === undefined)) {
    return rejection('NOT_FOUND', 'some messages were not found');
  }
  return deleteSelected(command, turn);
}

function* deleteSelected(
  { selector }: QueueCommandOf<'DeleteFailedRuns'>,
  turn: QueueTurn,
): Generator<void, QueueReply> {
  const { state, evolve } = turn;
  const { runs, after } = yield* selectFailedRuns(selector, FREE, state);
  let count = 0;
  let entries = 0;
  let dlqIds = [];
  for (const [at, failed] of runs.entries()) {
    dlqIds.push(failed.entry.dlqId);
    entries += failed.run.entries.length;
    const isLast = at === runs.length - 1;
    if (!isLast && entries < DROPPED_AT_ONCE) continue;
    // Another command may have removed a run between the steps.
    const there = dlqIds.filter((dlqId) => state.runs.failed(dlqId) !== undefined);
    if (there.length > 0) evolve({ type: 'DlqDeleted', dlqIds: there, atMs: turn.context.nowMs });
    count += there.length;
    dlqIds = [];
    entries = 0;
    if (!isLast) yield;
  }
  return { type: 'DlqDeleted', count, after };
}

function viewOf({ run, entry, failureFunction }: FailedRun): FailedRunView {
  return {
    entry,
    runId: run.id,
    runCreatedAtMs: run.createdAtMs,
    envelope: run.shared.envelope,
    payload: run.entries[0]?.body ?? NO_BODY,
    payloadContent: undefined,
    responseContent: undefined,
    failureFunction,
    failureFunctionContent: undefined,
  };
}

function shownBytes({ run, entry, failureFunction }: FailedRun): number {
  const payload = run.entries[0]?.body ?? NO_BODY;
  return payload.bytes + entry.response.body.bytes + (failureFunction?.body.bytes ?? 0);
}
