/** Schemas of runs, steps, failures and waits, by their names in the OpenAPI document. */
import { FAILURE_FUNCTION_STATES, RUN_STATES } from '../../../domain/queue/runs/index.js';
import { MESSAGE_STATES, STEP_STATES } from '../../../ports/index.js';
import {
  FLAG,
  HEADERS,
  INSTANT,
  type JsonSchema,
  listOf,
  record,
  schemaNamed,
  TEXT,
  WHOLE,
  wordOf,
} from '../../http/openapi/parts.js';
import { recordSchema } from '../../http/openapi/record-schema.js';
import { DEAD_LETTER, DEAD_LETTER_EXTRAS, TRUNCATED } from '../../records/record-schemas.js';
import type { listedWaiterRecord, notifyRecord, waiterRecord } from './waiter-record.js';
import type { workflowDlqRecord } from './workflow-dlq-record.js';
import type { runEventRecord, runRecord } from './workflow-run-record.js';

type Run = ReturnType<typeof runRecord>;
type Group = Run['steps'][number];
type NextStep = Extract<Group, { readonly type: 'next' }>['steps'][number];
type Step = Exclude<Group, { readonly type: 'next' }>['steps'][number];
type FailureFunction = NonNullable<Run['failureFunction']>;
type StepError = NonNullable<NextStep['errors']>[number];
type StepInfo = NonNullable<ReturnType<typeof runEventRecord>['stepInfo']>;

const CALL_TYPES = ['step', 'toCallback', 'fromCallback'];
const STEP_STATE = wordOf(STEP_STATES);
const FUNCTION_STATE = wordOf(FAILURE_FUNCTION_STATES);
const LABELS = { label: { ...TEXT, description: 'The first of the labels.' }, labels: listOf(TEXT) };
const SECONDS: JsonSchema = { ...WHOLE, description: 'Seconds since 1970.' };

const TIMEOUT: JsonSchema = {
  ...WHOLE,
  description: "Milliseconds of one attempt. Left out: the limit of the account's plan.",
};

const STEP = {
  stepName: TEXT,
  stepType: TEXT,
  callType: wordOf(CALL_TYPES),
  messageId: TEXT,
  retries: WHOLE,
  concurrent: WHOLE,
  state: STEP_STATE,
  createdAt: INSTANT,
  headers: HEADERS,
};

const OF_STEP_TYPES = {
  sleepFor: { ...WHOLE, description: 'Milliseconds.' },
  sleepUntil: INSTANT,
  callUrl: TEXT,
  callMethod: TEXT,
  callHeaders: HEADERS,
  callBody: TEXT,
  callResponseStatus: WHOLE,
  callResponseHeaders: HEADERS,
  callResponseBody: TEXT,
  waitEventId: TEXT,
  waitTimeoutDuration: TEXT,
  waitTimeoutDeadline: INSTANT,
  waitTimeout: { ...FLAG, description: 'The time was over before the event.' },
  invokedWorkflowRunId: TEXT,
  invokedWorkflowUrl: TEXT,
  invokedWorkflowCreatedAt: INSTANT,
  invokedWorkflowRunBody: TEXT,
  invokedWorkflowRunHeaders: HEADERS,
};

