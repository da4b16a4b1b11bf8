/**
 * How runs come to their end. What follows from it is of the same turn: the step that invoked the run has its result,
 * a failed run is in the DLQ and its failure function on its way. Messages that wait are cancelled: a few at once, and
 * where there are many the others soon after; none of them is started any more.
 *
 * Calls that are being made are left to end; what they come to is of no consequence.
 *
 * Entries are appended here, too: one that makes its run too large ends it, and the end of a run appends the result to the
 * list of the run that invoked it.
 */
import type { DlqId, MessageId } from '../../../kernel/index.js';
import type { AttemptOutcome } from '../commands.js';
import { callbackBody } from '../delivery/callback-body.js';
import { keptResponse } from '../delivery/kept-response.js';
import { derivedMessageId, dlqIdOf } from '../ids.js';
import type { Message } from '../messages/message.js';
import type { Envelope, HeaderList } from '../records.js';
import type { QueueTurn } from '../turn.js';
import { MAX_RUN_BYTES, MAX_RUN_ENTRIES } from './limits.js';
import { atOnce, endText, type OutText, withOut } from './out-texts.js';
import type { RunEndState, StepMark } from './records.js';
import type { Run } from './run.js';
import { failureEnvelope } from './run-envelopes.js';
import { acceptPart, partOf } from './run-parts.js';

const EMPTY = new Uint8Array(0);
const NO_HEADER: HeaderList = [];
/** So many are cancelled with the end of a run, and by one call of `work`: about a millisecond. */
const CANCELLED_WITH_RUN = 20;
const CANCELLED_AT_ONCE = 100;

interface NewEntry {
  readonly id: MessageId;
  readonly step: StepMark;
  readonly content: Uint8Array;
  readonly envelope: Envelope;
  readonly notBeforeMs: number;
}

/** Appends and schedules at once; a run that has grown too large fails with it. */
export function appendEntry(run: Run, { id, step, content, envelope, notBeforeMs }: NewEntry, turn: QueueTurn): void {
  const isTooLong = run.entries.length >= MAX_RUN_ENTRIES;
  const isTooLarge = run.bytes + content.byteLength > MAX_RUN_BYTES;
  const part = { role: 'step', ...partOf(run), index: run.entries.length, step } as const;
  acceptPart({ id, envelope, body: turn.state.bodies.carried(content), notBeforeMs, part }, turn);
  if (isTooLong) failGrown(run, id, `the run has more than ${MAX_RUN_ENTRIES} entries`, turn);
  else if (isTooLarge) failGrown(run, id, `the run has more than ${MAX_RUN_BYTES} bytes`, turn);
}

export interface RunEnd {
  readonly state: RunEndState;
  readonly response?: Uint8Array | undefined;
  readonly dlqId?: DlqId | undefined;
  readonly error?: string | undefined;
  /** It is for the step that invoked the run, where it has been made already. */
  readonly out?: OutText | undefined;
}

export function endRun(run: Run, end: RunEnd, turn: QueueTurn): void {
  closeRun(run, end, turn);
  tellInvoker(run, end, turn);
}

function closeRun(run: Run, { state, response, dlqId, error }: RunEnd, turn: QueueTurn): void {
  const atMs = turn.context.nowMs;
  turn.evolve({ type: 'RunEnded', runId: run.id, atMs, state, response, dlqId, error });
  let room = CANCELLED_WITH_RUN;
  for (const id of run.open) {
    if (!turn.state.messages.isWaiting(id)) continue;
    if (room === 0) return;
    turn.evolve({ type: 'MessageCancelled', id, atMs });
    room -= 1;
  }
}

/** What waits for runs that are over. @returns more are to go */
export function cancelLeftovers({ state, context, evolve }: QueueTurn): boolean {
  let room = CANCELLED_AT_ONCE;
  for (const id of state.runs.leftovers) {
    if (room === 0) return true;
    evolve({ type: 'MessageCancelled', id, atMs: context.nowMs });
    room -= 1;
  }
  return false;
}

/** What the failed delivery came to. */
export interface RunFailure {
  /** The message whose delivery it was; pending. */
  readonly message: Message;
  readonly outcome: AttemptOutcome;
  readonly error: string;
}

