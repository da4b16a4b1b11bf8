/**
 * Outcomes of attempts for a run's messages. A delivery without attempts left fails the run; a call to a third party
 * without attempts left is a result; a failure function without attempts left is recorded with its failed run.
 */
import { callbackBody } from '../messages/callback-body.js';
import { keptResponse } from '../messages/kept-response.js';
import { isFinalRefusal, nextDelayMs } from '../messages/retry-policy.js';
import type { AttemptWords, QueueTurn } from '../messages/turn.js';
import type { AttemptOutcome } from '../model/commands.js';
import { derivedMessageId } from '../model/ids.js';
import type { Message } from '../model/messages/message.js';
import type { HeaderList, WorkflowMark } from '../model/records.js';
import type { FailureFunctionState, RunPart } from '../model/run-records.js';
import type { Run } from '../model/runs/run.js';
import type { RunPlace } from '../model/runs/run-places.js';
import { failRefused, failRun } from './run-end.js';
import { resultEnvelope } from './run-envelopes.js';
import { acceptPart } from './run-parts.js';

const EMPTY = new Uint8Array(0);
const NO_HEADER: HeaderList = [];
const NOT_A_WORKFLOW =
  'detected a non-workflow destination for trigger/invoke. make sure you are sending the request to the correct endpoint';
const TOO_OLD_A_CLIENT = 'trigger rest api is only usable with sdk versions after v1.0.0 major version';

interface Attempted {
  readonly message: Message;
  readonly outcome: AttemptOutcome;
  readonly sentBody: Uint8Array;
  readonly status: number;
  readonly header: HeaderList;
  readonly response: Uint8Array;
  readonly error: string;
}

export function concludeForRun(
  message: Message,
  { part, run }: RunPlace,
  outcome: AttemptOutcome,
  sentBody: Uint8Array,
  turn: QueueTurn,
): void {
  const isResponse = outcome.kind === 'response';
  const status = isResponse ? outcome.status : 0;
  const attempted: Attempted = {
    message,
    outcome,
    sentBody,
    status,
    header: isResponse ? outcome.header : NO_HEADER,
    response: isResponse ? outcome.body : EMPTY,
    error: isResponse ? `HTTP status ${status}` : outcome.error,
  };
  if (part.role === 'failure') concludeFunction(attempted, part, turn);
  else if (run === undefined || run.isOver) concludeLate(attempted, turn);
  else if (part.role === 'call') concludeCall(attempted, part, run, turn);
  else concludeDelivery(attempted, part, run, turn);
}

function isSuccess({ status }: Attempted): boolean {
  return status >= 200 && status < 300;
}

/** The run has ended: the outcome is only recorded. */
function concludeLate(attempted: Attempted, turn: QueueTurn): void {
  const { id } = attempted.message;
  if (isSuccess(attempted)) delivered(attempted, turn);
  else {
    failed(attempted, undefined, turn);
    turn.evolve({ type: 'MessageCancelled', id, atMs: turn.context.nowMs });
  }
}

function concludeDelivery(
  attempted: Attempted,
  part: Extract<RunPart, { role: 'step' | 'result' }>,
  run: Run,
  turn: QueueTurn,
): void {
  const { message, outcome, header } = attempted;
  if (isSuccess(attempted)) {
    const mark = message.shared.envelope.workflow;
    const problem = part.role === 'step' && mark !== undefined ? endpointProblem(header, mark, turn.words) : undefined;
    if (problem === undefined) delivered(attempted, turn);
    else failRun(run, { message, outcome, error: problem }, turn);
    return;
  }
  const nextAtMs = nextAttemptMs(attempted, turn);
  if (nextAtMs !== undefined) failed(attempted, nextAtMs, turn);
  else failRun(run, { message, outcome, error: attempted.error }, turn);
}

/** The reason why a successful answer does not come from a workflow endpoint, or from one that is too old. */
function endpointProblem(header: HeaderList, mark: WorkflowMark, words: AttemptWords): string | undefined {
  if (mark.detectsTrigger && protocolHeader(header, 'Workflow-Sdk-Version', words) === undefined) return NOT_A_WORKFLOW;
  if (!mark.needsRecentClient) return undefined;
  const version = /^v?(\d+)\./.exec(protocolHeader(header, 'Workflow-Sdk', words) ?? '');
  return version !== null && Number(version[1]) >= 1 ? undefined : TOO_OLD_A_CLIENT;
}