const RUN_SCHEMAS = {
  Run: recordSchema<Run>(
    {
      workflowRunId: TEXT,
      workflowUrl: TEXT,
      workflowState: wordOf(RUN_STATES),
      workflowRunCreatedAt: INSTANT,
      steps: listOf({ oneOf: [schemaNamed('StepGroup'), schemaNamed('NextStepGroup')] }),
    },
    {
      workflowRunCompletedAt: INSTANT,
      workflowRunResponse: { ...TEXT, description: 'The result of the run, as it was sent.' },
      bodyTruncated: TRUNCATED,
      workflowRunCallerIp: TEXT,
      ...LABELS,
      flowControlKey: TEXT,
      dlqId: TEXT,
      invoker: schemaNamed('Invoker'),
      failureFunction: schemaNamed('FailureFunction'),
    },
  ),
  Invoker: recordSchema<NonNullable<Run['invoker']>>(
    { workflowRunId: TEXT, workflowUrl: TEXT, workflowRunCreatedAt: INSTANT },
    {},
  ),
  FailureFunction: recordSchema<FailureFunction>(
    {
      messageId: TEXT,
      url: TEXT,
      state: FUNCTION_STATE,
      failStatus: { ...WHOLE, description: '0: there was no answer.' },
      failHeaders: HEADERS,
      maxRetries: WHOLE,
    },
    {
      failResponse: TEXT,
      bodyTruncated: TRUNCATED,
      dlqId: TEXT,
      responseStatus: WHOLE,
      responseBody: TEXT,
      responseHeaders: HEADERS,
      errors: listOf(schemaNamed('StepError')),
      nextDeliveryTime: INSTANT,
    },
  ),
  StepGroup: record({ type: wordOf(['sequential', 'parallel']), steps: listOf(schemaNamed('Step')) }),
  NextStepGroup: record({ type: wordOf(['next']), steps: listOf(schemaNamed('NextStep')) }),
  Step: recordSchema<Step>(STEP, {
    stepId: { ...WHOLE, description: 'Left out: it is the payload of the run.' },
    out: { ...TEXT, description: 'The result of the step.' },
    bodyTruncated: TRUNCATED,
    retryDelay: TEXT,
    timeout: TIMEOUT,
    nextDeliveryTime: INSTANT,
    errors: listOf(schemaNamed('StepError')),
    ...OF_STEP_TYPES,
  }),
  NextStep: recordSchema<NextStep>(
    { messageId: TEXT, state: STEP_STATE, retries: WHOLE },
    {
      stepName: TEXT,
      bodyTruncated: TRUNCATED,
      retryDelay: TEXT,
      timeout: TIMEOUT,
      errors: listOf(schemaNamed('StepError')),
      nextDeliveryTime: INSTANT,
    },
  ),
  StepError: recordSchema<StepError>(
    {
      error: TEXT,
      status: { ...WHOLE, description: '0: there was no answer.' },
      body: TEXT,
      headers: HEADERS,
      time: INSTANT,
    },
    {},
  ),
  RunEvent: recordSchema<ReturnType<typeof runEventRecord>>(
    {
      time: INSTANT,
      state: wordOf([...RUN_STATES, ...MESSAGE_STATES, 'WAITER_ADDED', 'INVOKED']),
      workflowRunId: TEXT,
      workflowUrl: TEXT,
      workflowCreatedAt: INSTANT,
    },
    {
      messageId: TEXT,
      stepInfo: schemaNamed('StepInfo'),
      nextDeliveryTime: INSTANT,
      error: TEXT,
      responseStatus: WHOLE,
      responseBody: TEXT,
      responseHeaders: HEADERS,
      headers: HEADERS,
      invokerWorkflowRunId: TEXT,
      invokerWorkflowUrl: TEXT,
      invokerWorkflowCreatedAt: INSTANT,
      workflowRunResponse: TEXT,
      bodyTruncated: TRUNCATED,
      dlqId: TEXT,
      ...LABELS,
      callerIp: TEXT,
    },
  ),
  StepInfo: recordSchema<StepInfo>(
    {
      messageId: TEXT,
      stepName: TEXT,
      stepType: TEXT,
      callType: wordOf([...CALL_TYPES, 'failureCall']),
      concurrent: WHOLE,
    },
    { stepId: WHOLE, out: TEXT },
  ),
};

const FAILED_RUN_SCHEMAS = {
  FailedRun: recordSchema<ReturnType<typeof workflowDlqRecord>>(
    { ...DEAD_LETTER, workflowRunId: TEXT, workflowCreatedAt: INSTANT, workflowUrl: TEXT },
    {
      ...DEAD_LETTER_EXTRAS,
      failureFunctionState: FUNCTION_STATE,
      failureCallbackInfo: schemaNamed('FailureCallbackInfo'),
    },
  ),
  FailureCallbackInfo: record(
    { state: FUNCTION_STATE },
    {
      responseStatus: WHOLE,
      responseHeaders: HEADERS,
      responseBody: TEXT,
      responseBodyBase64: { ...TEXT, description: 'Base64.' },
    },
  ),
};

const WAITER_SCHEMAS = {
  Waiter: recordSchema<ReturnType<typeof waiterRecord>>(
    { url: TEXT, headers: HEADERS, deadline: SECONDS, timeoutUrl: TEXT, timeoutHeaders: HEADERS },
    { timeoutBody: TEXT },
  ),
  WaitingStep: recordSchema<ReturnType<typeof listedWaiterRecord>>(
    {
      eventId: TEXT,
      workflowRunId: TEXT,
      workflowCreatedAt: INSTANT,
      stepId: WHOLE,
      stepName: TEXT,
      addedAt: INSTANT,
      deadline: INSTANT,
    },
    {},
  ),
  Notified: recordSchema<ReturnType<typeof notifyRecord>>(
    {
      waiter: schemaNamed('Waiter'),
      messageId: TEXT,
      error: { ...TEXT, description: 'Always empty.' },
      workflowRunId: TEXT,
      workflowCreatedAt: INSTANT,
    },
    {},
  ),
};

export const WORKFLOW_SCHEMAS = { ...RUN_SCHEMAS, ...FAILED_RUN_SCHEMAS, ...WAITER_SCHEMAS };
