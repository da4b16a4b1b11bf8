/**
 * A failed run in the DLQ as the API shows it: the message that failed, the run's payload and settings, the last
 * answer, and the state of its failure function. Members without a value are omitted.
 */
import { isUtf8 } from 'node:buffer';
import { canonicalHeaderName, type Envelope, type HeaderList, redactedHeader } from '../../../domain/queue/index.js';
import type { FailedRunView } from '../../../domain/queue/runs/index.js';
import { bytesOfText } from '../../../kernel/index.js';
import { dlqRecord } from '../../records/message-record.js';
import { base64, bytes, headerObject, responseTruncated } from '../../records/record-parts.js';
import type { Spelling } from '../../wire-alias.js';

export function workflowDlqRecord(view: FailedRunView, spelling: Spelling) {
  const { entry, envelope, runId, runCreatedAtMs, payloadContent, failureFunction } = view;
  const { dlqId, messageId: id, createdAtMs, notBeforeMs, response } = entry;
  const { url, settings } = entry.envelope;
  const message = { id, envelope, createdAtMs, notBeforeMs, content: payloadContent };
  const { status, header, error } = response;
  return {
    ...dlqRecord({ dlqId, message, status, header, error, response: view.responseContent }, spelling),
    url,
    method: settings.method,
    header: headerObject(initialHeader(view), spelling),
    maxRetries: settings.maxRetries,
    workflowRunId: runId,
    workflowCreatedAt: runCreatedAtMs,
    workflowUrl: envelope.url,
    failureFunctionState: failureFunction?.state,
    failureCallbackInfo: callbackInfo(view, spelling),
  };
}

/** Status 0: no answer yet. */
function callbackInfo({ failureFunction, failureFunctionContent }: FailedRunView, spelling: Spelling) {
  if (failureFunction === undefined) return undefined;
  const { state, status, header } = failureFunction;
  if (status === 0) return { state };
  const shown = failureFunctionContent ?? new Uint8Array(0);
  return {
    state,
    responseStatus: status,
    responseHeaders: headerObject(header, spelling),
    ...(isUtf8(shown) ? { responseBody: bytes(shown).toString('utf8') } : { responseBodyBase64: base64(shown) }),
    responseBodyTruncated: responseTruncated({ header, body: shown }),
  };
}

/** The headers of the run's start: those forwarded to its endpoint, and those that configure it. */
function initialHeader({ envelope, runId }: FailedRunView): HeaderList {
  const forwarded = redactedHeader(envelope.settings.header, envelope.settings.redact);
  const names = new Set(forwarded.map(([name]) => name));
  return [...forwarded, ...configuration(envelope, runId).filter(([name]) => !names.has(name))];
}

function configuration({ url, settings }: Envelope, runId: string): HeaderList {
  const { maxRetries, retryDelay, flowControl, labels, failureCallback } = settings;
  const parts = flowControl && [
    flowControl.parallelism === undefined ? undefined : `parallelism=${flowControl.parallelism}`,
    flowControl.rate === undefined ? undefined : `rate=${flowControl.rate}, period=${flowControl.periodSeconds}`,
  ];
  const given: readonly (readonly [string, string | undefined])[] = [
    ['workflow-runid', runId],
    ['workflow-url', url],
    ['workflow-init', 'true'],
    ['retries', String(maxRetries)],
    ['retry-delay', retryDelay],
    ['flow-control-key', flowControl?.key],
    ['flow-control-value', parts?.filter((part) => part !== undefined).join(', ')],
    ['label', labels.length === 0 ? undefined : labels.join(',')],
    ['failure-callback', failureCallback?.url],
  ];
  return given.flatMap(([name, value]) =>
    value === undefined ? [] : [[canonicalHeaderName(`svc-${name}`), bytesOfText(value)] as const],
  );
}
