/**
 * Messages of runs among those that a call publishes: triggers, entries, calls to third parties. A call is judged
 * whole before anything of it is accepted.
 *
 *  S1 what was accepted before is answered as a duplicate and changes nothing: a run by its id, an entry by its step, a
 *     call by its step, a child by the step that invokes it
 *  S2 an entry and its delivery are one event, so a step's result and the next delivery are one entry of the journal
 *  S3 "over" is said of runs that are over, and of nothing else: the endpoint drops its work when it hears it
 */
import { createHash } from 'node:crypto';
import { isBugOn } from '../../kernel/deliberate-bugs.js';
import type { MessageId, RunId } from '../../kernel/index.js';
import type { Published, PublishItem, QueueReply } from '../queue/commands.js';
import { rejection } from '../queue/decision.js';
import { deduplicationKeyOf } from '../queue/deduplication.js';
import type { CarriedBody } from '../queue/events.js';
import { carriedBody } from '../queue/publish.js';
import type { Turn } from '../queue/turn.js';
import type { AskedInvoker, WorkflowItem } from './commands.js';
import { MAX_INVOKE_DEPTH, MAX_RUN_BYTES, MAX_RUN_ENTRIES } from './limits.js';
import type { DeliverySettings, Envelope, Invoker, RunPart, StepMark } from './records.js';
import type { Run } from './run.js';
import { failGrown } from './run-end.js';
import { callEnvelope, reconfigured, stepEnvelope, UNKNOWN_CLIENT_HEADER } from './run-envelopes.js';

/** An item of a run: its destination is a URL. */
export interface RunItem extends PublishItem {
  readonly workflow: WorkflowItem;
}

export function isRunItem(item: PublishItem): item is RunItem {
  return item.workflow !== undefined;
}

export function runOver(): QueueReply {
  return rejection('RUN_OVER', 'can not append to a cancelled workflow');
}

/** What refuses the call that this is one of; judged before the first event. */
export function runItemRefusal({ workflow, destination }: RunItem, { state }: Turn): QueueReply | undefined {
  if (destination.kind !== 'url') return rejection('INVALID', 'a workflow is at a url, not in a group');
  const { runs } = state;
  const run = runs.active(workflow.runId);
  if (workflow.kind !== 'trigger') {
    if (run === undefined) return runOver();
    return workflow.kind === 'call' && !run.calls.has(workflow.step.stepId) ? askedRefusal(run) : undefined;
  }
  const { depth, invoker, isByEndpoint } = workflow;
  if (depth > MAX_INVOKE_DEPTH) {
    return rejection('TOO_MANY', `quota maxInvokeDepth exceeded, current limit: ${MAX_INVOKE_DEPTH}`);
  }
  if (isByEndpoint && run === undefined) return runOver();
  if (invoker === undefined) return undefined;
  const parent = runs.active(invoker.runId);
  if (parent === undefined) return runOver();
  const isRepeat = parent.invokes.has(invoker.step.stepId);
  if (isRepeat) return undefined;
  if (run === undefined) return askedRefusal(parent);
  return rejection('TOO_MANY', `workflow run ${workflow.runId} is active already and cannot be invoked again`);
}

/** Each of them comes to an entry: a run that asks for more could not hold what comes of it. */
export function askedRefusal({ askedCount }: Run): QueueReply | undefined {
  if (askedCount < MAX_RUN_ENTRIES) return undefined;
  return rejection('TOO_MANY', `quota maxStepsPerRun exceeded, current limit: ${MAX_RUN_ENTRIES}`);
}

/** S3: what an endpoint asks for its run in a wrong way is refused by another word. */
export function refusalForRuns(refusal: QueueReply, items: readonly PublishItem[]): QueueReply {
  if (refusal.type !== 'Rejected' || refusal.reason !== 'INVALID') return refusal;
  return items.some(isOfEndpoint) ? { ...refusal, reason: 'TOO_MANY' } : refusal;
}

function isOfEndpoint({ workflow }: PublishItem): boolean {
  return workflow !== undefined && (workflow.kind !== 'trigger' || workflow.invoker !== undefined);
}

/** Does it count for the limits of a day? Steps of a run that has begun are let through. */
export function countsForLimits({ id, workflow }: RunItem, { state }: Turn): boolean {
  if (workflow.kind !== 'trigger' || state.acceptedIds.has(id)) return false;
  return state.runs.active(workflow.runId) === undefined;
}

