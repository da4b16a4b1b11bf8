/** A message, and a message in the DLQ, as the API shows them. Members without a value are omitted. */
import { isUtf8 } from 'node:buffer';
import {
  type Envelope,
  type HeaderList,
  type HiddenParts,
  type PendingView,
  redactedBody,
  redactedHeader,
} from '../../domain/queue/index.js';
import type { DlqId, MessageId } from '../../kernel/index.js';
import type { Spelling } from '../wire-alias.js';
import {
  base64,
  bytes,
  type Cut,
  callbackHeaders,
  callerMembers,
  headerObject,
  messageBody,
  messageHeader,
  responseTruncated,
  settingsMembers,
} from './record-parts.js';

export interface MessageRecordInput {
  readonly id: MessageId;
  readonly envelope: Envelope;
  readonly createdAtMs: number;
  readonly notBeforeMs: number;
  /** Undefined: empty. */
  readonly content: Uint8Array | undefined;
  /** Only a part of it is shown. */
  readonly isBodyCut?: Cut;
}

export function messageRecord(message: MessageRecordInput, spelling: Spelling) {
  const { id, envelope, createdAtMs, notBeforeMs, content, isBodyCut } = message;
  const { settings } = envelope;
  const { ofCallback, ofFailureCallback } = callbackHeaders(settings, spelling);
  return {
    messageId: id,
    url: envelope.url,
    method: settings.method,
    header: messageHeader(settings, spelling),
    ...messageBody(content, settings),
    bodyTruncated: isBodyCut || undefined,
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

/** A message in a list: the size of its body instead of the body. */
export function pendingRecord(view: PendingView, spelling: Spelling) {
  return {
    state: view.state,
    ...messageRecord({ ...view, content: undefined }, spelling),
    bodySize: view.body.bytes,
    retried: view.retried,
    nextDeliveryTime: view.dueAtMs,
  };
}

export interface DeadLetterRecordInput {
  readonly dlqId: DlqId;
  readonly message: MessageRecordInput;
  /** Status 0: no answer. */
  readonly status: number;
  readonly header: HeaderList;
  readonly response: Uint8Array | undefined;
  /** Only a part of the stored answer is shown. */
  readonly isCut?: Cut;
  readonly error: string;
}

export function dlqRecord(entry: DeadLetterRecordInput, spelling: Spelling) {
  return {
    dlqId: entry.dlqId,
    ...messageRecord(entry.message, spelling),
    ...responseMembers(
      { status: entry.status, header: entry.header, body: entry.response, isCut: entry.isCut },
      entry.message.envelope.settings.redact?.response,
      spelling,
    ),
    error: entry.error === '' ? undefined : entry.error,
  };
}

function responseBody(
  body: Uint8Array | undefined,
  redact: HiddenParts | undefined,
): { responseBody?: string; responseBodyBase64?: string } {
  if (body === undefined || body.byteLength === 0) return {};
  const redacted = redactedBody(body, redact);
  if (redacted !== undefined) return { responseBody: redacted };
  return isUtf8(body) ? { responseBody: bytes(body).toString('utf8') } : { responseBodyBase64: base64(body) };
}

/** Members of an answer; a missing or empty body is omitted. */
export function responseMembers(
  { status, header, body, isCut }: { status: number; header: HeaderList; body: Uint8Array | undefined; isCut?: Cut },
  redact: HiddenParts | undefined,
  spelling: Spelling,
) {
  return {
    responseStatus: status,
    responseHeader: headerObject(redactedHeader(header, redact), spelling),
    ...responseBody(body, redact),
    responseBodyTruncated: responseTruncated({ header, body, isCut }),
  };
}
