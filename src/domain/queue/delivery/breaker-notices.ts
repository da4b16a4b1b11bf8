/**
 * Tells the account's owner and his customer that a destination was stopped, was disabled, or works again: a message of
 * the account for each, in the entry of the change.
 *
 *  BRN1 a change of the state has one message for each of the two addresses, also after a repeated command or a takeover
 *  BRN2 the customer's message is a webhook of the endpoint: its secrets sign it
 *  BRN3 an address has no message about itself
 *  BRN4 a customer with an e-mail address gets a mail about each change of his endpoints, in plain text and without secrets:
 *       of a URL it has the host. Names, descriptions and errors cannot add a line
 *  BRN5 an application gets at most MAX_APPLICATION_MAILS mails in ten minutes, and an account sends MAILS a minute; the
 *       state is in the portal
 */
import { calledUrl, type MessageId, mailUrlOf } from '../../../kernel/index.js';
import type { QueueTurn } from '../messages/turn.js';
import type { Application } from '../model/application-records.js';
import { derivedMessageId } from '../model/ids.js';
import { ACCEPTED_IDS_MS, MAX_APPLICATION_MAILS, STATE_NOTICE_LABEL } from '../model/limits.js';
import type { Message } from '../model/messages/message.js';
import type { Breaker, DeliverySettings, Envelope } from '../model/records.js';
import { breakerUrlOf } from '../model/state/breakers.js';
import { MAILS, mailText } from './breaker-mails.js';

/** A receiver that is down for an hour still gets the message. */
const NOTICE_RETRIES = 8;
const EVENT_TYPES = { open: 'endpoint.stopped', disabled: 'endpoint.disabled', closed: 'endpoint.recovered' } as const;
const JSON_TYPE = 'application/json';

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
  if (application?.email !== undefined && source !== undefined)
    mail(application.email, application, { breaker, source }, turn);
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
  const { state, context } = turn;
  const { breaker, message, isOwner } = about;
  const url = calledUrl(notifyUrl);
  if (breakerUrlOf(url) === breaker.url) return;
  const { nowMs } = context;
  const cause = `${breaker.url} ${breaker.state} ${message?.id ?? ''} ${nowMs}`;
  const id = derivedMessageId(`notice ${cause} ${isOwner}`);
  if (state.messages.get(id) !== undefined) return;
  const source = message?.shared.envelope;
  const eventType = EVENT_TYPES[breaker.state];
  const envelope: Envelope = {
    ...envelopeTo(url, JSON_TYPE, source, turn),
    topicName: isOwner ? undefined : source?.topicName,
    endpointName: isOwner ? undefined : source?.endpointName,
    ...(isOwner ? {} : { webhook: { id, eventType } }),
  };
  accept(id, envelope, JSON.stringify(noticeOf(eventType, about, nowMs)), turn);
}

/** BRN4 (one mail for each change). A message to the customer's `notifyUrl` is a webhook, but not of an endpoint. */
function mail(address: string, application: Application, { breaker, source }: MailedAbout, turn: QueueTurn): void {
  const { state, context, mailsCustomers } = turn;
  if (!mailsCustomers || source.settings.labels.includes(STATE_NOTICE_LABEL)) return;
  const id = freeMailId(application.id, turn);
  if (id === undefined) return;
  const { id: endpoint = '', description = '' } =
    state.applications.endpoint(application.id, source.endpointName ?? '') ?? {};
  const envelope = envelopeTo(mailUrlOf(address), 'text/plain; charset=utf-8', source, turn);
  const settings: DeliverySettings = { ...envelope.settings, flowControl: MAILS };
  const text = mailText({ breaker, application, endpoint, description, nowMs: context.nowMs });
  accept(id, { ...envelope, settings }, text, turn);
}

interface MailedAbout {
  readonly breaker: Breaker;
  /** Of the webhook with the attempt that changed the breaker. */
  readonly source: Envelope;
}

/** BRN5 (a bounded number): each period has so many ids, and ids of accepted messages are known for longer than a period. */
function freeMailId(application: string, { state, context }: QueueTurn): MessageId | undefined {
  const period = Math.floor(context.nowMs / ACCEPTED_IDS_MS);
  for (let number = 0; number < MAX_APPLICATION_MAILS; number += 1) {
    const id = derivedMessageId(`mail ${application} ${period} ${number}`);
    if (!state.acceptedIds.has(id)) return id;
  }
  return undefined;
}

function envelopeTo(url: string, type: string, source: Envelope | undefined, { context }: QueueTurn): Envelope {
  const marks = source?.endpointName === undefined ? [] : [`endpoint=${source.endpointName}`];
  return {
    url,
    settings: {
      method: 'POST',
      header: [['Content-Type', type]],
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
    topicName: undefined,
    endpointName: undefined,
    callerIp: '',
    isAlias: source?.isAlias ?? false,
    callbackOf: undefined,
  };
}

function accept(id: MessageId, envelope: Envelope, body: string, { state, context, evolve }: QueueTurn): void {
  const { nowMs } = context;
  evolve({
    type: 'MessageAccepted',
    id,
    atMs: nowMs,
    envelope,
    body: state.bodies.carried(Buffer.from(body)),
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
