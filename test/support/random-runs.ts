/**
 * Random sequences of all actions on runs: requests of clients, endpoints and third parties, results of deliveries,
 * and time. They use few names, so that actions affect the same runs.
 */
import fc from 'fast-check';
import type { AttemptOutcome, QueueCommand } from '../../src/domain/queue/index.js';
import type { DlqId, RunId } from '../../src/kernel/index.js';
import { item, noResponse, response, SETTINGS } from './queue-spec.js';
import {
  answered,
  callItem,
  ENDPOINT,
  entryItem,
  invokeItem,
  MARK,
  message,
  planItem,
  run,
  type TriggerOptions,
  triggerItem,
  type WorkflowSpec,
} from './workflow-spec.js';

/** An action, and two numbers that select its variant. */
export interface RunAction {
  readonly do: number;
  readonly a: number;
  readonly b: number;
}

const RUNS = ['a', 'b', 'c', 'd', 'a1', 'b2'];
const EVENTS = ['e', 'f'];
const STEPS = 5;
const UNKNOWN: [string, string] = ['Svc-Workflow-Unknown-Sdk', 'true'];

const everything = { kind: 'filter', filter: {}, after: undefined, order: 'earliestFirst' } as const;

/** Executes an action; it may be refused. */
export function playRun(flow: WorkflowSpec, { do: what, a, b }: RunAction, number: number): void {
  const id = `m${number}`;
  const runId = RUNS[a % RUNS.length] as RunId;
  const other = RUNS[b % RUNS.length] as RunId;
  const step = 1 + (b % STEPS);
  const eventId = EVENTS[b % EVENTS.length] as string;
  const ask = (command: QueueCommand) => flow.queue.ask(command);
  const trigger: TriggerOptions = {
    id,
    body: b % 5 === 0 ? '' : `payload ${b % 3}`,
    maxRetries: b % 3,
    retryDelay: '700',
    delaySeconds: b % 7 === 0 ? 2 : b % 10 === 0 ? 90 : 0,
    header: b % 4 === 0 ? [UNKNOWN] : [],
    labels: b % 2 === 0 ? ['red'] : [],
    failureCallback: b % 3 === 0 ? undefined : { url: ENDPOINT, settings: { ...SETTINGS, maxRetries: b % 2 } },
    flowControl: b % 6 === 0 ? { key: 'k', parallelism: 1, rate: undefined, periodSeconds: 1 } : undefined,
    mark: { ...MARK, detectsTrigger: b % 5 !== 0, isConfiguredByTrigger: b % 11 !== 0 },
  };
  const actions: (() => unknown)[] = [
    () => flow.submit(triggerItem(runId, trigger)),
    () => flow.submit(triggerItem(runId, { ...trigger, isByEndpoint: true })),
    () => flow.submit(triggerItem(runId, { ...trigger, deduplication: { id: `x${b % 4}` } }), item(`${id}p`)),
    () => flow.submit(entryItem(runId, step, { id, delaySeconds: b % 3 === 0 ? 59 + a * 10 : b % 4 })),
    () => flow.submit(entryItem(runId, step, { id, body: '' }), entryItem(other, step, { id: `${id}.` })),
    () => flow.submit(planItem(runId, step, { id }), planItem(runId, step + 1, { id: `${id}.` })),
    () => flow.submit(callItem(runId, step, { id, maxRetries: b % 2, retryDelay: '300' })),
    () => flow.submit(invokeItem(runId, step, other, { ...trigger, depth: 1 + (b % 3) })),
    () => flow.wait(runId, step, eventId, { seconds: b % 40, resultId: id }),
    () => flow.notify(eventId, id),
    () => flow.notify(eventId, id, runId, b % 3 === 0 ? '' : 'event', b % 2 === 0),
    () => b % 2 === 0 && flow.finish(runId, b % 4 === 0 ? 'returned' : undefined),
    () => b % 3 === 0 && flow.cancel(runId),
    () =>
      b % 4 === 0 && ask({ type: 'CancelRuns', selector: { kind: 'filter', filter: { label: ['red'] }, count: 2 } }),
    () => conclude(flow, a, answered(200)),
    () => conclude(flow, a, answered(200)),
    () => conclude(flow, a, answered(200)),
    () => flow.submit(invokeItem(runId, step, `${other}${b % 10}`, { ...trigger, depth: 1 + (b % 3) })),
    () => flow.wait(runId, step, eventId, { seconds: 1000, resultId: id }),
    () => conclude(flow, a, answered(500, [], 'trouble')),
    () => b % 2 === 0 && conclude(flow, a, answered(489, [['Svc-NonRetryable-Error', 'true']], 'no')),
    () => conclude(flow, a, [response(200), noResponse(), answered(200, [NOT_FOUND])][b % 3] ?? noResponse()),
    () => flow.pass(1 + a * 20),
    () => flow.pass(a % 9 === 0 ? 1_000_000 : 9000),
    () => ask({ type: 'CancelMessages', selector: { kind: 'filter', filter: {}, count: 1 } }),
    () => flow.queue.suspend(b % 4 === 0),
    () => flow.queue.limit({ maxDlqEntries: b % 4 }),
    () => ask({ type: 'DeleteFailedRuns', selector: { ...everything, count: 1 } }),
    () =>
      ask({
        type: 'ResumeRuns',
        how: b % 2 === 0 ? 'resume' : 'restart',
        selector: { ...everything, count: 2 },
        firstRunId: run(`resumed${number}`),
        firstId: message(id),
        overrides: { headers: [], query: [] },
      }),
    () => {
      for (const dlqId of failedRuns(flow)) ask({ type: 'RunFailureFunction', dlqId, messageId: message(id) });
    },
    () => {
      for (const dlqId of failedRuns(flow)) ask({ type: 'CancelFailureFunction', dlqId });
    },
    () => ask({ type: 'DeleteDlq', selector: { ...everything, count: 1 } }),
  ];
  actions[what % actions.length]?.();
  flow.queue.work(1 + (b % 3));
}

const NOT_FOUND: [string, string] = ['Svc-Workflow-Failure-Callback-Notfound', 'true'];

/** Sets the outcome of one of the open attempts. */
export function conclude(flow: WorkflowSpec, which: number, outcome: AttemptOutcome): void {
  const open = [...flow.queue.engine.rebuildingEvents()].flatMap((event) =>
    event.type === 'MessageRestored' && event.status === 'active' ? [event.id] : [],
  );
  const id = open[which % Math.max(1, open.length)];
  if (id !== undefined) flow.queue.outcome(id, outcome, Buffer.from('sent'));
}

function failedRuns(flow: WorkflowSpec): DlqId[] {
  return [...flow.queue.engine.rebuildingEvents()].flatMap((event) =>
    event.type === 'RunRestored' && event.dlqId !== undefined ? [event.dlqId] : [],
  );
}

export const runPrograms = fc.array(fc.record<RunAction>({ do: fc.nat(31), a: fc.nat(100), b: fc.nat(100) }), {
  minLength: 40,
  maxLength: 120,
  size: 'max',
});
