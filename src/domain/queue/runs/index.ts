/** Runs of workflows: what they are made of, what is asked about them, and what happens to them. */
export type { WorkflowMark } from '../records.js';
export * from './commands.js';
export type { WorkflowEvent } from './events.js';
export * from './limits.js';
export * from './records.js';
export * from './run-ids.js';
