/**
 * What an attempt comes to. The outcome and all that follows from it are one turn: the retry or the DLQ entry, the
 * callbacks, the free place and token.
 *
 *  ATT1 an outcome counts for the attempt that is open and for no other: a late or repeated one changes nothing
 *  ATT2 a callback is accepted before its message ends, so that the place in a queue passes to it without a gap
 *  ATT3 an attempt that crashes interrupted too often counts as a failed one: a message cannot kill its owner for ever
 */
import { calledUrl, type DlqId, type MessageId } from '../../../kernel/index.js';
import type { AttemptOutcome, QueueCommandOf, QueueReply } from '../commands.js';
import { derivedMessageId, dlqIdOf } from '../ids.js';
import { MAX_ATTEMPT_RESTARTS } from '../limits.js';
import { ACTIVE, type Message } from '../messages/message.js';
import type { CallbackSetting, DeliverySettings, Envelope, HeaderList } from '../records.js';
import { expireBeyondLimit } from '../runs/run-end.js';
import { concludeForRun } from '../runs/run-outcomes.js';
import { isOfTrace } from '../settings/header-names.js';
import type { QueueTurn } from '../turn.js';
import { type CallbackSource, callbackBody } from './callback-body.js';
import { keptResponse } from './kept-response.js';
import { isFinalRefusal, nextDelayMs } from './retry-policy.js';

const EMPTY = new Uint8Array(0);
const NO_HEADER: HeaderList = [];

export function recordAttempt(
  { id, retried, restarts, outcome, sentBody }: QueueCommandOf<'RecordAttempt'>,
  turn: QueueTurn,
): QueueReply {
  const message = turn.state.messages.get(id);
  const isOpen = message?.status === ACTIVE && message.retried === retried && message.restarts === restarts;
  if (isOpen) conclude(message, outcome, sentBody ?? EMPTY, turn);
  return { type: 'Done' };
}

/** Starts the next attempt, or one again that a crash interrupted. @returns whether a call is to be made */
export function startAttempt(message: Message, turn: QueueTurn): boolean {
  const { id, retried } = message;
  const atMs = turn.context.nowMs;
  if (isOfEndedRun(message, turn)) {
    turn.evolve({ type: 'MessageCancelled', id, atMs });
    return false;
  }
  if (message.status !== ACTIVE) {
    turn.evolve({ type: 'AttemptStarted', id, atMs, retried, restarts: 0 });
    return true;
  }
  if (message.isCancelRequested) {
    turn.evolve({ type: 'MessageCancelled', id, atMs });
    return false;
  }
  if (message.restarts >= MAX_ATTEMPT_RESTARTS) {
    conclude(message, { kind: 'no-response', error: 'interrupted', durationMs: 0 }, EMPTY, turn);
    return false;
  }
  turn.evolve({ type: 'AttemptStarted', id, atMs, retried, restarts: message.restarts + 1 });
  return true;
}

