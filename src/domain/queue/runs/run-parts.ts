/** Messages of a run, as they are accepted. */
import type { MessageId, RunId } from '../../../kernel/index.js';
import type { CarriedBody } from '../records.js';
import type { QueueTurn } from '../turn.js';
import type { Envelope, RunPart } from './records.js';
import type { Run } from './run.js';

interface NewPart {
  readonly id: MessageId;
  readonly envelope: Envelope;
  readonly body: CarriedBody;
  readonly notBeforeMs: number;
  readonly part: RunPart;
  readonly deduplication?: string | undefined;
}

/** A message of a run. */
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
 * It is the instant of a run that begins now. The id and the instant name it: where another of its id began in this
 * millisecond, it begins in the next.
 */
export function creationMs(runId: RunId, { state, context }: QueueTurn): number {
  const earlier = state.runs.endedName(runId);
  return Math.max(context.nowMs, earlier === undefined ? 0 : earlier.createdAtMs + 1);
}
