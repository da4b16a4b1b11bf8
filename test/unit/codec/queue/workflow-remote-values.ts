/** Commands and answers about runs, as they cross the bus. */
import type { PublishItem, QueueCommandOf, QueueReplyOf } from '../../../../src/domain/queue/index.js';
import type {
  FailedRunFilter,
  FailedRunSelector,
  FailedRunView,
  RequestedDelivery,
  RunFilter,
  RunSelector,
  WaiterView,
  WorkflowCommand,
  WorkflowItem,
  WorkflowReply,
} from '../../../../src/domain/queue/runs/index.js';
import { GOLDEN_INTAKE } from './golden-values.js';
import { RUN_SAMPLES } from './workflow-golden-values.js';

type ListOfEach<T extends { readonly type: string }> = {
  readonly [Type in T['type']]: readonly Extract<T, { readonly type: Type }>[];
};

const { atMs, child, content, dlqId, envelope, failureFunction, id, mark, other, plan, runId, step } = RUN_SAMPLES;
const raw = { headers: [['svc-retries', '1']], query: [['svc-delay', '3s']] } as const;

const delivery: RequestedDelivery = {
  url: 'https://app.example/flow',
  settings: envelope.settings,
  mark,
  headers: [['svc-workflow-sdk-version', '1']],
};

const WORKFLOW_ITEMS: readonly WorkflowItem[] = [
  { kind: 'trigger', runId, mark, isByEndpoint: true, invoker: undefined, depth: 0 },
  {
    kind: 'trigger',
    runId: child,
    mark,
    isByEndpoint: false,
    invoker: { runId, step, stepText: '{"stepId":2}', delivery },
    depth: 1,
  },
  { kind: 'entry', runId, mark: { ...mark, needsRecentClient: true }, step: plan },
  { kind: 'call', runId, mark, step },
];

const [urlItem] = GOLDEN_INTAKE.items as [PublishItem, PublishItem];
export const RUN_ITEMS: readonly PublishItem[] = WORKFLOW_ITEMS.map((workflow) => ({ ...urlItem, workflow }));

const runFilters: readonly RunFilter[] = [
  {},
  { url: [], isUrlExact: false },
  { url: ['a'], isUrlExact: true, label: ['b', 'c'], flowControlKey: ['d'], callerIp: ['e'], fromMs: 1, toMs: 2.5 },
  { host: ['f', 'g'], path: ['/h'] },
  { path: ['/h'] },
];
const runSelectors: readonly RunSelector[] = [
  { kind: 'ids', runIds: [runId, child] },
  ...runFilters.map((filter) => ({ kind: 'filter', filter, count: 100 }) as const),
];

const failedRunFilters: readonly FailedRunFilter[] = [
  {},
  { createdAtMs: [], toMs: 0 },
  {
    workflowUrl: ['a'],
    runId: ['b'],
    createdAtMs: [atMs],
    label: ['c', 'd'],
    flowControlKey: ['e'],
    callerIp: ['f'],
    failureFunctionState: ['CALLBACK_INPROGRESS', 'CALLBACK_SUCCESS', 'CALLBACK_FAIL', 'CALLBACK_CANCELED'],
    url: ['g'],
    responseStatus: [0, 489],
    fromMs: 1,
    toMs: 2.5,
  },
];
const failedRunSelectors: readonly FailedRunSelector[] = [
  { kind: 'ids', dlqIds: [dlqId] },
  { kind: 'filter', filter: {}, count: 1, after: undefined, order: 'earliestFirst' },
  ...failedRunFilters.map(
    (filter) => ({ kind: 'filter', filter, count: 5, after: dlqId, order: 'latestFirst' }) as const,
  ),
];

export const WORKFLOW_COMMANDS: ListOfEach<WorkflowCommand> = {
  Wait: [
    {
      type: 'Wait',
      runId,
      eventId: 'größer',
      resultId: other,
      step,
      stepText: '{}',
      timeoutText: '7d',
      timeoutSeconds: 604_800,
      timeoutBody: undefined,
      onNotify: delivery,
      onTimeout: { ...delivery, headers: [] },
    },
    {
      type: 'Wait',
      runId,
      eventId: 'e',
      resultId: other,
      step: plan,
      stepText: '{}',
      timeoutText: '0.5s',
      timeoutSeconds: 0.5,
      timeoutBody: '',
      onNotify: delivery,
      onTimeout: delivery,
    },
  ],
  Notify: [
    { type: 'Notify', eventId: 'e', runId: undefined, firstId: id, content, isHook: false },
    { type: 'Notify', eventId: 'e', runId, firstId: id, content: new Uint8Array(0), isHook: true },
  ],
  ListAllWaiters: [
    { type: 'ListAllWaiters', count: 5, after: undefined },
    { type: 'ListAllWaiters', count: 5, after: { deadlineMs: 9, runId, stepId: 0 } },
  ],
  ListWaiters: [{ type: 'ListWaiters', eventId: 'e' }],
  GetRun: [{ type: 'GetRun', runId, from: 300, maxBytes: 5_000_000 }],
  EndRun: [
    { type: 'EndRun', runId, how: 'finish', response: content },
    { type: 'EndRun', runId, how: 'cancel', response: undefined },
  ],
  RefuseStep: [{ type: 'RefuseStep', runId, error: 'the step was refused: too large' }],
  CancelRuns: runSelectors.map((selector) => ({ type: 'CancelRuns', selector })),
  GetFailedRun: [{ type: 'GetFailedRun', dlqId }],
  ListFailedRuns: failedRunSelectors.map((selector) => ({ type: 'ListFailedRuns', selector, maxBytes: 1_048_576 })),
  DeleteFailedRuns: failedRunSelectors.map((selector) => ({ type: 'DeleteFailedRuns', selector })),
  CountFailedRuns: [
    { type: 'CountFailedRuns', filter: {} },
    { type: 'CountFailedRuns', filter: { label: ['a'], responseStatus: [500, 0], toMs: 7 } },
  ],
  ResumeRuns: failedRunSelectors.map((selector, at) => ({
    type: 'ResumeRuns',
    how: at % 2 === 0 ? 'resume' : 'restart',
    selector,
    firstRunId: child,
    firstId: id,
    overrides: raw,
  })),
  RerunRun: [
    {
      type: 'RerunRun',
      from: { runId, createdAtMs: atMs },
      firstRunId: child,
      firstId: id,
      envelope,
      overrides: raw,
      entries: [
        { step: undefined, body: content, createdAtMs: atMs },
        { step, body: new Uint8Array(0), createdAtMs: atMs },
      ],
      payloadHash: 'hash',
    },
  ],
  RunFailureFunction: [{ type: 'RunFailureFunction', dlqId, messageId: id }],
  CancelFailureFunction: [{ type: 'CancelFailureFunction', dlqId }],
};