/** A call has one callback, at its end. */
function concludeCall(attempted: Attempted, part: Extract<RunPart, { role: 'call' }>, run: Run, turn: QueueTurn): void {
  const { message, outcome, sentBody } = attempted;
  const nextAtMs = isSuccess(attempted) ? undefined : nextAttemptMs(attempted, turn);
  if (nextAtMs !== undefined) {
    failed(attempted, nextAtMs, turn);
    return;
  }
  const { id, shared, createdAtMs, notBeforeMs, retried } = message;
  const { callback } = shared.envelope.settings;
  if (outcome.kind === 'response' && outcome.isCut) {
    // Otherwise the step would take the beginning of the answer for all of it.
    const most = turn.context.account.limits.maxMessageBytes;
    failRefused(run, message, `the answer to the call is larger than a message may be: ${most} bytes`, turn);
    return;
  }
  if (callback !== undefined) {
    // An endpoint waits for the last callback of a call, which it recognises by used-up retries; so `maxRetries` is
    // set to the retries made.
    const settings = { ...shared.envelope.settings, maxRetries: retried };
    const told = isSuccess(attempted) ? shared.envelope : { ...shared.envelope, settings };
    const source = { id, envelope: told, body: sentBody, createdAtMs, notBeforeMs, retried };
    const content = callbackBody(source, outcome, undefined, { headerWords: turn.deliveredWords });
    const isConfigured = shared.envelope.workflow?.isConfiguredByTrigger ?? true;
    const envelope = turn.state.envelopes.commonOf(resultEnvelope(run.shared.envelope, callback, isConfigured));
    const { runId, runCreatedAtMs, step } = part;
    const result = { role: 'result', runId, runCreatedAtMs, step, callId: id } as const;
    const resultId = derivedMessageId(`${id} callback ${retried}`);
    const dueAtMs = turn.context.nowMs + callback.settings.delaySeconds * 1000;
    acceptPart(
      { id: resultId, envelope, body: turn.state.bodies.carried(content), notBeforeMs: dueAtMs, part: result },
      turn,
    );
  }
  if (isSuccess(attempted)) delivered(attempted, turn);
  else {
    failed(attempted, undefined, turn);
    turn.evolve({ type: 'MessageFailed', id, atMs: turn.context.nowMs, error: attempted.error });
  }
}

function concludeFunction(
  attempted: Attempted,
  { runId, dlqId }: Extract<RunPart, { role: 'failure' }>,
  turn: QueueTurn,
): void {
  const { message, status, header, error } = attempted;
  const { id, isCancelRequested } = message;
  const atMs = turn.context.nowMs;
  const ended = (state: Exclude<FailureFunctionState, 'CALLBACK_INPROGRESS'> | undefined) => {
    const response = turn.state.bodies.carried(keptResponse(attempted.response));
    turn.evolve({ type: 'FailureFunctionEnded', runId, dlqId, state, status, header, response, atMs });
  };
  if (isSuccess(attempted)) {
    const isMissing =
      protocolHeader(header, 'Workflow-Failure-Callback-Notfound', turn.words)?.toLowerCase() === 'true';
    // A cancelled failure function stays cancelled.
    if (!isCancelRequested) ended(isMissing ? undefined : 'CALLBACK_SUCCESS');
    delivered(attempted, turn);
    return;
  }
  const nextAtMs = isCancelRequested ? undefined : nextAttemptMs(attempted, turn);
  failed(attempted, nextAtMs, turn);
  if (nextAtMs !== undefined) return;
  if (isCancelRequested) turn.evolve({ type: 'MessageCancelled', id, atMs });
  else {
    ended('CALLBACK_FAIL');
    turn.evolve({ type: 'MessageFailed', id, atMs, error });
  }
}

/** Undefined: no attempt is left. */
function nextAttemptMs({ message, outcome, status, header }: Attempted, turn: QueueTurn): number | undefined {
  const { settings } = message.shared.envelope;
  const { retried } = message;
  if (retried >= settings.maxRetries || isFinalRefusal(status, header, turn.words.nonRetryableNames)) return undefined;
  const { nowMs } = turn.context;
  return nowMs + nextDelayMs({ settings, retried, header: outcome.kind === 'response' ? header : undefined, nowMs });
}

function delivered({ message, status, outcome }: Attempted, turn: QueueTurn): void {
  const { durationMs } = outcome;
  turn.evolve({ type: 'MessageDelivered', id: message.id, atMs: turn.context.nowMs, status, durationMs });
}

function failed(
  { message, status, header, response, error, outcome }: Attempted,
  nextAtMs: number | undefined,
  turn: QueueTurn,
): void {
  const { durationMs } = outcome;
  const atMs = turn.context.nowMs;
  const { id } = message;
  turn.evolve({
    type: 'AttemptFailed',
    id,
    atMs,
    status,
    durationMs,
    error,
    header,
    response: keptResponse(response),
    nextAtMs,
  });
}

/** The value of a protocol header, in either spelling. */
function protocolHeader(header: HeaderList, name: string, { aliasHeaderWord }: AttemptWords): string | undefined {
  const wanted = ['svc', ...(aliasHeaderWord === undefined ? [] : [aliasHeaderWord])].map((word) =>
    `${word}-${name}`.toLowerCase(),
  );
  return header.find(([given]) => wanted.includes(given.toLowerCase()))?.[1];
}
