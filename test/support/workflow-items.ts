/**
 * The requests of clients and endpoints for runs, used by specs: triggers, entries, calls and invokes, with default
 * values for everything that a test does not set.
 */
import type { DeliverySettings, PublishItem } from '../../src/domain/queue/index.js';
import type { RequestedDelivery, StepMark, WorkflowMark } from '../../src/domain/queue/runs/index.js';
import type { MessageId, RunId } from '../../src/kernel/index.js';
import { item, response, SETTINGS } from './queue-spec.js';

export const ENDPOINT = 'https://app.example/flow';
export const CHILD = 'https://app.example/child';
export const PARTY = 'https://party.example/thing';

/** The protocol headers of current clients for triggers and entries. */
export const MARK: WorkflowMark = {
  detectsTrigger: true,
  needsRecentClient: false,
  canFetch: true,
  isConfiguredByTrigger: true,
};
/** The protocol headers of messages to third parties. */
export const CALL_MARK: WorkflowMark = { ...MARK, detectsTrigger: false, canFetch: false };

export const VERSION: [string, string] = ['Svc-Workflow-Sdk-Version', '1'];

type Settings = Partial<DeliverySettings>;

export interface TriggerOptions extends Settings {
  readonly id?: string;
  readonly url?: string;
  readonly body?: string;
  readonly mark?: WorkflowMark;
  readonly isByEndpoint?: boolean;
  readonly notBeforeMs?: number;
  readonly deduplication?: PublishItem['deduplication'];
}

export interface StepOptions extends Settings {
  readonly id?: string;
  readonly url?: string;
  readonly body?: string;
  readonly type?: string;
  readonly concurrent?: number;
  readonly notBeforeMs?: number;
  readonly mark?: WorkflowMark;
  /** The URL of the endpoint, which gets the outcome of a call. */
  readonly callbackUrl?: string;
}

export interface InvokeOptions extends TriggerOptions {
  readonly parentUrl?: string;
  readonly depth?: number;
  readonly concurrent?: number;
}

export interface WaitOptions {
  readonly seconds?: number;
  readonly type?: string;
  readonly timeoutBody?: string;
  readonly resultId?: string;
  /** The URL of the endpoint. */
  readonly url?: string;
  /** Headers in addition to those of every timeout. */
  readonly timeoutHeader?: [string, string][];
}

export const run = (id: string) => id as RunId;
export const message = (id: string) => id as MessageId;

export function mark(stepId: number, options: StepOptions = {}): StepMark {
  const { type = 'Run', concurrent = 1 } = options;
  return { stepId, targetStep: 0, concurrent, stepName: `step ${stepId}`, stepType: type };
}

/** A trigger of the client: the settings of the run, and the protocol headers of the first delivery. */
export function triggerItem(runId: string, options: TriggerOptions = {}): PublishItem {
  const { id = `${runId}#0`, url = ENDPOINT, body = `payload of ${runId}`, notBeforeMs, deduplication } = options;
  const { mark: said = MARK, isByEndpoint = false, ...settings } = options;
  return {
    ...item(id, { header: [['Content-Type', 'text/plain'], VERSION], ...settings, url, body }),
    notBeforeMs,
    deduplication,
    workflow: { kind: 'trigger', runId: run(runId), mark: said, isByEndpoint, invoker: undefined, depth: 0 },
  };
}

/** The result of a step. Its text has no meaning for the owner. */
export function entryItem(runId: string, stepId: number, options: StepOptions = {}): PublishItem {
  return submission(runId, options.id ?? `${runId}#${stepId}`, mark(stepId, options), options);
}

/** The plan of one step of a parallel group. */
export function planItem(runId: string, targetStep: number, options: StepOptions = {}): PublishItem {
  const step = { ...mark(0, options), targetStep };
  return submission(runId, options.id ?? `${runId}#p${targetStep}`, step, options);
}

function submission(runId: string, id: string, step: StepMark, options: StepOptions): PublishItem {
  const { url = ENDPOINT, body = `record ${id}`, notBeforeMs, mark: said = MARK, ...settings } = options;
  return {
    ...item(id, { header: [['Content-Type', 'application/json'], VERSION], ...settings, url, body }),
    notBeforeMs,
    workflow: { kind: 'entry', runId: run(runId), mark: said, step },
  };
}

/** A call to a third party; its outcome is delivered to the endpoint. */
export function callItem(runId: string, stepId: number, options: StepOptions = {}): PublishItem {
  const { id = `${runId}#c${stepId}`, url = PARTY, body = 'asked', mark: said = CALL_MARK, ...others } = options;
  const { callbackUrl = ENDPOINT, ...settings } = others;
  const callback = { url: callbackUrl, settings: { ...SETTINGS, header: callbackHeader(stepId), maxRetries: 0 } };
  return {
    ...item(id, { maxRetries: 0, callback, ...settings, url, body }),
    workflow: { kind: 'call', runId: run(runId), mark: said, step: mark(stepId, { type: 'Call', ...options }) },
  };
}

function callbackHeader(stepId: number): [string, string][] {
  return [
    ['Svc-Workflow-Callback', 'true'],
    ['Svc-Workflow-StepId', String(stepId)],
  ];
}

/** An invoked child run; its outcome is the result of the parent's step. */
export function invokeItem(parent: string, stepId: number, child: string, options: InvokeOptions = {}): PublishItem {
  const { depth = 1, concurrent = 1, parentUrl = ENDPOINT, ...rest } = options;
  const made = triggerItem(child, { url: CHILD, ...rest });
  const step = mark(stepId, { type: 'Invoke', concurrent });
  const { stepName, stepType } = step;
  const stepText = JSON.stringify({ stepId, stepName, stepType, concurrent });
  const invoker = { runId: run(parent), step, stepText, delivery: asked([VERSION], parentUrl) };
  return { ...made, workflow: { ...(made.workflow as { kind: 'trigger' } & typeof made.workflow), invoker, depth } };
}

/** A request of the endpoint for the delivery of a server record. */
export function asked(header: [string, string][] = [VERSION], url = ENDPOINT): RequestedDelivery {
  return { url, settings: { ...SETTINGS, header }, mark: MARK, headers: [['svc-workflow-init', 'false']] };
}

/** An answer of a current endpoint. */
export function answered(status: number, header: [string, string][] = [], body = '') {
  return response(status, [VERSION, ['Svc-Workflow-Sdk', 'v1.3.3'], ...header], body);
}
