/** The values of runs with bytes recorded in test/fixtures/journals/queue-events.json. Never edited. */
import type { Envelope, QueueEvent } from '../../../../src/domain/queue/index.js';
import type {
  EventWaiter,
  FailureFunction,
  Invoker,
  ResultDelivery,
  RunEntry,
  RunPart,
  StepMark,
  WorkflowEvent,
  WorkflowMark,
} from '../../../../src/domain/queue/runs/index.js';
import type { DlqId, MessageId, RunId } from '../../../../src/kernel/index.js';

type OneOfEach<T extends { readonly type: string }> = {
  readonly [Type in T['type']]: Extract<T, { readonly type: Type }>;
};

const atMs = 1_767_225_600_000;
const id = 'msg_26hZCxZCuWyyTWPmSVBrNC1RADwp' as MessageId;
const other = 'msg_7YoJxFpwkEy5zBp3V1QyTrSbGi3d' as MessageId;
const dlqId = '1767225600000-7' as DlqId;
const runId = 'wfr_9dJqZ3bXk0aLwP7sVtYcE' as RunId;
const child = 'wfr_größer' as RunId;
const payloadHash = '47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU';
const content = Uint8Array.from([0, 1, 127, 128, 255]);

const mark: WorkflowMark = {
  detectsTrigger: true,
  needsRecentClient: false,
  canFetch: true,
  isConfiguredByTrigger: false,
};

const envelope: Envelope = {
  url: 'https://app.example/flow',
  settings: {
    method: 'POST',
    header: [['X-Größe', 'groß']],
    maxRetries: 3,
    retryDelay: undefined,
    timeoutSeconds: undefined,
    delaySeconds: 0,
    callback: undefined,
    failureCallback: undefined,
    flowControl: undefined,
    labels: ['one'],
    redact: undefined,
  },
  queueName: undefined,
  scheduleId: undefined,
  topicName: undefined,
  endpointName: undefined,
  callerIp: '192.0.2.1',
  isAlias: false,
  callbackOf: undefined,
  workflow: mark,
};

const step: StepMark = { stepId: 2, targetStep: 0, concurrent: 1, stepName: 'send ✉', stepType: 'Run' };
const plan: StepMark = { stepId: 0, targetStep: 3, concurrent: 2, stepName: 'wait', stepType: 'SomethingNew' };

const delivery: ResultDelivery = { envelope, headers: [['svc-workflow-sdk-version', '1']] };

const entries: readonly RunEntry[] = [
  { messageId: id, body: { number: 0, bytes: 0 }, step: undefined, createdAtMs: atMs },
  { messageId: other, body: { number: 70_000, bytes: 5 }, step: plan, createdAtMs: atMs + 1 },
];

const invoker: Invoker = {
  runId,
  runCreatedAtMs: atMs,
  url: 'https://app.example/parent',
  step: { ...step, stepType: 'Invoke' },
  stepText: '{"stepId":2}',
  delivery,
};

const waiter: EventWaiter = {
  runId,
  eventId: 'order/17',
  step: { ...step, stepType: 'Wait' },
  stepText: '{"stepId":2}',
  resultId: other,
  addedAtMs: atMs,
  deadlineMs: atMs + 604_800_000,
  timeoutText: '7d',
  timeoutBody: '{"waitTimeout":true}',
  onNotify: delivery,
  onTimeout: { envelope: { ...envelope, isAlias: true }, headers: [] },
};

const failureFunction: FailureFunction = {
  state: 'CALLBACK_FAIL',
  messageId: other,
  url: 'https://app.example/failed',
  status: 500,
  header: [['A', 'b']],
  body: { number: 12, bytes: 5 },
  request: { number: 11, bytes: 300 },
};

/** One of each type. */
export const GOLDEN_WORKFLOW_EVENTS: OneOfEach<WorkflowEvent> = {
  RunStarted: {
    type: 'RunStarted',
    runId: child,
    atMs,
    envelope,
    invoker,
    resumedFrom: { how: 'restart', dlqId, runId, runCreatedAtMs: atMs - 5000 },
    kept: entries,
    payloadHash,
  },
  RunReconfigured: { type: 'RunReconfigured', runId, atMs, envelope },
  RunEnded: {
    type: 'RunEnded',
    runId,
    atMs,
    state: 'RUN_FAILED',
    response: content,
    dlqId,
    error: 'HTTP status 489',
  },
  WaiterAdded: { type: 'WaiterAdded', atMs, waiter },
  WaiterRemoved: { type: 'WaiterRemoved', runId, stepId: 2, why: 'timeout', atMs },
  EventStored: { type: 'EventStored', runId, eventId: 'order/17', id, content, atMs },
  StoredEventTaken: { type: 'StoredEventTaken', runId, eventId: 'order/17', atMs },
  InvokeStarted: {
    type: 'InvokeStarted',
    runId,
    step: { ...step, stepType: 'Invoke' },
    messageId: id,
    childRunId: child,
    childCreatedAtMs: atMs + 1,
    childUrl: 'https://app.example/child',
    atMs: atMs + 2,
  },
  InvokeEndedLate: { type: 'InvokeEndedLate', runId, runCreatedAtMs: atMs, stepId: 2, record: content, atMs: atMs + 9 },
  MessageFailed: { type: 'MessageFailed', id, atMs, error: 'HTTP status 500' },
  FailureFunctionEnded: {
    type: 'FailureFunctionEnded',
    runId,
    dlqId,
    state: 'CALLBACK_CANCELED',
    status: 0,
    header: [['A', 'b']],
    response: { number: 12, bytes: content.length, content },
    atMs,
  },
  RunRestored: {
    type: 'RunRestored',
    runId,
    createdAtMs: atMs,
    envelope,
    invoker,
    payloadHash,
    waiters: [waiter, { ...waiter, timeoutBody: undefined }],
    storedEvents: [{ eventId: 'order/18', id, content }],
    invokes: [[4, child, other]],
    calls: [
      [5, id],
      [128, other],
    ],
    dlqId,
    failureFunction,
    entries,
  },
  RunEntriesRestored: { type: 'RunEntriesRestored', runId, dlqId: undefined, entries },
  EndedRunsRestored: { type: 'EndedRunsRestored', entries: [[runId, payloadHash, id, atMs, atMs + 30_000]] },
};

