/** Accepts messages of a run. */
import type { MessageId, RunId } from '../../../kernel/index.js';
import type { QueueTurn } from '../messages/turn.js';
import type { CarriedBody } from '../model/records.js';
import type { Envelope, RunPart } from '../model/run-records.js';
import type { Run } from '../model/runs/run.js';

interface NewPart {
  readonly id: MessageId;
  readonly envelope: Envelope;
  readonly body: CarriedBody;
  readonly notBeforeMs: number;
  readonly part: RunPart;
  readonly deduplication?: string | undefined;
}

export function acceptPart({ id, envelope, body, notBeforeMs, part, deduplication }: NewPart, turn: QueueTurn): void {
  turn.evolve({
    type: 'MessageAccepted',
    id,
    atMs: turn.context.nowMs,
    envelope,
    body,
    notBeforeMs,
    deduplication,
    retryOf: undefined,
    holdsPlaceOf: undefined,
    workflow: part,
  });
}

export function partOf(run: Run): { readonly runId: RunId; readonly runCreatedAtMs: number } {
  return { runId: run.id, runCreatedAtMs: run.createdAtMs };
}

/**
 * The creation time of a run that starts now. Id and time together name a run, so a run with the id of an earlier one
 * starts at least 1 ms later.
 */
export function creationMs(runId: RunId, { state, context }: QueueTurn): number {
  const earlier = state.runs.endedName(runId);
  return Math.max(context.nowMs, earlier === undefined ? 0 : earlier.createdAtMs + 1);
}
