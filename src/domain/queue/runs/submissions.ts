/**
 * Items of a publish that belong to runs: triggers, entries, calls to third parties. A call is judged as a whole
 * before any of its items is accepted.
 *
 *  SUB1 an item that was accepted before is answered as a duplicate and changes no state: a run is known by its id,
 *       an entry and a call by their step, a child by the step that invokes it
 *  SUB2 an entry and its delivery are one event, so a step's result and the next delivery are one entry of the
 *       journal
 *  SUB3 "over" is answered only for runs that have ended, because the endpoint drops its work when it gets that
 *       answer
 */
import type { Growth } from '../messages/held-refusal.js';
import type { QueueTurn } from '../messages/turn.js';
import type { Published, PublishItem, QueueReply } from '../model/commands.js';
import { rejection } from '../model/decision.js';
import { MAX_INVOKE_DEPTH, MAX_RUN_ENTRIES } from '../model/run-limits.js';
import type { StepMark } from '../model/run-records.js';
import type { Run } from '../model/runs/run.js';
import type { WorkflowItem } from '../model/workflow-commands.js';
import { appendEntry } from './run-end.js';
import { callEnvelope, stepEnvelope } from './run-envelopes.js';
import { type RunItem, urlOf } from './run-items.js';
import { acceptPart, partOf } from './run-parts.js';
import { trigger } from './triggers.js';

export function runOver(): QueueReply {
  return rejection('RUN_OVER', 'can not append to a cancelled workflow');
}

/** The refusal of the call with this item, judged before the first event. */
export function runItemRefusal({ workflow, destination }: RunItem, { state }: QueueTurn): QueueReply | undefined {
  if (destination.kind !== 'url')
    return rejection('INVALID', 'the destination of a workflow must be a url, not a url group');
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

/** Each wait, call or child becomes an entry: a run with more of them could not hold the results. */
export function askedRefusal({ askedCount }: Run): QueueReply | undefined {
  if (askedCount < MAX_RUN_ENTRIES) return undefined;
  return rejection('TOO_MANY', `quota maxStepsPerRun exceeded, current limit: ${MAX_RUN_ENTRIES}`);
}

/**
 * SUB3 ("over" is answered only for runs that have ended): other refusals of an endpoint's items get another reason.
 */
export function refusalForRuns(refusal: QueueReply, items: readonly PublishItem[]): QueueReply {
  if (refusal.type !== 'Rejected' || refusal.reason !== 'INVALID') return refusal;
  return items.some(isOfEndpoint) ? { ...refusal, reason: 'TOO_MANY' } : refusal;
}

function isOfEndpoint({ workflow }: PublishItem): boolean {
  return workflow !== undefined && (workflow.kind !== 'trigger' || workflow.invoker !== undefined);
}

/** Whether the item counts for the daily limits; steps of active runs are exempt. */
export function countsForLimits({ id, workflow }: RunItem, { state }: QueueTurn): boolean {
  if (workflow.kind !== 'trigger' || state.acceptedIds.has(id)) return false;
  return state.runs.active(workflow.runId) === undefined;
}

/** Adds the item's growth; a known entry or call adds none. */
export function runGrowth(item: RunItem, growth: Growth, { state }: QueueTurn): void {
  const { id, body, callerIp, workflow } = item;
  if (state.acceptedIds.has(id)) return;
  const run = state.runs.active(workflow.runId);
  if (workflow.kind === 'trigger' ? run !== undefined : run === undefined || isKnown(run, workflow)) return;
  const { url, settings } = urlOf(item);
  growth.message({ url, settings, callerIp }).body(body.byteLength);
}

function isKnown(run: Run, { kind, step }: Exclude<WorkflowItem, { readonly kind: 'trigger' }>): boolean {
  if (kind === 'entry') return run.entryOf(step.stepId, step.targetStep) !== undefined;
  return run.calls.has(step.stepId) || run.resultOf(step.stepId) !== undefined;
}

export function acceptRunItem(item: RunItem, turn: QueueTurn): Published {
  const { id, workflow } = item;
  const { url, settings } = urlOf(item);
  const { runs, acceptedIds } = turn.state;
  const run = runs.active(workflow.runId);
  if (acceptedIds.has(id)) {
    return { messageId: id, url, isDuplicate: false, run: run?.name ?? runs.endedName(workflow.runId) };
  }
  if (workflow.kind === 'trigger') return trigger(item, workflow, turn);
  // An earlier item of the same call has ended the run.
  if (run === undefined) return { messageId: id, url, isDuplicate: true };
  const notBeforeMs = item.notBeforeMs ?? turn.context.nowMs + settings.delaySeconds * 1000;
  if (workflow.kind === 'call') return call(item, workflow.step, run, notBeforeMs, turn);
  const known = run.entryOf(workflow.step.stepId, workflow.step.targetStep);
  if (known !== undefined) return { messageId: known.messageId, url, isDuplicate: true, run: run.name };
  const envelope = stepEnvelope(run, { url, settings, mark: workflow.mark });
  appendEntry(run, { id, step: workflow.step, content: item.body, envelope, notBeforeMs }, turn);
  return { messageId: id, url, isDuplicate: false, run: run.name };
}

function call(item: RunItem, step: StepMark, run: Run, notBeforeMs: number, turn: QueueTurn): Published {
  const { id, workflow, body } = item;
  const { url, settings } = urlOf(item);
  const earlier = run.calls.get(step.stepId) ?? run.resultOf(step.stepId)?.messageId;
  if (earlier !== undefined) return { messageId: earlier, url, isDuplicate: true, run: run.name };
  const envelope = turn.state.envelopes.commonOf(callEnvelope(run, url, settings, workflow.mark));
  const part = { role: 'call', ...partOf(run), step } as const;
  acceptPart({ id, envelope, body: turn.state.bodies.carried(body), notBeforeMs, part }, turn);
  return { messageId: id, url, isDuplicate: false, run: run.name };
}
