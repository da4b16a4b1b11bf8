/** A message, and a message in the DLQ, as their readers see them. Members without a value are left out. */
import { isUtf8 } from 'node:buffer';
import type { Envelope, HeaderList, PendingView } from '../../domain/queue/index.js';
import type { DlqId, MessageId } from '../../kernel/index.js';
import type { Spelling } from '../wire-alias.js';
import {
  base64,
  bytes,
  callbackHeaders,
  callerMembers,
  headerObject,
  messageBody,
  messageHeader,
  settingsMembers,
} from './shown.js';

export interface ShownMessage {
  readonly id: MessageId;
  readonly envelope: Envelope;
  readonly createdAtMs: number;
  readonly notBeforeMs: number;
  /** Undefined: empty. */
  readonly content: Uint8Array | undefined;
}

export function messageRecord({ id, envelope, createdAtMs, notBeforeMs, content }: ShownMessage, spelling: Spelling) {
  const { settings } = envelope;
  const { ofCallback, ofFailureCallback } = callbackHeaders(settings, spelling);
  return {
    messageId: id,
    url: envelope.url,
    method: settings.method,
    header: messageHeader(settings, spelling),
    ...messageBody(content, settings),
    maxRetries: settings.maxRetries,
    notBefore: notBeforeMs,
    createdAt: createdAtMs,
    topicName: envelope.topicName,
    endpointName: envelope.endpointName,
    queueName: envelope.queueName,
    scheduleId: envelope.scheduleId,
    ...settingsMembers(settings),
    callbackHeader: ofCallback,
    failureCallbackHeader: ofFailureCallback,
    ...callerMembers(envelope.callerIp),
  };
}

/** A message among others: without its body, whose size it tells. */
export function pendingRecord(view: PendingView, spelling: Spelling) {
  return {
    state: view.state,
    ...messageRecord({ ...view, content: undefined }, spelling),
    bodySize: view.body.bytes,
    retried: view.retried,
    nextDeliveryTime: view.dueAtMs,
  };
}

export interface ShownDeadLetter {
  readonly dlqId: DlqId;
  readonly message: ShownMessage;
  /** Status 0: there was none. */
  readonly status: number;
  readonly header: HeaderList;
  readonly response: Uint8Array | undefined;
  readonly error: string;
}

export function dlqRecord(entry: ShownDeadLetter, spelling: Spelling) {
  return {
    dlqId: entry.dlqId,
    ...messageRecord(entry.message, spelling),
    ...responseMembers({ status: entry.status, header: entry.header, body: entry.response }, spelling),
    error: entry.error === '' ? undefined : entry.error,
  };
}

/** What came back. @param response its body left out, or empty: there was none */
export function responseMembers(
  { status, header, body }: { status: number; header: HeaderList; body: Uint8Array | undefined },
  spelling: Spelling,
) {
  const isEmpty = body === undefined || body.byteLength === 0;
  return {
    responseStatus: status,
    responseHeader: headerObject(header, spelling),
    ...(isEmpty
      ? {}
      : isUtf8(body)
        ? { responseBody: bytes(body).toString('utf8') }
        : { responseBodyBase64: base64(body) }),
  };
}