// Plain commands, with the additional fields of runs.
export const RUN_PUBLISH: QueueCommandOf<'Publish'> = {
  type: 'Publish',
  items: [...RUN_ITEMS, urlItem],
  isTold: false,
};
export const RUN_REJECTED: QueueReplyOf<'Rejected'> = {
  type: 'Rejected',
  reason: 'RUN_OVER',
  message: 'can not append to a cancelled workflow',
};
export const RUN_PUBLISHED: QueueReplyOf<'Published'> = {
  type: 'Published',
  results: [
    { messageId: id, url: 'https://a/', isDuplicate: false, run: { runId, createdAtMs: atMs } },
    { messageId: other, url: 'https://a/', isDuplicate: true },
  ],
  daily: undefined,
};

const waiterView: WaiterView = {
  runId,
  runCreatedAtMs: atMs,
  url: 'https://app.example/flow',
  headers: [['svc-workflow-sdk-version', '1']],
  deadlineMs: atMs + 1,
  timeoutUrl: 'https://app.example/late',
  timeoutBody: undefined,
  timeoutHeaders: [],
  isAlias: true,
};

const failedRun: FailedRunView = {
  entry: {
    dlqId,
    messageId: id,
    envelope,
    body: { number: 9, bytes: 120 },
    createdAtMs: atMs,
    notBeforeMs: atMs,
    failedAtMs: atMs + 9,
    retried: 3,
    response: { status: 500, header: [], body: { number: 10, bytes: 4 }, error: 'HTTP status 500' },
  },
  runId,
  runCreatedAtMs: atMs,
  envelope,
  payload: { number: 3, bytes: 5 },
  payloadContent: content,
  responseContent: new Uint8Array(0),
  failureFunction,
  failureFunctionContent: content,
};

export const WORKFLOW_REPLIES: ListOfEach<WorkflowReply> = {
  Notified: [
    { type: 'Notified', notified: [] },
    { type: 'Notified', notified: [{ waiter: waiterView, messageId: id }] },
  ],
  AllWaiters: [
    { type: 'AllWaiters', waiters: [], total: 0, after: undefined },
    {
      type: 'AllWaiters',
      waiters: [{ eventId: 'e', runId, runCreatedAtMs: 1, stepId: 2, stepName: 's', addedAtMs: 3, deadlineMs: 4 }],
      total: 7,
      after: { deadlineMs: 4, runId, stepId: 2 },
    },
  ],
  Waiters: [{ type: 'Waiters', waiters: [waiterView, { ...waiterView, timeoutBody: '{}', isAlias: false }] }],
  Run: [
    {
      type: 'Run',
      run: { runId, createdAtMs: atMs },
      entries: [
        { messageId: id, body: { number: 1, bytes: 5 }, content },
        { messageId: other, body: { number: 2, bytes: 5 }, content: undefined },
      ],
      nextFrom: 2,
    },
    { type: 'Run', run: { runId: child, createdAtMs: atMs }, entries: [], nextFrom: undefined },
  ],
  FailedRuns: [
    { type: 'FailedRuns', runs: [failedRun], after: dlqId },
    {
      type: 'FailedRuns',
      runs: [
        {
          ...failedRun,
          payloadContent: undefined,
          responseContent: undefined,
          failureFunction: undefined,
          failureFunctionContent: undefined,
        },
      ],
      after: undefined,
    },
  ],
  FailedRunCounts: [
    { type: 'FailedRunCounts', counts: [] },
    {
      type: 'FailedRunCounts',
      counts: [
        [500, 3],
        [0, 1],
      ],
    },
  ],
  RunsStarted: [
    { type: 'RunsStarted', runs: [{ runId: child, createdAtMs: atMs }], after: undefined },
    { type: 'RunsStarted', runs: [], after: dlqId },
  ],
};
