/**
 * Tells the account's owner and his customer that a destination was stopped, was disabled, or works again: a message of
 * the account for each, in the entry of the change.
 *
 *  BRN1 a change of the state has one message for each of the two addresses, also after a repeated command or a takeover
 *  BRN2 the customer's message is a webhook of the endpoint: its secrets sign it
 *  BRN3 an address has no message about itself
 */
import { calledUrl } from '../../../kernel/index.js';
import type { QueueTurn } from '../messages/turn.js';
import { derivedMessageId } from '../model/ids.js';
import { STATE_NOTICE_LABEL } from '../model/limits.js';
import type { Message } from '../model/messages/message.js';
import type { Breaker, Envelope } from '../model/records.js';
import { breakerUrlOf } from '../model/state/breakers.js';

/** A receiver that is down for an hour still gets the message. */
const NOTICE_RETRIES = 8;
const EVENT_TYPES = { open: 'endpoint.stopped', disabled: 'endpoint.disabled', closed: 'endpoint.recovered' } as const;

/**
 * Called before the change is applied.
 * @param message of the attempt that changed the breaker; undefined: a command changed it
 */
export function notifyOf(breaker: Breaker, message: Message | undefined, turn: QueueTurn): void {
  const { breakers, applications } = turn.state;
  const before = breakers.get(breaker.url)?.state ?? 'closed';
  if (before === breaker.state) return;
  const source = message?.shared.envelope;
  const application = source?.webhook && applications.get(source.topicName ?? '');
  const about = { breaker, message, application: application?.id, uid: application?.uid };
  const { notifyUrl } = breakers.rules ?? {};
  if (notifyUrl !== undefined) tell(notifyUrl, { ...about, isOwner: true }, turn);
  if (application?.notifyUrl !== undefined) tell(application.notifyUrl, { ...about, isOwner: false }, turn);
}

interface About {
  readonly breaker: Breaker;
  readonly message: Message | undefined;
  readonly application: string | undefined;
  readonly uid: string | undefined;
  /** Else the customer is told. */
  readonly isOwner: boolean;
}

function tell(notifyUrl: string, about: About, turn: QueueTurn): void {
  const { state, context, evolve } = turn;
  const { breaker, message, isOwner } = about;
  const url = calledUrl(notifyUrl);
  if (breakerUrlOf(url) === breaker.url) return;
  const { nowMs } = context;
  const cause = `${breaker.url} ${breaker.state} ${message?.id ?? ''} ${nowMs}`;
  const id = derivedMessageId(`notice ${cause} ${isOwner}`);
  if (state.messages.get(id) !== undefined) return;
  const source = message?.shared.envelope;
  const eventType = EVENT_TYPES[breaker.state];
  const marks = source?.endpointName === undefined ? [] : [`endpoint=${source.endpointName}`];
  const envelope: Envelope = {
    url,
    settings: {
      method: 'POST',
      header: [['Content-Type', 'application/json']],
      maxRetries: Math.min(NOTICE_RETRIES, context.account.limits.maxRetries),
      retryDelay: undefined,
      timeoutSeconds: undefined,
      delaySeconds: 0,
      callback: undefined,
      failureCallback: undefined,
      flowControl: undefined,
      labels: [STATE_NOTICE_LABEL, ...marks],
      redact: undefined,
    },
    queueName: undefined,
    scheduleId: undefined,
    topicName: isOwner ? undefined : source?.topicName,
    endpointName: isOwner ? undefined : source?.endpointName,
    callerIp: '',
    isAlias: source?.isAlias ?? false,
    callbackOf: undefined,
    ...(isOwner ? {} : { webhook: { id, eventType } }),
  };
  evolve({
    type: 'MessageAccepted',
    id,
    atMs: nowMs,
    envelope,
    body: state.bodies.carried(Buffer.from(JSON.stringify(noticeOf(eventType, about, nowMs)))),
    notBeforeMs: nowMs,
    deduplication: undefined,
    retryOf: undefined,
    holdsPlaceOf: undefined,
  });
}

function noticeOf(type: string, { breaker, message, application, uid }: About, nowMs: number) {
  const { url, state, reason, failures, failingSinceMs, nextProbeAtMs, status, error } = breaker;
  return {
    type,
    timestamp: new Date(nowMs).toISOString(),
    data: {
      url,
      state,
      reason: state === 'disabled' ? reason : undefined,
      applicationId: application,
      applicationUid: uid,
      endpointId: application === undefined ? undefined : message?.shared.envelope.endpointName,
      failures,
      failingSince: failures === 0 ? undefined : failingSinceMs,
      nextProbe: state === 'open' ? nextProbeAtMs : undefined,
      responseStatus: status,
      error: error === '' ? undefined : error,
    },
  };
}
