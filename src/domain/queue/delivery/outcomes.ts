/**
 * Outcomes of attempts for messages that do not belong to a run. One turn holds the outcome and its consequences: the
 * retry or DLQ entry, the callbacks, the freed place and token. Callbacks come first: ATT2 (a callback is accepted before
 * its message ends).
 */
import { calledUrl, type DlqId, type MessageId } from '../../../kernel/index.js';
import { type CallbackSource, callbackBody } from '../messages/callback-body.js';
import { expireBeyondLimit } from '../messages/dlq-expiry.js';
import { keptAnswerOf, keptResponse } from '../messages/kept-response.js';
import { isFinalRefusal, nextDelayMs } from '../messages/retry-policy.js';
import type { QueueTurn } from '../messages/turn.js';
import type { AttemptOutcome } from '../model/commands.js';
import { derivedMessageId, dlqIdOf } from '../model/ids.js';
import type { Message } from '../model/messages/message.js';
import type { CallbackSetting, DeliverySettings, Envelope, HeaderList } from '../model/records.js';
import { isOfTrace } from '../model/settings/header-names.js';

const EMPTY = new Uint8Array(0);
const NO_HEADER: HeaderList = [];

export function concludeForMessage(
  message: Message,
  outcome: AttemptOutcome,
  sentBody: Uint8Array,
  turn: QueueTurn,
): void {
  const { id, retried, isCancelRequested } = message;
  const { settings } = message.shared.envelope;
  const { durationMs } = outcome;
  const atMs = turn.context.nowMs;
  const status = outcome.kind === 'response' ? outcome.status : 0;
  const sent = { message, sentBody, outcome };
  if (settings.callback !== undefined) callBack(settings.callback, 'callback', sent, undefined, turn);
  if (outcome.kind === 'response' && status >= 200 && status < 300) {
    const answer = keptAnswerOf(outcome, turn.keptAnswerBytes);
    turn.evolve({ type: 'MessageDelivered', id, atMs, status, durationMs, ...(answer && { answer }) });
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

/** The message ends without an attempt, because its destination is stopped. */
export function endUntried(message: Message, error: string, turn: QueueTurn): void {
  const { id } = message;
  const { settings } = message.shared.envelope;
  const atMs = turn.context.nowMs;
  const dlqId = dlqIdOf(atMs, turn.state.deadLetters.next);
  const outcome = { kind: 'no-response', error, durationMs: 0 } as const;
  const sent = { message, sentBody: EMPTY, outcome };
  if (settings.failureCallback !== undefined) callBack(settings.failureCallback, 'failure', sent, dlqId, turn);
  const response = turn.state.bodies.carried(EMPTY);
  turn.evolve({ type: 'MessageDeadLettered', id, dlqId, atMs, status: 0, error, header: NO_HEADER, response });
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
  const form = { maxBodyBytes: context.account.limits.maxMessageBytes, headerWords: turn.deliveredWords };
  const content = callbackBody(described, outcome, dlqId, form);
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

/** A callback joins the trace of its message. For a schedule's message the trace is not known here. */
function inTraceOf({ scheduleId, settings: { header } }: Envelope, settings: DeliverySettings): DeliverySettings {
  if (scheduleId !== undefined || !header.some(isOfTrace)) return settings;
  const own = settings.header.filter((pair) => !isOfTrace(pair));
  return { ...settings, header: [...own, ...header.filter(isOfTrace)] };
}

/** The id depends on the retry and not on restarts: an attempt has one outcome even if a crash repeated it. */
export function callbackId(of: MessageId, kind: 'callback' | 'failure', retried: number): MessageId {
  return derivedMessageId(`${of} ${kind} ${retried}`);
}
