/** An entry of the logs. Its bodies are base64, unlike those of messages; some members have two names. */
import { redactedBody } from '../../../domain/queue/index.js';
import type { LogEvent } from '../../../ports/index.js';
import type { Spelling } from '../../wire-alias.js';
import {
  base64,
  callbackHeaders,
  callerMembers,
  headerObject,
  messageHeader,
  settingsMembers,
  unlessEmpty,
} from './shown.js';

export function eventRecord(event: LogEvent, spelling: Spelling) {
  const { envelope, response } = event;
  const { settings } = envelope;
  const { ofCallback, ofFailureCallback } = callbackHeaders(settings, spelling);
  const responseHeaders = response === undefined ? undefined : headerObject(response.header, spelling);
  return {
    time: event.atMs,
    messageId: event.messageId,
    state: event.state,
    url: envelope.url,
    header: unlessEmpty(messageHeader(settings, spelling)),
    body: event.body.byteLength === 0 ? undefined : (redactedBody(event.body, settings.redact) ?? base64(event.body)),
    error: event.error,
    nextDeliveryTime: event.nextDeliveryAtMs,
    topicName: envelope.topicName,
    endpointName: envelope.endpointName,
    scheduleId: envelope.scheduleId,
    queueName: envelope.queueName,
    responseStatus: response?.status,
    responseBody: response === undefined || response.body.byteLength === 0 ? undefined : base64(response.body),
    responseHeaders,
    responseHeader: responseHeaders,
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
