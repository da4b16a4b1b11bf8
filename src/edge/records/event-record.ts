/**
 * Entries of the logs, and messages with their entries. Bodies are base64, unlike those of messages; some members
 * have two names.
 */
import { redactedBody, redactedHeader } from '../../domain/queue/index.js';
import type { LogEvent } from '../../ports/index.js';
import type { Spelling } from '../wire-alias.js';
import {
  base64,
  callbackHeaders,
  callerMembers,
  headerObject,
  messageHeader,
  responseTruncated,
  settingsMembers,
  unlessEmpty,
} from './record-parts.js';

export function eventRecord(event: LogEvent, spelling: Spelling) {
  return { ...happened(event, spelling), ...ofMessage(event, spelling) };
}

/** @param events of one message, at least one */
export function groupRecord(events: readonly LogEvent[], spelling: Spelling) {
  return {
    ...ofMessage(events[0] as LogEvent, spelling),
    events: events.map((event) => happened(event, spelling)),
  };
}

function happened(
  { atMs, messageId, envelope, state, error, nextDeliveryAtMs, response }: LogEvent,
  spelling: Spelling,
) {
  const redact = envelope.settings.redact?.response;
  const responseHeaders = response && headerObject(redactedHeader(response.header, redact), spelling);
  return {
    time: atMs,
    messageId,
    state,
    error,
    nextDeliveryTime: nextDeliveryAtMs,
    responseStatus: response?.status,
    responseBody:
      response === undefined || response.body.byteLength === 0
        ? undefined
        : (redactedBody(response.body, redact) ?? base64(response.body)),
    responseBodyTruncated: response && responseTruncated(response),
    responseHeaders,
    responseHeader: responseHeaders,
  };
}

function ofMessage({ messageId, envelope, body, isBodyCut }: LogEvent, spelling: Spelling) {
  const { settings } = envelope;
  const { ofCallback, ofFailureCallback } = callbackHeaders(settings, spelling);
  return {
    messageId,
    url: envelope.url,
    header: unlessEmpty(messageHeader(settings, spelling)),
    body: body.byteLength === 0 ? undefined : (redactedBody(body, settings.redact) ?? base64(body)),
    bodyTruncated: isBodyCut || undefined,
    topicName: envelope.topicName,
    endpointName: envelope.endpointName,
    scheduleId: envelope.scheduleId,
    queueName: envelope.queueName,
    timeout: settings.timeoutSeconds === undefined ? undefined : settings.timeoutSeconds * 1000,
    method: settings.method,
    maxRetries: settings.maxRetries,
    ...settingsMembers(settings),
    retryDelayExpr: settings.retryDelay,
    callbackHeaders: ofCallback,
    failureCallbackHeaders: ofFailureCallback,
    ...callerMembers(envelope.callerIp),
  };
}
