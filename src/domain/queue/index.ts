/**
 * The queue of an account, in layers that import only those before them:
 *
 *  - `collections`: data structures
 *  - `model`: records, commands, events and limits; in it `settings` (options of callers), and the state, which events
 *    alone change: `messages`, `runs`, and `state` as a whole
 *  - `messages`: decisions about messages, and rules that deliveries and runs share
 *  - `delivery` and `runs` (with waits and failed runs), which know each other only through `messages`
 *  - `commands`: the table of commands; and the engine
 *
 * `runs` has its own index.
 */
export { isSigning } from './commands/application-commands.js';

export { BREAKER_BOUNDS, USUAL_BREAKER_RULES } from './commands/breaker-commands.js';
export { bytesOfItems, COMMAND_BYTES, type CommandRow, QUEUE_COMMANDS, rowOf } from './commands/command-table.js';
export * from './delivery/delivered-headers.js';
export { callbackId } from './delivery/outcomes.js';
export {
  type AccountCounts,
  type EngineOptions,
  type OpenRunAttempt,
  QueueEngine,
  type RecordEvent,
} from './engine.js';
export * from './messages/callback-body.js';
export * from './messages/deduplication-key.js';
export { FOR_RUNS } from './messages/held-refusal.js';
export * from './messages/kept-response.js';
export * from './messages/message-filter.js';
export { isBodyless, trimmedBody } from './messages/message-view.js';
export * from './messages/retry-policy.js';
export type { QueueSteps } from './messages/turn.js';
export type * from './model/application-records.js';
export { SIGNATURE_VERSIONS } from './model/application-records.js';
export type * from './model/commands.js';
export { outboxRecord, PENDING_STATES, publishItems, queueCommands, queueReplies } from './model/commands.js';
export * from './model/decision.js';
export { type QueueEvent, type QueueEventOf, queueEvents } from './model/events.js';
export type * from './model/held.js';
export * from './model/ids.js';
export * from './model/limits.js';
export type { BodySink } from './model/messages/bodies.js';
export type * from './model/records.js';
export {
  accountLimitFields,
  accountLimits,
  accountState,
  BREAKER_STATES,
  carriesBody,
  envelope,
  HTTP_METHODS,
  headerList,
  keptAnswer,
  MESSAGES_WHEN_STOPPED,
  messageStatus,
  PRIORITIES,
} from './model/records.js';
export { runPart } from './model/run-records.js';
export * from './model/settings/cron.js';
export * from './model/settings/destination.js';

export * from './model/settings/duration.js';

export * from './model/settings/flow-control-setting.js';

export {
  canonicalHeaderName,
  headerListProblem,
  isOfTrace,
  outgoingHeaderProblem,
} from './model/settings/header-names.js';

export * from './model/settings/labels.js';

export * from './model/settings/names.js';

export * from './model/settings/publish-settings.js';

export * from './model/settings/redaction.js';
export * from './model/settings/retry-delay.js';
export * from './model/settings/run-names.js';
export { OPTION_NAMES } from './model/settings/setting-options.js';
export * from './model/settings/trigger-headers.js';
export { askedCall } from './model/settings/worded-calls.js';
export { rowOfEvent } from './model/state/event-table.js';
