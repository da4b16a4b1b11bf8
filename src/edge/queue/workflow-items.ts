/**
 * Converts messages of workflow runs into items. Their headers give their kind; steps are parsed here, so that the
 * run's owner parses no JSON.
 *
 * Headers that cannot be forwarded are omitted, not refused.
 */

import { IsObject, IsOptional, IsString, MaxLength } from 'class-validator';
import {
  codingProblem,
  headerValue,
  MAX_URL_BYTES,
  type PublishItem,
  parseDestinationUrl,
  withoutCodings,
} from '../../domain/queue/index.js';
import {
  type InvokingStep,
  MAX_STEP_TEXT_BYTES,
  type RequestedDelivery,
  type WorkflowItem,
} from '../../domain/queue/runs/index.js';
import { queueBodyTooLarge } from '../error-map.js';
import { checked, membersOf } from '../http/checked.js';
import { parseJson } from '../http/json-items.js';
import { invalid, inWordsOf, RefusedRequest } from '../http/refused.js';
import { filled } from '../http/request-class.js';
import { bytes } from '../records/record-parts.js';
import { withTrace } from './message-trace.js';
import {
  checkedDestination,
  publishItem,
  type RequestedMessage,
  refuseForbidden,
  settingsOf,
} from './publish-items.js';
import type { QueueCall } from './queue-call.js';
import { headersOf } from './requests/header-members.js';
import { markOf, type RunHeaders, runHeadersOf } from './run-headers.js';
import { checkedRunId, newRunId } from './run-names.js';
import { stepOfCall, stepOfObject, stepOfRecord } from './step-marks.js';

/** The body of an invoke: the payload of a child run, and how its result is delivered to the waiting step. */
class InvokeRequest {
  /** The child's payload; undefined: empty. */
  @IsOptional()
  @IsString()
  readonly body: string | undefined;

  /** The waiting run; the members below are also about it. */
  @IsString()
  readonly workflowRunId!: string;

  @MaxLength(MAX_URL_BYTES)
  @IsString()
  readonly workflowUrl!: string;

  /** Each name has a text or a list of texts; validated with the settings. */
  @IsObject()
  readonly headers!: object;

  @IsObject()
  readonly step!: object;

  /** @throws Refused 400 */
  static from(body: unknown): InvokeRequest {
    const members = membersOf(body);
    return checked(filled(InvokeRequest, (name) => members.get(name) ?? (name === 'headers' ? {} : undefined)));
  }
}

const INVOKE_COUNT = 'svc-forward-svc-workflow-invoke-count';

/** A plain message or one of a run, depending on its headers. @throws Refused 400, 412, 413 */
export function askedItem(call: QueueCall, asked: RequestedMessage): PublishItem {
  const run = runHeadersOf(asked.raw.headers);
  return run === undefined ? publishItem(call, asked) : runItem(call, asked, run);
}