export function acceptRunItem(item: RunItem, turn: Turn): Published {
  const { id, workflow } = item;
  const { url, settings } = urlOf(item);
  const { runs, acceptedIds } = turn.state;
  const run = runs.active(workflow.runId);
  if (acceptedIds.has(id)) {
    return { messageId: id, url, isDuplicate: false, run: nameOf(run) ?? runs.endedName(workflow.runId) };
  }
  if (workflow.kind === 'trigger') return trigger(item, workflow, turn);
  // An item before it in the same call has ended the run.
  if (run === undefined) return { messageId: id, url, isDuplicate: true };
  const notBeforeMs = item.notBeforeMs ?? turn.context.nowMs + settings.delaySeconds * 1000;
  if (workflow.kind === 'call') return call(item, workflow.step, run, notBeforeMs, turn);
  const known = run.entryOf(workflow.step.stepId, workflow.step.targetStep);
  if (known !== undefined && !isBugOn('step-appended-twice'))
    return { messageId: known.messageId, url, isDuplicate: true, run: nameOf(run) };
  const envelope = stepEnvelope(run, { url, settings, mark: workflow.mark });
  appendEntry(run, { id, step: workflow.step, content: item.body, envelope, notBeforeMs }, turn);
  return { messageId: id, url, isDuplicate: false, run: nameOf(run) };
}

export interface NewEntry {
  readonly id: MessageId;
  readonly step: StepMark;
  readonly content: Uint8Array;
  readonly envelope: Envelope;
  readonly notBeforeMs: number;
}

/** Appends and schedules at once; a run that has grown too large fails with it. */
export function appendEntry(run: Run, { id, step, content, envelope, notBeforeMs }: NewEntry, turn: Turn): void {
  const isTooLong = run.entries.length >= MAX_RUN_ENTRIES;
  const isTooLarge = run.bytes + content.byteLength > MAX_RUN_BYTES;
  const part = { role: 'step', ...partOf(run), index: run.entries.length, step } as const;
  acceptPart({ id, envelope, body: carriedBody(content, turn), notBeforeMs, part }, turn);
  if (isTooLong) failGrown(run, id, `the run has more than ${MAX_RUN_ENTRIES} entries`, turn);
  else if (isTooLarge) failGrown(run, id, `the run has more than ${MAX_RUN_BYTES} bytes`, turn);
}

export interface NewPart {
  readonly id: MessageId;
  readonly envelope: Envelope;
  readonly body: CarriedBody;
  readonly notBeforeMs: number;
  readonly part: RunPart;
  readonly deduplication?: string | undefined;
}

/** A message of a run. */
export function acceptPart({ id, envelope, body, notBeforeMs, part, deduplication }: NewPart, turn: Turn): void {
  turn.apply({
    type: 'MessageAccepted',
    id,
    atMs: turn.context.nowMs,
    envelope,
    body,
    notBeforeMs,
    deduplication,
    retryOf: undefined,
    holdsPlaceOf: undefined,
    workflow: part,
  });
}

export function partOf(run: Run): { readonly runId: RunId; readonly runCreatedAtMs: number } {
  return { runId: run.id, runCreatedAtMs: run.createdAtMs };
}

/** SHA-256, base64url. */
export function hashOf(payload: Uint8Array): string {
  return createHash('sha256').update(payload).digest('base64url');
}

function trigger(item: RunItem, workflow: Extract<WorkflowItem, { kind: 'trigger' }>, turn: Turn): Published {
  const { state, context } = turn;
  const { runs } = state;
  const { url, settings } = urlOf(item);
  const { runId, invoker } = workflow;
  const parent = invoker && runs.active(invoker.runId);
  if (invoker !== undefined) {
    // An item before it in the same call has ended the parent.
    if (parent === undefined) return { messageId: item.id, url, isDuplicate: true };
    const earlier = parent.invokes.get(invoker.step.stepId);
    if (earlier !== undefined) return { messageId: earlier.messageId, url, isDuplicate: true };
  }
  const run = runs.active(runId);
  if (run !== undefined) {
    if (workflow.isByEndpoint) return triggerAgain(run, item, workflow, turn);
    const messageId = run.entries[0]?.messageId ?? item.id;
    return { messageId, url, isDuplicate: true, run: nameOf(run) };
  }
  const payloadHash = hashOf(item.body);
  // A parent waits for a child of its own: another's that looks alike would leave it waiting for ever.
  const deduplication = invoker === undefined ? deduplicationOf(item, settings) : undefined;
  if (invoker === undefined) {
    const ended = runs.endedLately(runId, payloadHash, context.nowMs);
    if (ended !== undefined) return { messageId: ended.messageId, url, isDuplicate: true, run: runs.endedName(runId) };
    const earlier = deduplication && state.deduplication.messageOf(deduplication, context.nowMs);
    if (earlier) return { messageId: earlier, url, isDuplicate: true, run: nameOf(runs.placeOf(earlier)?.run) };
  }
  startRun(item, workflow, { parent, payloadHash, deduplication }, turn);
  return { messageId: item.id, url, isDuplicate: false, run: nameOf(runs.active(runId)) };
}

interface StartFacts {
  readonly parent: Run | undefined;
  readonly payloadHash: string;
  readonly deduplication: string | undefined;
}

