/**
 * A run as `/v2/workflows/logs` shows it, with its steps in groups; and one event of a run as `/v2/workflows/events`
 * lists it. Members without a value are omitted.
 */
import type { RunName } from '../../../domain/queue/runs/index.js';
import type {
  LoggedCall,
  LoggedFailureFunction,
  LoggedInvoke,
  LoggedInvoker,
  LoggedRun,
  LoggedStep,
  LoggedWait,
  NextDelivery,
  RunEvent,
  StepFailure,
  StepGroup,
  StepInfo,
} from '../../../ports/index.js';
import { headerObject, unlessEmpty } from '../../records/record-parts.js';
import type { Spelling } from '../../wire-alias.js';

export function nameRecord({ runId, createdAtMs }: RunName) {
  return { workflowRunId: runId, workflowCreatedAt: createdAtMs };
}

export function runRecord(run: LoggedRun, spelling: Spelling) {
  return {
    workflowRunId: run.runId,
    workflowUrl: run.url,
    workflowState: run.state,
    workflowRunCreatedAt: run.createdAtMs,
    workflowRunCompletedAt: run.endedAtMs,
    workflowRunResponse: run.response,
    bodyTruncated: run.isCut,
    workflowRunCallerIp: run.callerIp === '' ? undefined : run.callerIp,
    ...labelMembers(run.labels),
    flowControlKey: run.flowControlKey,
    dlqId: run.dlqId,
    invoker: run.invoker && invokerRecord(run.invoker),
    failureFunction: run.failureFunction && functionRecord(run.failureFunction, run.dlqId, spelling),
    steps: run.groups.map((group) => groupRecord(group, spelling)),
  };
}

/** `label` is the first label, for clients from before runs could have several. */
function labelMembers(labels: readonly string[]) {
  return { label: labels[0], labels: labels.length === 0 ? undefined : labels };
}

function invokerRecord({ runId, url, createdAtMs }: LoggedInvoker) {
  return { workflowRunId: runId, workflowUrl: url, workflowRunCreatedAt: createdAtMs };
}

function functionRecord(told: LoggedFailureFunction, dlqId: string | undefined, spelling: Spelling) {
  const { messageId, url, state, failed, response, maxRetries, nextDeliveryAtMs } = told;
  return {
    messageId,
    url,
    state,
    failStatus: failed.status,
    failResponse: failed.body,
    failHeaders: headerObject(failed.header, spelling),
    dlqId,
    responseStatus: response?.status,
    responseBody: response?.body,
    responseHeaders: response && headerObject(response.header, spelling),
    errors: errorRecords(told.failures, spelling),
    maxRetries,
    nextDeliveryTime: nextDeliveryAtMs,
    bodyTruncated: told.isCut,
  };
}

function groupRecord(group: StepGroup, spelling: Spelling) {
  if (group.type === 'next') {
    return { type: group.type, steps: group.deliveries.map((delivery) => nextRecord(delivery, spelling)) };
  }
  return { type: group.type, steps: group.steps.map((step) => stepRecord(step, spelling)) };
}

function nextRecord(delivery: NextDelivery, spelling: Spelling) {
  return {
    messageId: delivery.messageId,
    stepName: delivery.stepName,
    state: delivery.state,
    retries: delivery.maxRetries,
    retryDelay: delivery.retryDelay,
    timeout: delivery.timeoutMs,
    errors: errorRecords(delivery.failures, spelling),
    nextDeliveryTime: delivery.nextDeliveryAtMs,
    bodyTruncated: delivery.isCut,
  };
}

function stepRecord(step: LoggedStep, spelling: Spelling) {
  return {
    stepId: step.stepId,
    stepName: step.stepName,
    stepType: step.stepType,
    callType: step.callType,
    messageId: step.messageId,
    out: step.out,
    bodyTruncated: step.isCut,
    retries: step.maxRetries,
    retryDelay: step.retryDelay,
    timeout: step.timeoutMs,
    concurrent: step.concurrent,
    state: step.state,
    createdAt: step.createdAtMs,
    headers: headerObject(step.header, spelling),
    nextDeliveryTime: step.nextDeliveryAtMs,
    errors: errorRecords(step.failures, spelling),
    sleepFor: step.sleepForMs,
    sleepUntil: step.sleepUntilMs,
    ...(step.call && callMembers(step.call, spelling)),
    ...(step.wait && waitMembers(step.wait)),
    ...(step.invoke && invokeMembers(step.invoke, spelling)),
  };
}

function callMembers({ url, method, header, body, response }: LoggedCall, spelling: Spelling) {
  return {
    callUrl: url,
    callMethod: method,
    callHeaders: headerObject(header, spelling),
    callBody: body,
    callResponseStatus: response?.status,
    callResponseHeaders: response && headerObject(response.header, spelling),
    callResponseBody: response?.body,
  };
}

function waitMembers({ eventId, timeoutText, deadlineMs, hasTimedOut }: LoggedWait) {
  return {
    waitEventId: eventId,
    waitTimeoutDuration: timeoutText,
    waitTimeoutDeadline: deadlineMs,
    waitTimeout: hasTimedOut,
  };
}

function invokeMembers({ runId, url, createdAtMs, body, header }: LoggedInvoke, spelling: Spelling) {
  return {
    invokedWorkflowRunId: runId,
    invokedWorkflowUrl: url,
    invokedWorkflowCreatedAt: createdAtMs,
    invokedWorkflowRunBody: body,
    invokedWorkflowRunHeaders: headerObject(header, spelling),
  };
}

function errorRecords(failures: readonly StepFailure[], spelling: Spelling) {
  if (failures.length === 0) return undefined;
  return failures.map(({ atMs, error, status, header, body }) => ({
    error,
    status,
    body: body ?? '',
    headers: headerObject(header, spelling),
    time: atMs,
  }));
}

export function runEventRecord(event: RunEvent, spelling: Spelling) {
  const { response, invoker } = event;
  return {
    time: event.atMs,
    state: event.state,
    workflowRunId: event.runId,
    workflowUrl: event.url,
    workflowCreatedAt: event.createdAtMs,
    messageId: event.step?.messageId,
    stepInfo: event.step && stepInfo(event.step),
    nextDeliveryTime: event.nextDeliveryAtMs,
    error: event.error,
    responseStatus: response?.status,
    responseBody: response?.body,
    responseHeaders: response && headerObject(response.header, spelling),
    headers: unlessEmpty(headerObject(event.header, spelling)),
    invokerWorkflowRunId: invoker?.runId,
    invokerWorkflowUrl: invoker?.url,
    invokerWorkflowCreatedAt: invoker?.createdAtMs,
    workflowRunResponse: event.runResponse,
    bodyTruncated: event.isCut,
    dlqId: event.dlqId,
    ...labelMembers(event.labels),
    callerIp: event.callerIp === '' ? undefined : event.callerIp,
  };
}

function stepInfo({ messageId, stepId, stepName, stepType, callType, concurrent, out }: StepInfo) {
  return { messageId, stepId, stepName, stepType, callType, concurrent, out };
}
