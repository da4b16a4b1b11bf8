/**
 * Starts of runs: by clients, by steps of other runs that wait for them, and by endpoints that were called by a
 * publisher without knowledge of the protocol.
 */
import { createHash } from 'node:crypto';
import { deduplicationKeyOf } from '../messages/deduplication-key.js';
import type { QueueTurn } from '../messages/turn.js';
import type { Published, PublishItem } from '../model/commands.js';
import type { DeliverySettings, Invoker } from '../model/run-records.js';
import type { Run } from '../model/runs/run.js';
import type { InvokingStep } from '../model/workflow-commands.js';
import { reconfigured, runEnvelope, stepEnvelope, UNKNOWN_CLIENT_HEADER } from './run-envelopes.js';
import { type RunItem, type TriggerItem, urlOf } from './run-items.js';
import { acceptPart, creationMs, partOf } from './run-parts.js';

/** Hashing a megabyte takes about 1 ms. */
const HASHED_AT_ONCE_BYTES = 512 * 1024;

/**
 * SUB1 (an item that was accepted before is a duplicate): a run that is active or ended a moment ago is not started
 *      again.
 */
export function trigger(item: RunItem, workflow: TriggerItem, turn: QueueTurn): Published {
  const { state, context } = turn;
  const { runs } = state;
  const { url, settings } = urlOf(item);
  const { runId, invoker } = workflow;
  const parent = invoker && runs.active(invoker.runId);
  if (invoker !== undefined) {
    // An earlier item of the same call has ended the parent.
    if (parent === undefined) return { messageId: item.id, url, isDuplicate: true };
    const earlier = parent.invokes.get(invoker.step.stepId);
    if (earlier !== undefined) return { messageId: earlier.messageId, url, isDuplicate: true };
  }
  const run = runs.active(runId);
  if (run !== undefined) {
    if (workflow.isByEndpoint) return triggerAgain(run, item, workflow, turn);
    const messageId = run.entries[0]?.messageId ?? item.id;
    return { messageId, url, isDuplicate: true, run: run.name };
  }
  const payloadHash = item.payloadHash ?? hashOf(item.body);
  // A parent needs a separate child: deduplicating the child would leave the parent waiting for ever.
  const deduplication = invoker === undefined ? deduplicationOf(item, settings) : undefined;
  if (invoker === undefined) {
    const ended = runs.endedLately(runId, payloadHash, context.nowMs);
    if (ended !== undefined) return { messageId: ended.messageId, url, isDuplicate: true, run: runs.endedName(runId) };
    const earlier = deduplication && state.deduplication.messageOf(deduplication, context.nowMs);
    if (earlier) return { messageId: earlier, url, isDuplicate: true, run: runs.placeOf(earlier)?.run?.name };
  }
  startRun(item, workflow, { parent, payloadHash, deduplication }, turn);
  return { messageId: item.id, url, isDuplicate: false, run: runs.active(runId)?.name };
}

interface StartFacts {
  readonly parent: Run | undefined;
  readonly payloadHash: string;
  readonly deduplication: string | undefined;
}

function startRun(
  item: RunItem,
  { runId, mark, invoker }: TriggerItem,
  { parent, payloadHash, deduplication }: StartFacts,
  turn: QueueTurn,
): void {
  const { state, evolve } = turn;
  const { url, settings } = urlOf(item);
  const atMs = creationMs(runId, turn);
  const wanted = runEnvelope(item, url, { ...settings, method: 'POST', delaySeconds: 0 }, mark);
  const envelope = state.envelopes.commonOf(wanted);
  const asInvoker = invoker && parent && invokerOf(invoker, parent);
  const started = { type: 'RunStarted', runId, atMs, envelope, payloadHash } as const;
  evolve({ ...started, invoker: asInvoker, resumedFrom: undefined, kept: [] });
  const notBeforeMs = item.notBeforeMs ?? atMs + settings.delaySeconds * 1000;
  const part = { role: 'step', runId, runCreatedAtMs: atMs, index: 0, step: undefined } as const;
  acceptPart(
    { id: item.id, envelope, body: turn.state.bodies.carried(item.body), notBeforeMs, part, deduplication },
    turn,
  );
  if (asInvoker === undefined) return;
  const child = { childRunId: runId, childCreatedAtMs: atMs, childUrl: url, messageId: item.id };
  evolve({ type: 'InvokeStarted', runId: asInvoker.runId, step: asInvoker.step, ...child, atMs });
}

function invokerOf({ step, stepText, delivery }: InvokingStep, parent: Run): Invoker {
  return {
    runId: parent.id,
    runCreatedAtMs: parent.createdAtMs,
    url: parent.url,
    step,
    stepText,
    delivery: { envelope: stepEnvelope(parent, delivery), headers: delivery.headers },
  };
}

/** The endpoint of a run that was started without knowledge of the protocol now triggers it with its own settings. */
function triggerAgain(run: Run, item: RunItem, { mark }: TriggerItem, turn: QueueTurn): Published {
  const { url, settings } = urlOf(item);
  const first = run.entries[0];
  const isUnknown = run.shared.envelope.settings.header.some(([name]) => name === UNKNOWN_CLIENT_HEADER);
  const { name } = run;
  if (first === undefined || !isUnknown) {
    return { messageId: first?.messageId ?? item.id, url, isDuplicate: true, run: name };
  }
  const envelope = reconfigured(run.shared.envelope, settings, mark);
  const atMs = turn.context.nowMs;
  turn.evolve({ type: 'RunReconfigured', runId: run.id, atMs, envelope });
  const part = { role: 'step', ...partOf(run), index: 0, step: undefined } as const;
  const notBeforeMs = item.notBeforeMs ?? atMs + settings.delaySeconds * 1000;
  acceptPart({ id: item.id, envelope, body: { ...first.body, content: undefined }, notBeforeMs, part }, turn);
  return { messageId: item.id, url, isDuplicate: false, run: name };
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

/** Whether hashing the payload takes long. */
export function isLongTrigger(item: PublishItem): item is RunItem {
  return item.workflow?.kind === 'trigger' && item.body.byteLength > HASHED_AT_ONCE_BYTES;
}

/** Adds the hash of the payload, computed in slices with other commands between. */
export function* hashedTrigger(item: RunItem): Generator<void, RunItem> {
  const hash = createHash('sha256');
  for (let from = 0; from < item.body.byteLength; from += HASHED_AT_ONCE_BYTES) {
    if (from > 0) yield;
    hash.update(item.body.subarray(from, from + HASHED_AT_ONCE_BYTES));
  }
  return { ...item, payloadHash: hash.digest('base64url') };
}

/** SHA-256, base64url. */
function hashOf(payload: Uint8Array): string {
  return createHash('sha256').update(payload).digest('base64url');
}