function startRun(
  item: RunItem,
  { runId, mark, invoker }: Extract<WorkflowItem, { kind: 'trigger' }>,
  { parent, payloadHash, deduplication }: StartFacts,
  turn: Turn,
): void {
  const { state, context, apply } = turn;
  const { url, settings } = urlOf(item);
  // The id and the instant name the run: one that begins in the millisecond in which another of its id did is later.
  const earlier = state.runs.endedName(runId);
  const atMs = Math.max(context.nowMs, earlier === undefined ? 0 : earlier.createdAtMs + 1);
  const envelope = state.envelopes.commonOf({
    url,
    settings: { ...settings, method: 'POST', delaySeconds: 0 },
    queueName: undefined,
    scheduleId: undefined,
    topicName: undefined,
    endpointName: undefined,
    callerIp: item.callerIp,
    isAlias: item.isAlias,
    callbackOf: undefined,
    workflow: mark,
  });
  const asInvoker = invoker && parent && invokerOf(invoker, parent);
  const started = { type: 'RunStarted', runId, atMs, envelope, payloadHash } as const;
  apply({ ...started, invoker: asInvoker, resumedFrom: undefined, kept: [] });
  const notBeforeMs = item.notBeforeMs ?? atMs + settings.delaySeconds * 1000;
  const part = { role: 'step', runId, runCreatedAtMs: atMs, index: 0, step: undefined } as const;
  acceptPart({ id: item.id, envelope, body: carriedBody(item.body, turn), notBeforeMs, part, deduplication }, turn);
  if (asInvoker === undefined) return;
  const child = { childRunId: runId, childCreatedAtMs: atMs, childUrl: url, messageId: item.id };
  apply({ type: 'InvokeStarted', runId: asInvoker.runId, step: asInvoker.step, ...child, atMs });
}

function invokerOf({ step, stepText, delivery }: AskedInvoker, parent: Run): Invoker {
  return {
    runId: parent.id,
    runCreatedAtMs: parent.createdAtMs,
    url: parent.url,
    step,
    stepText,
    delivery: { envelope: stepEnvelope(parent, delivery), headers: delivery.headers },
  };
}

/** The endpoint of a run that was triggered by somebody who knows nothing of it has triggered it itself, with its own settings. */
function triggerAgain(
  run: Run,
  item: RunItem,
  { mark }: Extract<WorkflowItem, { kind: 'trigger' }>,
  turn: Turn,
): Published {
  const { url, settings } = urlOf(item);
  const first = run.entries[0];
  const isUnknown = run.shared.envelope.settings.header.some(([name]) => name === UNKNOWN_CLIENT_HEADER);
  const name = nameOf(run);
  if (first === undefined || !isUnknown) {
    return { messageId: first?.messageId ?? item.id, url, isDuplicate: true, run: name };
  }
  const envelope = reconfigured(run.shared.envelope, settings, mark);
  const atMs = turn.context.nowMs;
  turn.apply({ type: 'RunReconfigured', runId: run.id, atMs, envelope });
  const part = { role: 'step', ...partOf(run), index: 0, step: undefined } as const;
  const notBeforeMs = item.notBeforeMs ?? atMs + settings.delaySeconds * 1000;
  acceptPart({ id: item.id, envelope, body: { ...first.body, content: undefined }, notBeforeMs, part }, turn);
  return { messageId: item.id, url, isDuplicate: false, run: name };
}

function call(item: RunItem, step: StepMark, run: Run, notBeforeMs: number, turn: Turn): Published {
  const { id, workflow, body } = item;
  const { url, settings } = urlOf(item);
  const earlier = run.calls.get(step.stepId) ?? run.resultOf(step.stepId)?.messageId;
  if (earlier !== undefined) return { messageId: earlier, url, isDuplicate: true, run: nameOf(run) };
  const envelope = callEnvelope(run, url, settings, workflow.mark);
  const part = { role: 'call', ...partOf(run), step } as const;
  acceptPart({ id, envelope, body: carriedBody(body, turn), notBeforeMs, part }, turn);
  return { messageId: id, url, isDuplicate: false, run: nameOf(run) };
}

function deduplicationOf(item: RunItem, settings: DeliverySettings): string | undefined {
  if (item.deduplication === undefined) return undefined;
  const { url } = urlOf(item);
  const { body } = item;
  return deduplicationKeyOf(item.deduplication, {
    destination: url,
    endpointUrl: undefined,
    body,
    header: settings.header,
  });
}

function urlOf({ destination }: RunItem): { readonly url: string; readonly settings: DeliverySettings } {
  // `runItemRefusal` has let nothing else through.
  return destination as Extract<PublishItem['destination'], { kind: 'url' }>;
}

function nameOf(run: Run | undefined) {
  return run && { runId: run.id, createdAtMs: run.createdAtMs };
}