function conclude(message: Message, outcome: AttemptOutcome, sentBody: Uint8Array, turn: QueueTurn): void {
  const place = turn.state.runs.placeOf(message.id);
  if (place !== undefined) {
    concludeForRun(message, place, outcome, sentBody, turn);
    return;
  }
  const { id, retried, isCancelRequested } = message;
  const { settings } = message.shared.envelope;
  const { durationMs } = outcome;
  const atMs = turn.context.nowMs;
  const status = outcome.kind === 'response' ? outcome.status : 0;
  const sent = { message, sentBody, outcome };
  if (settings.callback !== undefined) callBack(settings.callback, 'callback', sent, undefined, turn);
  if (status >= 200 && status < 300) {
    turn.evolve({ type: 'MessageDelivered', id, atMs, status, durationMs });
    return;
  }
  const header = outcome.kind === 'response' ? outcome.header : NO_HEADER;
  const response = outcome.kind === 'response' ? keptResponse(outcome.body) : EMPTY;
  const error = outcome.kind === 'response' ? `HTTP status ${status}` : outcome.error;
  const mayRetry =
    !isCancelRequested &&
    retried < settings.maxRetries &&
    !isFinalRefusal(status, header, turn.words.nonRetryableNames);
  const failed = { type: 'AttemptFailed', id, atMs, status, durationMs, error, header, response } as const;
  if (mayRetry) {
    const answered = outcome.kind === 'response' ? header : undefined;
    const nextAtMs = atMs + nextDelayMs({ settings, retried, header: answered, nowMs: atMs });
    turn.evolve({ nextAtMs, ...failed });
    return;
  }
  if (isCancelRequested) {
    turn.evolve({ nextAtMs: undefined, ...failed });
    turn.evolve({ type: 'MessageCancelled', id, atMs });
    return;
  }
  const dlqId = dlqIdOf(atMs, turn.state.deadLetters.next);
  if (settings.failureCallback !== undefined) callBack(settings.failureCallback, 'failure', sent, dlqId, turn);
  turn.evolve({ nextAtMs: undefined, ...failed });
  const carried = turn.state.bodies.carried(response);
  turn.evolve({ type: 'MessageDeadLettered', id, dlqId, atMs, status, error, header, response: carried });
  expireBeyondLimit(turn);
}

interface Sent {
  readonly message: Message;
  readonly sentBody: Uint8Array;
  readonly outcome: AttemptOutcome;
}

function callBack(
  { url, settings }: CallbackSetting,
  kind: 'callback' | 'failure',
  { message, sentBody, outcome }: Sent,
  dlqId: DlqId | undefined,
  turn: QueueTurn,
): void {
  const { state, context, evolve } = turn;
  const { id, retried, createdAtMs, notBeforeMs } = message;
  const source = message.shared.envelope;
  const described: CallbackSource = { id, envelope: source, body: sentBody, createdAtMs, notBeforeMs, retried };
  const content = callbackBody(described, outcome, dlqId, context.account.limits.maxMessageBytes, turn.deliveredWords);
  const envelope: Envelope = {
    url: calledUrl(url),
    settings: inTraceOf(source, settings),
    queueName: undefined,
    scheduleId: undefined,
    topicName: undefined,
    endpointName: undefined,
    callerIp: source.callerIp,
    isAlias: source.isAlias,
    callbackOf: id,
  };
  evolve({
    type: 'MessageAccepted',
    id: callbackId(id, kind, retried),
    atMs: context.nowMs,
    envelope,
    body: turn.state.bodies.carried(content),
    notBeforeMs: context.nowMs + settings.delaySeconds * 1000,
    deduplication: undefined,
    retryOf: undefined,
    holdsPlaceOf: state.queues.placeOf(id) === undefined ? undefined : id,
  });
}

/** A callback is of the trace of its message; where a schedule made that, nobody knows here which it is. */
function inTraceOf({ scheduleId, settings: { header } }: Envelope, settings: DeliverySettings): DeliverySettings {
  if (scheduleId !== undefined || !header.some(isOfTrace)) return settings;
  const own = settings.header.filter((pair) => !isOfTrace(pair));
  return { ...settings, header: [...own, ...header.filter(isOfTrace)] };
}

/** One attempt has one outcome, however often a crash had it made again: the retry names it. */
export function callbackId(of: MessageId, kind: 'callback' | 'failure', retried: number): MessageId {
  return derivedMessageId(`${of} ${kind} ${retried}`);
}

/** Nothing is sent, or sent again, for a run that is over; its failure function is called all the same. */
export function isOfEndedRun(message: Message, { state }: Pick<QueueTurn, 'state'>): boolean {
  if (message.shared.envelope.workflow === undefined) return false;
  const place = state.runs.placeOf(message.id);
  return place !== undefined && place.part.role !== 'failure' && (place.run === undefined || place.run.isOver);
}
