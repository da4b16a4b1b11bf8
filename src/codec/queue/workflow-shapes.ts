/** Parts of runs that events, commands and answers have in common. The order of fields is the format (S1 of shapes.ts). */
import {
  FAILURE_FUNCTION_STATES,
  type FailureFunction,
  type FailureFunctionState,
  type RunEntry,
  type RunPart,
  type StepMark,
  type WorkflowMark,
} from '../../domain/queue/runs/index.js';
import type { RunId } from '../../kernel/index.js';
import { bodyRef, dlqId, headerList, messageId } from './queue-shapes.js';
import { fields, flag, oneOf, optional, record, text, union, whole } from './shapes.js';

export const runId = text<RunId>();

export const workflowMark = record<WorkflowMark>({
  detectsTrigger: flag,
  needsRecentClient: flag,
  canFetch: flag,
  isConfiguredByTrigger: flag,
});

export const stepMark = record<StepMark>({
  stepId: whole,
  targetStep: whole,
  concurrent: whole,
  stepName: text(),
  stepType: text(),
});

const ofRun = { runId, runCreatedAtMs: whole };

export const runPart = union<RunPart, 'role'>('role', {
  step: [1, fields({ ...ofRun, index: whole, step: optional(stepMark) })],
  call: [2, fields({ ...ofRun, step: stepMark })],
  result: [3, fields({ ...ofRun, step: stepMark, callId: messageId })],
  failure: [4, fields({ ...ofRun, dlqId, payload: bodyRef })],
});

export const runEntry = record<RunEntry>({
  messageId,
  body: bodyRef,
  step: optional(stepMark),
  createdAtMs: whole,
});

export const failureFunctionState = oneOf<FailureFunctionState>(...FAILURE_FUNCTION_STATES);

export const failureFunction = record<FailureFunction>({
  state: failureFunctionState,
  messageId,
  url: text(),
  status: whole,
  header: headerList,
  body: bodyRef,
  request: bodyRef,
});
