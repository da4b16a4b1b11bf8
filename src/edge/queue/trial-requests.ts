/**
 * Requests of endpoints for trial runs (ports/trial-runs): reported to the check, answered as accepted, and not
 * executed (TRI1: no request for a trial run is executed or stored).
 */
import type { PublishItem, QueueReplyOf } from '../../domain/queue/index.js';
import { processOfTrial } from '../../domain/queue/runs/index.js';
import type { RunId } from '../../kernel/index.js';
import type { TrialRequest } from '../../protocol/index.js';
import { expected, type QueueCall } from './queue-call.js';

/** Publishes the messages of a call, all or none. @throws Refused; errors of the gateway */
export async function publishItems(call: QueueCall, items: readonly PublishItem[]): Promise<QueueReplyOf<'Published'>> {
  const runId = trialOf(items);
  if (runId === undefined) {
    const { gateway } = call.endpoint.parts;
    return expected(await gateway.publish(call.grant.account, items, call.request.trace), 'Published');
  }
  for (const request of requestsIn(items)) await takeForTrial(call, runId, request);
  const results = items.map(({ id, destination }) => ({
    messageId: id,
    url: destination.kind === 'url' ? destination.url : '',
    isDuplicate: false,
  }));
  return { type: 'Published', results, daily: undefined };
}

/** @returns false: the run is not a trial run, and the request has to be executed */
export async function takeForTrial(call: QueueCall, runId: RunId, request: TrialRequest): Promise<boolean> {
  if (processOfTrial(runId) === undefined) return false;
  await call.endpoint.parts.trials.take(call.grant.account, runId, request);
  return true;
}

function trialOf(items: readonly PublishItem[]): RunId | undefined {
  for (const { workflow } of items) {
    if (workflow === undefined) continue;
    // A step that invokes a run is of the invoking run.
    const runId = workflow.kind === 'trigger' ? (workflow.invoker?.runId ?? workflow.runId) : workflow.runId;
    if (processOfTrial(runId) !== undefined) return runId;
  }
  return undefined;
}

function requestsIn(items: readonly PublishItem[]): readonly TrialRequest[] {
  const records: TrialRequest['steps'][number][] = [];
  const others: TrialRequest[] = [];
  for (const { workflow, destination } of items) {
    const url = destination.kind === 'url' ? destination.url : undefined;
    if (workflow?.kind === 'entry') records.push(workflow.step);
    else if (workflow?.kind === 'call') others.push({ kind: 'call', steps: [workflow.step], url });
    else if (workflow?.invoker !== undefined) others.push({ kind: 'invoke', steps: [workflow.invoker.step], url });
    else others.push({ kind: 'trigger', steps: [], url });
  }
  return records.length === 0 ? others : [{ kind: 'record', steps: records, url: undefined }, ...others];
}
