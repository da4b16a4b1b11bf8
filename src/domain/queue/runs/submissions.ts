/**
 * Messages of runs among those that a call publishes: triggers, entries, calls to third parties. A call is judged
 * whole before anything of it is accepted.
 *
 *  SUB1 what was accepted before is answered as a duplicate and changes nothing: a run by its id, an entry by its step,
 *       a call by its step, a child by the step that invokes it
 *  SUB2 an entry and its delivery are one event, so a step's result and the next delivery are one entry of the journal
 *  SUB3 "over" is said of runs that are over, and of nothing else: the endpoint drops its work when it hears it
 */
import type { Growth } from '../accounts/held-refusal.js';
import type { Published, PublishItem, QueueReply } from '../commands.js';
import { rejection } from '../decision.js';
import type { QueueTurn } from '../turn.js';
import type { WorkflowItem } from './commands.js';
import { MAX_INVOKE_DEPTH, MAX_RUN_ENTRIES } from './limits.js';
import type { StepMark } from './records.js';
import type { Run } from './run.js';
import { appendEntry } from './run-end.js';
import { callEnvelope, stepEnvelope } from './run-envelopes.js';
import { type RunItem, urlOf } from './run-items.js';
import { acceptPart, partOf } from './run-parts.js';
import { trigger } from './triggers.js';

export function runOver(): QueueReply {
  return rejection('RUN_OVER', 'can not append to a cancelled workflow');
}

/** What refuses the call that this is one of; judged before the first event. */
export function runItemRefusal({ workflow, destination }: RunItem, { state }: QueueTurn): QueueReply | undefined {
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

/** SUB3: what an endpoint asks for its run in a wrong way is refused by another word. */
export function refusalForRuns(refusal: QueueReply, items: readonly PublishItem[]): QueueReply {
  if (refusal.type !== 'Rejected' || refusal.reason !== 'INVALID') return refusal;
  return items.some(isOfEndpoint) ? { ...refusal, reason: 'TOO_MANY' } : refusal;
}

function isOfEndpoint({ workflow }: PublishItem): boolean {
  return workflow !== undefined && (workflow.kind !== 'trigger' || workflow.invoker !== undefined);
}

/** Does it count for the limits of a day? Steps of a run that has begun are let through. */
export function countsForLimits({ id, workflow }: RunItem, { state }: QueueTurn): boolean {
  if (workflow.kind !== 'trigger' || state.acceptedIds.has(id)) return false;
  return state.runs.active(workflow.runId) === undefined;
}

/** What it would add: an entry or a call that is known already adds nothing. */
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
  // An item before it in the same call has ended the run.
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
