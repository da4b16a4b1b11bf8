/**
 * Messages of workflow runs as a call asks for them. Which they are is in their headers; what they are to their run is
 * read here, so that the run's owner parses nothing.
 *
 * Headers that cannot be forwarded are left out, not refused.
 */
import { type PublishItem, parseDestinationUrl } from '../../domain/queue/index.js';
import {
  type AskedDelivery,
  type AskedInvoker,
  MAX_STEP_TEXT_BYTES,
  type WorkflowItem,
} from '../../domain/queue/runs/index.js';
import { queueBodyTooLarge } from '../error-map.js';
import { parseJson } from '../http/json-items.js';
import { invalid, inWordsOf, RefusedRequest } from '../http/refused.js';
import { bytes } from '../records/shown.js';
import { withTrace } from './message-trace.js';
import { type AskedMessage, checkedDestination, publishItem, refuseForbidden, settingsOf } from './publish-items.js';
import type { QueueCall } from './queue-call.js';
import { headersOf } from './requests/header-members.js';
import { InvokeRequest } from './requests/invoke.js';
import { headerValue, markOf, type RunHeaders, runHeadersOf } from './run-headers.js';
import { checkedRunId } from './run-names.js';
import { stepOfCall, stepOfObject, stepOfRecord } from './step-marks.js';

/**
 * Handed on by endpoints with whatever else they were called with. Nobody here undoes a coding, and a failure that is
 * told in one could not be read.
 */
const CODINGS = ['svc-forward-accept-encoding', 'svc-failure-callback-forward-accept-encoding'];
const INVOKE_COUNT = 'svc-forward-svc-workflow-invoke-count';

/** A plain message, or one of a run: its headers tell. @throws Refused 400, 412, 413 */
export function askedItem(call: QueueCall, asked: AskedMessage): PublishItem {
  const run = runHeadersOf(asked.raw.headers);
  return run === undefined ? publishItem(call, asked) : runItem(call, asked, run);
}

/** @param more of a trigger that the server makes for a client. @throws as `askedItem` */
export function runItem(
  call: QueueCall,
  asked: AskedMessage,
  run: RunHeaders,
  more: { readonly needsRecentClient: boolean } = { needsRecentClient: false },
): PublishItem {
  const { destination, body, isAlias, record } = asked;
  const raw = withTrace(asked.raw, call.request.trace, !run.isTrigger || run.isInvoke);
  if (destination.kind === 'group') throw invalid('a workflow is at a url, not in a group');
  const headers =
    run.isCall || !raw.headers.some(isCoding) ? raw.headers : raw.headers.filter((pair) => !isCoding(pair));
  const parsed = settingsOf(call, { headers, query: raw.query }, asked.of, true);
  const invoke = run.isInvoke
    ? InvokeRequest.from(record === undefined ? parseJson(bytes(body)) : record.value)
    : undefined;
  return {
    id: call.newMessageId(),
    destination: checkedDestination(call, destination, parsed.settings, raw),
    // Its own order is the order of the run's entries.
    queueName: undefined,
    body: invoke === undefined ? body : payloadOf(call, asked, invoke),
    notBeforeMs: parsed.notBeforeMs,
    deduplication: parsed.deduplication,
    callerIp: call.callerIp,
    isAlias,
    workflow: workflowOf(call, asked, run, invoke, more.needsRecentClient),
  };
}

/**
 * How a record that the server makes is to be delivered.
 * @param headers lower-case neutral names. @throws Refused 400
 */
export function askedDelivery(call: QueueCall, url: string, headers: AskedDelivery['headers']): AskedDelivery {
  const outcome = parseDestinationUrl(url, 'workflow');
  if (!outcome.isOk) throw invalid(outcome.message);
  refuseForbidden(call, 'workflow', outcome.url);
  const { settings } = settingsOf(call, { headers, query: [] }, 'publish', true);
  return { url: outcome.url, settings, mark: markOf(headers), headers: withoutRepeats(headers) };
}

/** A step as the client has put it, to be completed and sent back. @throws Refused 400 */
export function stepTextOf(step: object): string {
  const text = JSON.stringify(step);
  if (Buffer.byteLength(text) <= MAX_STEP_TEXT_BYTES) return text;
  throw invalid(`the step is longer than ${MAX_STEP_TEXT_BYTES} bytes`);
}

function workflowOf(
  call: QueueCall,
  asked: AskedMessage,
  run: RunHeaders,
  invoke: InvokeRequest | undefined,
  needsRecentClient: boolean,
): WorkflowItem {
  const { raw } = asked;
  const runId = checkedRunId(run.runId);
  const { mark, isByEndpoint } = run;
  if (run.isCall) return { kind: 'call', runId, mark, step: stepOfCall(raw.headers) };
  if (!run.isTrigger) return { kind: 'entry', runId, mark, step: stepOf(asked) };
  const invoker = invoke && invokerOf(call, invoke);
  const depth = invoke === undefined ? 0 : depthIn(raw.headers);
  return { kind: 'trigger', runId, mark: { ...mark, needsRecentClient }, isByEndpoint, invoker, depth };
}

function invokerOf(call: QueueCall, { workflowRunId, workflowUrl, headers, step }: InvokeRequest): AskedInvoker {
  const members = headersOf(call.face.spellings, headers, 'headers');
  return {
    runId: checkedRunId(workflowRunId),
    step: stepOfObject(step),
    stepText: stepTextOf(step),
    delivery: inWordsOf(members, () => askedDelivery(call, workflowUrl, members.headers)),
  };
}

function stepOf({ body, record }: AskedMessage) {
  return record === undefined ? stepOfRecord(bytes(body)) : stepOfObject(record.value);
}

function payloadOf(call: QueueCall, { record }: AskedMessage, { body = '' }: InvokeRequest): Buffer {
  const payload = record?.text ?? Buffer.from(body, 'utf8');
  const { maxMessageBytes } = call.grant.terms.limits;
  if (payload.length > maxMessageBytes) throw new RefusedRequest(queueBodyTooLarge(maxMessageBytes));
  return payload;
}

function isCoding([name]: AskedDelivery['headers'][number]): boolean {
  return CODINGS.includes(name);
}

/** Whoever does not count is the first. */
function depthIn(headers: AskedDelivery['headers']): number {
  const text = headerValue(headers, INVOKE_COUNT);
  if (text === undefined) return 1;
  const depth = Number(text);
  if (!Number.isSafeInteger(depth) || depth < 1) throw invalid('the invoke count must be a whole number from 1 on');
  return depth;
}

/** Clients send some in two cases of letters. */
function withoutRepeats(headers: AskedDelivery['headers']): AskedDelivery['headers'] {
  const seen = new Set<string>();
  return headers.filter(([name, value]) => {
    const pair = `${name}\n${value}`;
    if (seen.has(pair)) return false;
    seen.add(pair);
    return true;
  });
}
