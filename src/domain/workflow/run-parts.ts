/** What is added to a run: an entry, which is scheduled at once, or a message beside its list. */
import type { MessageId, RunId } from '../../kernel/index.js';
import type { CarriedBody } from '../queue/events.js';
import { carriedBody } from '../queue/publish.js';
import type { Turn } from '../queue/turn.js';
import { MAX_RUN_BYTES, MAX_RUN_ENTRIES } from './limits.js';
import type { Envelope, RunPart, StepMark } from './records.js';
import type { Run } from './run.js';
import { failGrown } from './run-end.js';

export interface NewEntry {
  readonly id: MessageId;
  readonly step: StepMark;
  readonly content: Uint8Array;
  readonly envelope: Envelope;
  readonly notBeforeMs: number;
}

/** Appends and schedules at once; a run that has grown too large fails with it. */
export function appendEntry(run: Run, { id, step, content, envelope, notBeforeMs }: NewEntry, turn: Turn): void {
  const isTooLong = run.entries.length >= MAX_RUN_ENTRIES;
  const isTooLarge = run.bytes + content.byteLength > MAX_RUN_BYTES;
  const part = { role: 'step', ...partOf(run), index: run.entries.length, step } as const;
  acceptPart({ id, envelope, body: carriedBody(content, turn), notBeforeMs, part }, turn);
  if (isTooLong) failGrown(run, id, `the run has more than ${MAX_RUN_ENTRIES} entries`, turn);
  else if (isTooLarge) failGrown(run, id, `the run has more than ${MAX_RUN_BYTES} bytes`, turn);
}

export interface NewPart {
  readonly id: MessageId;
  readonly envelope: Envelope;
  readonly body: CarriedBody;
  readonly notBeforeMs: number;
  readonly part: RunPart;
  readonly deduplication?: string | undefined;
}

/** A message of a run. */
export function acceptPart({ id, envelope, body, notBeforeMs, part, deduplication }: NewPart, turn: Turn): void {
  turn.apply({
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
 * Of a run that begins now. The id and the instant name it: where another of its id began in this millisecond, it
 * begins in the next.
 */
export function creationMs(runId: RunId, { state, context }: Turn): number {
  const earlier = state.runs.endedName(runId);
  return Math.max(context.nowMs, earlier === undefined ? 0 : earlier.createdAtMs + 1);
}
