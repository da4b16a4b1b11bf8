/**
 * The queue of an account. In this folder is what all of it shares: commands and their table, events, records, the
 * engine. Its rooms are folders, each with the subject it is named for; `runs` has a face of its own.
 */
export * from './accounts/index.js';
export { bytesOfItems, COMMAND_BYTES } from './command-bytes.js';
export type { CommandRow } from './command-row.js';
export { QUEUE_COMMANDS, rowOf } from './command-table.js';
export type * from './commands.js';
export { PENDING_STATES, publishItems, queueCommands, queueReplies } from './commands.js';
export * from './decision.js';
export * from './delivery/index.js';
export {
  type AccountCounts,
  type EngineOptions,
  type OpenRunAttempt,
  QueueEngine,
  type RecordEvent,
} from './engine.js';
export { rowOfEvent } from './event-table.js';
export { type QueueEvent, type QueueEventOf, queueEvents } from './events.js';
export * from './ids.js';
export * from './limits.js';
export * from './messages/index.js';
export type * from './records.js';
export {
  accountLimitFields,
  accountLimits,
  accountState,
  carriesBody,
  envelope,
  HTTP_METHODS,
  headerList,
  messageStatus,
} from './records.js';
export { runPart } from './runs/records.js';
export * from './schedules/index.js';
export * from './settings/index.js';
export type { QueueSteps } from './turn.js';