/** @param more of a trigger that the server creates. @throws as `askedItem` */
export function runItem(
  call: QueueCall,
  asked: RequestedMessage,
  run: RunHeaders,
  more: { readonly needsRecentClient: boolean } = { needsRecentClient: false },
): PublishItem {
  const { destination, body, isAlias, record } = asked;
  const raw = withTrace(asked.raw, call.request.trace, !run.isTrigger || run.isInvoke);
  if (destination.kind === 'group') throw invalid('the destination of a workflow must be a url, not a url group');
  const problem = run.isCall ? undefined : codingProblem(raw.headers);
  if (problem !== undefined) throw invalid(problem);
  const headers = run.isCall ? raw.headers : withoutCodings(raw.headers);
  const invoke = run.isInvoke
    ? InvokeRequest.from(record === undefined ? parseJson(bytes(body)) : record.value)
    : undefined;
  if (invoke !== undefined) call.runOfStep = invoke.workflowRunId;
  const parsed = settingsOf(call, { headers, query: raw.query }, asked.of, {
    isOfRun: true,
    // An endpoint in the middle of a run passes on its own request's headers.
    refuses: run.isTrigger && !run.isInvoke ? 'options' : undefined,
  });
  return {
    id: call.newMessageId(),
    destination: checkedDestination(call, destination, parsed.settings, raw),
    // The run's entries have their own order.
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
 * The delivery of a record that the server creates.
 * @param headers neutral names in lower case. @throws Refused 400
 */
export function askedDelivery(call: QueueCall, url: string, headers: RequestedDelivery['headers']): RequestedDelivery {
  const outcome = parseDestinationUrl(url, 'workflow');
  if (!outcome.isOk) throw invalid(outcome.message);
  refuseForbidden(call, 'workflow', outcome.url);
  const { settings } = settingsOf(call, { headers, query: [] }, 'publish', { isOfRun: true });
  return { url: outcome.url, settings, mark: markOf(headers), headers: withoutRepeats(headers) };
}

/** The client's step, to be completed and sent back. @throws Refused 400 */
export function stepTextOf(step: object): string {
  const text = JSON.stringify(step);
  if (Buffer.byteLength(text) <= MAX_STEP_TEXT_BYTES) return text;
  throw invalid(`the step is longer than ${MAX_STEP_TEXT_BYTES} bytes`);
}

function workflowOf(
  call: QueueCall,
  asked: RequestedMessage,
  run: RunHeaders,
  invoke: InvokeRequest | undefined,
  needsRecentClient: boolean,
): WorkflowItem {
  const { raw } = asked;
  const runId = run.isTrigger ? newRunId(run.runId) : checkedRunId(run.runId);
  const { mark, isByEndpoint } = run;
  if (run.isCall) return { kind: 'call', runId, mark, step: stepOfCall(raw.headers) };
  if (!run.isTrigger) return { kind: 'entry', runId, mark, step: stepOf(asked) };
  const invoker = invoke && invokerOf(call, invoke);
  const depth = invoke === undefined ? 0 : depthIn(raw.headers);
  return { kind: 'trigger', runId, mark: { ...mark, needsRecentClient }, isByEndpoint, invoker, depth };
}

function invokerOf(call: QueueCall, { workflowRunId, workflowUrl, headers, step }: InvokeRequest): InvokingStep {
  const members = headersOf(call.endpoint.spellings, headers, 'headers', true);
  return {
    runId: checkedRunId(workflowRunId),
    step: stepOfObject(step),
    stepText: stepTextOf(step),
    delivery: inWordsOf(members, () => askedDelivery(call, workflowUrl, members.headers)),
  };
}

function stepOf({ body, record }: RequestedMessage) {
  return record === undefined ? stepOfRecord(bytes(body)) : stepOfObject(record.value);
}

function payloadOf(call: QueueCall, { record }: RequestedMessage, { body = '' }: InvokeRequest): Buffer {
  const payload = record?.text ?? Buffer.from(body, 'utf8');
  const { maxMessageBytes } = call.grant.terms.limits;
  if (payload.length > maxMessageBytes) throw new RefusedRequest(queueBodyTooLarge(maxMessageBytes));
  return payload;
}

/** Without a count it is the first. */
function depthIn(headers: RequestedDelivery['headers']): number {
  const text = headerValue(headers, INVOKE_COUNT);
  if (text === undefined) return 1;
  const depth = Number(text);
  if (!Number.isSafeInteger(depth) || depth < 1) throw invalid('the invoke count must be a whole number of at least 1');
  return depth;
}

/** Clients send some headers twice, in different case. */
function withoutRepeats(headers: RequestedDelivery['headers']): RequestedDelivery['headers'] {
  const seen = new Set<string>();
  return headers.filter(([name, value]) => {
    const pair = `${name}\n${value}`;
    if (seen.has(pair)) return false;
    seen.add(pair);
    return true;
  });
}