const accepted: Extract<QueueEvent, { readonly type: 'MessageAccepted' }> = {
  type: 'MessageAccepted',
  id,
  atMs,
  envelope,
  body: { number: 70_000, bytes: content.length, content },
  notBeforeMs: atMs,
  deduplication: undefined,
  retryOf: undefined,
  holdsPlaceOf: undefined,
};

const ofRun = { runId, runCreatedAtMs: atMs };

export const RUN_PARTS: { readonly [Role in RunPart['role']]: Extract<RunPart, { readonly role: Role }> } = {
  step: { role: 'step', ...ofRun, index: 1, step: plan },
  call: { role: 'call', ...ofRun, step },
  result: { role: 'result', ...ofRun, step, callId: other },
  failure: { role: 'failure', ...ofRun, dlqId, payload: { number: 9, bytes: 120 } },
};

/** Messages of runs, messages with a priority or a mark, newer fields of applications and rules, and a delivery with its answer, by the names that their bytes have in the file. */
export const GOLDEN_RUN_MESSAGES: Readonly<Record<string, QueueEvent>> = {
  'MessageDelivered, answer': {
    type: 'MessageDelivered',
    id: other,
    atMs,
    status: 201,
    durationMs: 12.5,
    answer: { header: [['Via', 'a']], body: Uint8Array.of(1, 0x7f, 0x80, 0xff), isCut: true },
  },
  'MessageAccepted, priority': {
    ...accepted,
    envelope: { ...envelope, settings: { ...envelope.settings, priority: 'low' } },
  },
  'MessageAccepted, when stopped': {
    ...accepted,
    envelope: { ...envelope, settings: { ...envelope.settings, whenStopped: 'dlq' } },
  },
  'MessageAccepted, webhook': {
    ...accepted,
    envelope: {
      ...envelope,
      topicName: 'app_aaaabbbbccccdddd',
      endpointName: 'ep_aaaabbbbccccdddd',
      webhook: { id: 'evt_1', eventType: 'invoice.paid' },
    },
  },
  'ApplicationSet, notices and links': {
    type: 'ApplicationSet',
    application: {
      id: 'app_aaaabbbbccccdddd',
      uid: undefined,
      name: '',
      metadata: [],
      rate: undefined,
      createdAtMs: atMs,
      updatedAtMs: atMs,
      notifyUrl: 'https://customer.example/notices',
      portalLinks: { generation: 2, revoked: [{ id: 'plk_aaaabbbbccccdddd', untilMs: atMs + 5 }] },
    },
    atMs,
  },
  'ApplicationSet, email': {
    type: 'ApplicationSet',
    application: {
      id: 'app_aaaabbbbccccdddd',
      uid: undefined,
      name: '',
      metadata: [],
      rate: undefined,
      createdAtMs: atMs,
      updatedAtMs: atMs,
      email: 'anna@customer.example',
    },
    atMs,
  },
  'BreakerRulesSet, notices': {
    type: 'BreakerRulesSet',
    rules: {
      failures: 10,
      seconds: 60,
      probeSeconds: 30,
      disableAfterSeconds: 432_000,
      messages: 'wait',
      notifyUrl: 'https://owner.example/notices',
    },
    atMs,
  },
  'MessageAccepted, payload': {
    ...accepted,
    workflow: { role: 'step', ...ofRun, index: 0, step: undefined },
  },
  'MessageAccepted, step': { ...accepted, workflow: RUN_PARTS.step },
  'MessageAccepted, call': { ...accepted, workflow: RUN_PARTS.call },
  'MessageAccepted, result': { ...accepted, workflow: RUN_PARTS.result },
  'MessageAccepted, failure': { ...accepted, workflow: RUN_PARTS.failure },
  'MessageRestored, step': {
    type: 'MessageRestored',
    id,
    envelope,
    body: { number: 70_000, bytes: 5 },
    createdAtMs: atMs,
    notBeforeMs: atMs,
    dueAtMs: atMs + 2,
    status: 'waiting',
    retried: 0,
    restarts: 0,
    sinceMs: atMs + 3,
    isCancelRequested: false,
    order: 7,
    holdsPlaceOf: undefined,
    workflow: RUN_PARTS.step,
  },
  'MessageRestored, failure': {
    type: 'MessageRestored',
    id,
    envelope,
    body: { number: 70_000, bytes: 5 },
    createdAtMs: atMs,
    notBeforeMs: atMs,
    dueAtMs: atMs + 2,
    status: 'active',
    retried: 1,
    restarts: 0,
    sinceMs: atMs + 3,
    isCancelRequested: false,
    order: 7,
    holdsPlaceOf: undefined,
    workflow: RUN_PARTS.failure,
  },
};

/** Values for bus messages about runs, made of the same parts. */
export const RUN_SAMPLES = {
  atMs,
  id,
  other,
  dlqId,
  runId,
  child,
  content,
  mark,
  envelope,
  step,
  plan,
  entries,
  failureFunction,
};
