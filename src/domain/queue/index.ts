export type { BodySink } from './bodies.js';
export * from './callback-body.js';
export { bytesOfItems, COMMAND_BYTES } from './command-bytes.js';
export type { CommandRow } from './command-row.js';
export { QUEUE_COMMANDS, rowOf } from './command-table.js';
export * from './commands.js';
export * from './cron.js';
export * from './decision.js';
export * from './deduplication.js';
export * from './delivered-headers.js';
export * from './destination.js';
export * from './duration.js';
export {
  type EngineOptions,
  type OpenRunAttempt,
  QueueEngine,
  type Record as RecordEvent,
} from './engine.js';
export type { QueueEvent, QueueEventOf } from './events.js';
export * from './flow-control-setting.js';
export { canonicalHeaderName, isForbiddenOutgoing, outgoingHeaderProblem } from './header-names.js';
export type * from './held.js';
export { FOR_RUNS } from './held-refusal.js';
export * from './ids.js';
export * from './labels.js';
export * from './limits.js';
export * from './message-filter.js';
export * from './names.js';
export * from './publish-settings.js';
export * from './records.js';
export * from './redaction.js';
export * from './retry-delay.js';
export * from './retry-policy.js';
export { OPTION_NAMES } from './setting-options.js';
export * from './trimmed-body.js';
export type { QueueSteps } from './turn.js';
