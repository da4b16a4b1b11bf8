/**
 * Ends runs. The consequences are in the same turn: the invoking step gets its result, a failed run enters the DLQ
 * and its failure function is scheduled. Waiting messages are cancelled, the first few in the turn and the others
 * soon after; none of them starts any more. Open calls are left to end, and their outcomes are ignored.
 * Entries are appended here too, because an entry can make its run too large and so end it, and the end of a run
 * appends a result to the list of its invoker.
 */
import type { DlqId, MessageId } from '../../../kernel/index.js';
import { callbackBody } from '../messages/callback-body.js';
import { expireBeyondLimit } from '../messages/dlq-expiry.js';
import { keptResponse } from '../messages/kept-response.js';
import type { QueueTurn } from '../messages/turn.js';
import type { AttemptOutcome } from '../model/commands.js';
import { derivedMessageId, dlqIdOf } from '../model/ids.js';
import type { Message } from '../model/messages/message.js';
import type { Envelope, HeaderList } from '../model/records.js';
import { MAX_RUN_BYTES, MAX_RUN_ENTRIES } from '../model/run-limits.js';
import type { RunEndState, StepMark } from '../model/run-records.js';
import type { Run } from '../model/runs/run.js';
import { atOnce, endText, type OutText, withOut } from './out-texts.js';
import { failureEnvelope } from './run-envelopes.js';
import { acceptPart, partOf } from './run-parts.js';

const EMPTY = new Uint8Array(0);
const NO_HEADER: HeaderList = [];
/** Messages cancelled with the end of a run, and by one call of `work`: about 1 ms. */
const CANCELLED_WITH_RUN = 20;
const CANCELLED_AT_ONCE = 100;

interface NewEntry {
  readonly id: MessageId;
  readonly step: StepMark;
  readonly content: Uint8Array;
  readonly envelope: Envelope;
  readonly notBeforeMs: number;
}

/** Appends and schedules an entry; a run that becomes too large fails. */
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
  /** The text for the invoking step, if it was made before. */
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

/**
 * Cancels waiting messages of runs that have ended.
 * @returns whether more are left
 */
export function cancelLeftovers({ state, context, evolve }: QueueTurn): boolean {
  let room = CANCELLED_AT_ONCE;
  for (const id of state.runs.leftovers) {
    if (room === 0) return true;
    evolve({ type: 'MessageCancelled', id, atMs: context.nowMs });
    room -= 1;
  }
  return false;
}

/** The outcome of the delivery that failed the run. */
export interface RunFailure {
  /** The message of the failed delivery; pending. */
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
  // Before the parent gets the result: the parent may fail with it, and its DLQ entry may push this one out.
  callFailureFunction(run, { message, outcome, error }, dlqId, failureIdOf(message), turn);
  tellInvoker(run, end, turn);
  expireBeyondLimit(turn);
}

/** The status of the answer to an endpoint with a refused step. */
const REFUSED_STATUS = 412;

/**
 * Fails a run with a step that can never be accepted, without another attempt. The reason has the form of an error
 * that an endpoint reports: failure functions of published clients read only the member `message` of the body.
 * @param message the delivery, or the call, that the step came from; pending
 */
export function failRefused(run: Run, message: Message, error: string, turn: QueueTurn): void {
  const body = Buffer.from(JSON.stringify({ error: 'StepRefused', message: error }), 'utf8');
  const outcome = {
    kind: 'response',
    status: REFUSED_STATUS,
    header: NO_HEADER,
    body,
    isCut: false,
    durationMs: 0,
  } as const;
  failRun(run, { message, outcome, error }, turn);
}

/** Fails a run that is too large: its newest entry fails instead of being delivered. */
function failGrown(run: Run, id: MessageId, error: string, turn: QueueTurn): void {
  const message = turn.state.messages.pending(id);
  failRun(run, { message, outcome: { kind: 'no-response', error, durationMs: 0 }, error }, turn);
}

/**
 * Sends the failure message: a failure callback that names the run. The payload is added when it is sent, so that it
 * is stored once.
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
  const content = callbackBody(
    source,
    told,
    dlqId,
    { headerWords: turn.runWords(origin.isAlias) },
    {
      workflowRunId: run.id,
      workflowCreatedAt: run.createdAtMs,
      // Without an answer, the body has the reason instead.
      ...(outcome.kind === 'response' ? {} : { error }),
    },
  );
  const envelope = failureEnvelope(origin, failureCallback);
  const part = { role: 'failure', ...partOf(run), dlqId, payload: payload.body } as const;
  const notBefore = turn.context.nowMs + failureCallback.settings.delaySeconds * 1000;
  acceptPart({ id, envelope, body: turn.state.bodies.carried(content), notBeforeMs: notBefore, part }, turn);
}

function failureIdOf({ id, retried }: Message): MessageId {
  return derivedMessageId(`${id} failure ${retried}`);
}

/** Delivers the child's end as the result of the invoking step. */
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

/**
 * @param stepText a JSON object
 * @returns the object with the further members, as bytes
 */
export function withMembers(stepText: string, members: Readonly<Record<string, unknown>>): Uint8Array {
  const more = JSON.stringify(members).slice(1);
  const open = stepText.slice(0, stepText.lastIndexOf('}')).trimEnd();
  return Buffer.from(`${open}${open.endsWith('{') ? '' : ','}${more}`, 'utf8');
}
