/** One thing that happened to a run, as `/v2/workflows/events` lists it. Absent members are left out. */
import type { RunEvent, StepInfo } from '../../../ports/index.js';
import { headerObject, unlessEmpty } from '../../records/shown.js';
import type { Spelling } from '../../wire-alias.js';
import { labelMembers } from './workflow-run-record.js';

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
    dlqId: event.dlqId,
    ...labelMembers(event.labels),
    callerIp: event.callerIp === '' ? undefined : event.callerIp,
  };
}

function stepInfo({ messageId, stepId, stepName, stepType, callType, concurrent, out }: StepInfo) {
  return { messageId, stepId, stepName, stepType, callType, concurrent, out };
}