export function failRun(run: Run, { message, outcome, error }: RunFailure, turn: QueueTurn): void {
  const { id } = message;
  const { state, evolve, context } = turn;
  const atMs = context.nowMs;
  const header = outcome.kind === 'response' ? outcome.header : NO_HEADER;
  const status = outcome.kind === 'response' ? outcome.status : 0;
  const response = outcome.kind === 'response' ? keptResponse(outcome.body) : EMPTY;
  const dlqId = dlqIdOf(atMs, state.deadLetters.next);
  evolve({
    type: 'AttemptFailed',
    id,
    atMs,
    status,
    durationMs: outcome.durationMs,
    error,
    header,
    response,
    nextAtMs: undefined,
  });
  evolve({
    type: 'MessageDeadLettered',
    id,
    dlqId,
    atMs,
    status,
    error,
    header,
    response: turn.state.bodies.carried(response),
  });
  const end: RunEnd = { state: 'RUN_FAILED', dlqId, error };
  closeRun(run, end, turn);
  // Before the parent has the result: it may fail with it, and its entry push this one out of a full DLQ.
  callFailureFunction(run, { message, outcome, error }, dlqId, failureIdOf(message), turn);
  tellInvoker(run, end, turn);
  expireBeyondLimit(turn);
}

/** A run that has grown too large: its newest entry fails instead of being delivered. */
function failGrown(run: Run, id: MessageId, error: string, turn: QueueTurn): void {
  const message = turn.state.messages.pending(id);
  failRun(run, { message, outcome: { kind: 'no-response', error, durationMs: 0 }, error }, turn);
}

/**
 * The failure message: the queue's failure callback with the run in it. The payload is put in when it is sent, so that
 * it is stored once.
 */
function callFailureFunction(
  run: Run,
  { message, outcome, error }: RunFailure,
  dlqId: DlqId,
  id: MessageId,
  turn: QueueTurn,
): void {
  const origin = run.shared.envelope;
  const { failureCallback } = origin.settings;
  const payload = run.entries[0];
  if (failureCallback === undefined || payload === undefined) return;
  const { retried, createdAtMs, notBeforeMs } = message;
  const told: AttemptOutcome =
    outcome.kind === 'response' ? outcome : { kind: 'no-response', error, durationMs: outcome.durationMs };
  const source = { id: message.id, envelope: message.shared.envelope, body: EMPTY, createdAtMs, notBeforeMs, retried };
  const content = callbackBody(source, told, dlqId, Number.MAX_SAFE_INTEGER, turn.deliveredWords, {
    workflowRunId: run.id,
    workflowCreatedAt: run.createdAtMs,
    // Somebody who gets no answer is told why in its place.
    ...(outcome.kind === 'response' ? {} : { error }),
  });
  const envelope = failureEnvelope(origin, failureCallback);
  const part = { role: 'failure', ...partOf(run), dlqId, payload: payload.body } as const;
  const notBefore = turn.context.nowMs + failureCallback.settings.delaySeconds * 1000;
  acceptPart({ id, envelope, body: turn.state.bodies.carried(content), notBeforeMs: notBefore, part }, turn);
}

function failureIdOf({ id, retried }: Message): MessageId {
  return derivedMessageId(`${id} failure ${retried}`);
}

/** The child's end is the result of the step that waits for it. */
function tellInvoker(child: Run, { state, response, out }: RunEnd, turn: QueueTurn): void {
  if (child.invoker === undefined) return;
  const { runId, runCreatedAtMs, step, stepText, delivery } = child.invoker;
  const { runs } = turn.state;
  const content = withOut(stepText, {}, out ?? atOnce(endText(state, response)));
  const parent = runs.active(runId);
  if (parent?.createdAtMs !== runCreatedAtMs) {
    const late = { runId, runCreatedAtMs, stepId: step.stepId, record: content, atMs: turn.context.nowMs };
    turn.evolve({ type: 'InvokeEndedLate', ...late });
    return;
  }
  if (parent.entryOf(step.stepId, step.targetStep) !== undefined) return;
  const id = derivedMessageId(`${child.id} ${child.createdAtMs} invoked by ${runId} ${step.stepId}`);
  const { envelope } = delivery;
  appendEntry(parent, { id, step, content, envelope, notBeforeMs: turn.context.nowMs }, turn);
}

/** @param stepText a JSON object. @returns it with members more, as bytes */
export function withMembers(stepText: string, members: Readonly<Record<string, unknown>>): Uint8Array {
  const more = JSON.stringify(members).slice(1);
  const open = stepText.slice(0, stepText.lastIndexOf('}')).trimEnd();
  return Buffer.from(`${open}${open.endsWith('{') ? '' : ','}${more}`, 'utf8');
}

/** The oldest make room, plain ones and failed runs alike. */
export function expireBeyondLimit({ state, context, evolve }: QueueTurn): void {
  if (state.deadLetters.size <= context.account.limits.maxDlqEntries) return;
  const oldest = state.deadLetters.oldest;
  if (oldest !== undefined) evolve({ type: 'DlqExpired', dlqIds: [oldest.dlqId], atMs: context.nowMs });
}
