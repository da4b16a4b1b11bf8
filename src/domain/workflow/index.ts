export type { WorkflowMark } from '../queue/records.js';
export * from './commands.js';
export type { WorkflowEvent } from './events.js';
export type { FailedRun } from './failed-run-index.js';
export * from './limits.js';
export * from './records.js';
export * from './run-ids.js';
