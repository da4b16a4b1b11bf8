/** Workflow runs: records, commands, events and ids. */
export type { WorkflowMark } from '../model/records.js';
export * from '../model/run-ids.js';
export * from '../model/run-limits.js';
export * from '../model/run-records.js';
export * from '../model/workflow-commands.js';
export type { WorkflowEvent } from '../model/workflow-events.js';
export { recordedEnvelope } from './resumed-envelopes.js';
export { NO_MARK } from './run-envelopes.js';
