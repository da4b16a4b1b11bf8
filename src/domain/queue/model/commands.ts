/**
 * Commands and replies of a queue account. The caller makes the ids, so the same command sent twice has one effect.
 * The form of every field was validated before (publish-settings); the owner judges the parts that depend on state:
 * groups, limits, deduplication, flow control.
 */

import type { AccountId, RunId } from '../../../kernel/index.js';
import {
  absent,
  bytes,
  flag,
  kind,
  listOf,
  number,
  oneOf,
  optional,
  record,
  type Shape,
  type TypeOf,
  text,
  trailing,
  tuple,
  type UnionOf,
  union,
  whole,
} from '../../../kernel/schema/index.js';
import { applicationCommands, applicationReplies, breakerViewFields } from './application-commands.js';
import { webhookItem } from './application-records.js';
import { dlqSelectorBy } from './dlq-selector.js';
import {
  bodyRef,
  breakerRules,
  content,
  dlqEntry,
  dlqId,
  endpoints,
  envelope,
  headerList,
  messageId,
  messageStatus,
  optionalText,
  queueFields,
  rawSettings,
  schedule,
  scheduleId,
  settings,
  texts,
  urlGroup,
} from './records.js';
import { runName, workflowCommands, workflowItem, workflowReplies } from './workflow-commands.js';

const destination = union('kind', {
  /** `settings` were parsed by the process that received the request. */
  url: kind(1, { url: text(), settings }),
  group: kind(2, { name: text(), raw: rawSettings }),
});
export type PublishDestination = TypeOf<typeof destination>;

/** Either the word `content` (the id is a hash of the content) or an id in a record. */
const deduplication: Shape<{ readonly id: string } | 'content'> = {
  write: (out, value) => {
    if (value === 'content') out.flag(true);
    else out.text(value.id);
  },
  read: (from) => (from.takesTrue() ? 'content' : { id: from.text() }),
};

const item = record({
  /** For a group: the id of the first endpoint's message. The ids of the others are derived from it (`messageIdAt`). */
  id: messageId,
  destination,
  queueName: optionalText,
  body: bytes,
  /** The instant that the request named; else the settings' delay counts. */
  notBeforeMs: optional(whole),
  /** The id that was sent, or `content`. */
  deduplication: optional(deduplication),
  callerIp: text(),
  isAlias: flag,
  /** Set for a message of a workflow run; its destination is a URL, never a queue. */
  workflow: trailing(workflowItem),
  /** Set for a webhook to an endpoint of an application. */
  webhook: trailing(webhookItem),
});
export type PublishItem = TypeOf<typeof item>;
export const publishItems = listOf(item);

/** Filters are combined with AND, values within one filter with OR. An empty filter matches all. */
const filter = record({
  messageId: absent(texts),
  url: absent(texts),
  host: absent(texts),
  path: absent(texts),
  topicName: absent(texts),
  queueName: absent(texts),
  scheduleId: absent(texts),
  label: absent(texts),
  flowControlKey: absent(texts),
  callerIp: absent(texts),
  /** Bounds on the creation time, or on the failure time in the DLQ; inclusive. */
  fromMs: absent(number),
  toMs: absent(number),
  /** Only in the DLQ. */
  responseStatus: absent(listOf(whole)),
  priority: trailing(texts),
});
export type MessageFilter = TypeOf<typeof filter>;

const dlqSelector = dlqSelectorBy(filter);
export type DlqSelector = TypeOf<typeof dlqSelector>;

const messageSelector = union('kind', {
  ids: kind(1, { messageIds: listOf(messageId) }),
  /** `count` undefined: all that match. */
  filter: kind(2, { filter, count: optional(whole) }),
});
export type MessageSelector = TypeOf<typeof messageSelector>;

/** States of a message that has not ended: not yet due, due but held back, at its destination, between attempts. */
export const PENDING_STATES = ['SCHEDULED', 'WAITING', 'DELIVERING', 'RETRYING'] as const;
const pendingState = oneOf(...PENDING_STATES);
export type PendingState = TypeOf<typeof pendingState>;

const newSchedule = record({
  id: scheduleId,
  cron: text(),
  destination,
  queueName: optionalText,
  body: bytes,
  callerIp: text(),
  isAlias: flag,
});
export type NewSchedule = TypeOf<typeof newSchedule>;

/** The result of an attempt. */
const outcome = union('kind', {
  response: kind(1, {
    status: whole,
    header: headerList,
    /** At most the account's largest message. */
    body: bytes,
    isCut: flag,
    durationMs: number,
  }),
  'no-response': kind(2, { error: text(), durationMs: number }),
});
export type AttemptOutcome = TypeOf<typeof outcome>;

/** A record of the intake. */
const toldRecord = record({ position: whole, items: publishItems });
export type AcceptedIntake = TypeOf<typeof toldRecord>;

/** A call that a command of a database has made, complete with its ids. */
const outboxCall = union('kind', {
  publish: kind(1, { item }),
  schedule: kind(2, { schedule: newSchedule }),
  /** The fields of `Notify`. */
  notify: kind(3, { eventId: text(), runId: optional(text<RunId>()), firstId: messageId, content: bytes }),
});
export type OutboxCall = TypeOf<typeof outboxCall>;

/** A record of a database's outbox, as its journal holds it. */
export const outboxRecord = record({ account: text<AccountId>(), call: outboxCall });
/** Sequences of one source only grow. */
const sequencedCall = record({ sequence: whole, call: outboxCall });
export type SequencedCall = TypeOf<typeof sequencedCall>;

export const queueCommands = {
  ...workflowCommands,
  ...applicationCommands,
  /** Either all items are published or none. `isTold`: the intake acknowledged them, so no limit refuses them now. */
  Publish: kind(1, { items: publishItems, isTold: flag }),
  GetMessage: kind(2, { id: messageId }),
  CancelMessage: kind(3, { id: messageId }),
  /** Runs in steps; it is not atomic. */
  CancelMessages: kind(4, { selector: messageSelector }),
  SetQueue: kind(5, { name: text(), parallelism: whole, isPaused: flag }),
  PauseQueue: kind(6, { name: text(), isPaused: flag }),
  /** `ifEmpty`: a queue with messages stays. */
  DeleteQueue: kind(7, { name: text(), ifEmpty: trailing(flag) }),
  GetQueue: kind(8, { name: text() }),
  ListQueues: kind(9, {}),
  UpsertEndpoints: kind(10, { group: text(), endpoints }),
  /** Each row has a URL, a name or both; an endpoint matches when it has all that the row names. */
  RemoveEndpoints: kind(11, { group: text(), endpoints: listOf(record({ url: optionalText, name: optionalText })) }),
  SetGroupDefaults: kind(12, { group: text(), defaults: headerList }),
  DeleteGroup: kind(13, { group: text() }),
  GetGroup: kind(14, { group: text() }),
  ListGroups: kind(15, {}),
  SetSchedule: kind(16, { schedule: newSchedule }),
  PauseSchedule: kind(17, { id: scheduleId, isPaused: flag }),
  DeleteSchedule: kind(18, { id: scheduleId }),
  GetSchedule: kind(19, { id: scheduleId }),
  ListSchedules: kind(20, {}),
  GetDlq: kind(21, { dlqId }),
  /** Runs in steps when it has a filter. */
  DeleteDlq: kind(22, { selector: dlqSelector }),
  /**
   * The ids of the new messages are derived from `firstId`. `overrides`: configuration headers of the request, which
   * win over those of the entry.
   */
  RetryDlq: kind(23, { selector: dlqSelector, firstId: messageId, overrides: rawSettings }),
  GetFlow: kind(24, { key: text() }),
  ListFlows: kind(25, { search: optionalText }),
  PauseFlow: kind(26, { key: text(), isPaused: flag }),
  PinFlow: kind(27, {
    key: text(),
    parallelism: optional(whole),
    rate: optional(whole),
    periodSeconds: optional(whole),
  }),
  UnpinFlow: kind(28, { key: text(), parallelism: flag, rate: flag }),
  ResetFlow: kind(29, { key: text(), all: flag }),
  GetGlobalParallelism: kind(30, {}),
  /** The position of the account's journal: a read model that has reached it has seen all earlier changes. */
  GetPosition: kind(31, {}),
  // ── sent by the actor itself ──
  /** `sentBody`: the delivered body, for callbacks; undefined when the message has none. */
  RecordAttempt: kind(32, { id: messageId, retried: whole, restarts: whole, outcome, sentBody: optional(bytes) }),
  TakeIntake: kind(33, { records: listOf(toldRecord) }),
  /**
   * One page of matching messages in order of acceptance. `states` empty: any state. `after`: the page starts after
   * that order.
   */
  ListMessages: kind(46, {
    filter,
    states: listOf(pendingState),
    order: oneOf('earliestFirst', 'latestFirst'),
    count: whole,
    after: optional(whole),
  }),
  /**
   * Accepts records of a database's outbox, in order; those that were accepted before are skipped. Publishes at the
   * beginning are accepted together, or the first record alone: the reply says how far.
   */
  TakeOutbox: kind(51, {
    source: text(),
    records: listOf(sequencedCall),
    /** Without records: the source has none up to this sequence. */
    upTo: trailing(whole),
  }),
  /** Without rules the account has no breakers. */
  SetBreakerRules: kind(52, { rules: optional(breakerRules) }),
  ListBreakers: kind(53, { onlyStopped: flag }),
  /** Disables a destination, or closes its breaker and forgets its failures. */
  SetBreaker: kind(54, { url: text(), isDisabled: flag }),
};
export type QueueCommand = UnionOf<'type', typeof queueCommands>;

export type QueueCommandOf<Type extends QueueCommand['type']> = Extract<QueueCommand, { readonly type: Type }>;

/** Stored by index: add new ones at the end. */
const rejection = oneOf(
  /** 400 */
  'INVALID',
  /** 404 */
  'NOT_FOUND',
  /** 412: the account has as many of these as it may have. */
  'TOO_MANY',
  /** 403 */
  'SUSPENDED',
  /** 429 */
  'DAILY_LIMIT',
  'BUDGET',
  /**
   * 400. Among the refusals of a run, only this one has that status: its endpoint then drops the result of the step.
   */
  'RUN_OVER',
  /** The account holds as much as it may hold. */
  'FULL',
);
export type QueueRejection = TypeOf<typeof rejection>;

/** The account's use of its day; every answer to a publish carries it. */
const daily = record({
  /** 0: no limit. */
  limit: whole,
  remaining: whole,
  resetAtMs: whole,
  /** Above the soft limit, below the hard one. */
  isAboveSoft: flag,
});
export type DailyUse = TypeOf<typeof daily>;

const published = record({
  messageId,
  url: text(),
  isDuplicate: flag,
  /** The run that a trigger has started or found. */
  run: trailing(runName),
});
export type Published = TypeOf<typeof published>;

const group = tuple<[boolean, readonly Published[]]>(flag, listOf(published));

/** One message, or the list of a group's; a flag in front tells which. */
const result: Shape<Published | readonly Published[]> = {
  write: (out, value) => {
    const isGroup = Array.isArray(value);
    group.write(out, [isGroup, isGroup ? value : [value as Published]]);
  },
  read: (from) => {
    const [isGroup, messages] = group.read(from);
    return isGroup ? messages : (messages[0] as Published);
  },
};

/** A message without its body; the body is read by its number. */
const messageFields = {
  id: messageId,
  envelope,
  body: bodyRef,
  createdAtMs: whole,
  notBeforeMs: whole,
  status: messageStatus,
  retried: whole,
};
const messageView = record(messageFields);
export type MessageView = TypeOf<typeof messageView>;

const pendingView = record({
  ...messageFields,
  state: pendingState,
  /** The earliest start of its next attempt. */
  dueAtMs: whole,
});
export type PendingView = TypeOf<typeof pendingView>;

const queueView = record({
  ...queueFields,
  /** Messages that have not ended. */
  lag: whole,
});
export type QueueView = TypeOf<typeof queueView>;

const flowView = record({
  key: text(),
  waiting: whole,
  /** Undefined: no limit. */
  parallelism: optional(whole),
  active: whole,
  rate: optional(whole),
  started: whole,
  periodSeconds: whole,
  windowStartedAtMs: whole,
  isPaused: flag,
  isParallelismPinned: flag,
  isRatePinned: flag,
});
export type FlowView = TypeOf<typeof flowView>;

const breakerView = record(breakerViewFields);
export type BreakerView = TypeOf<typeof breakerView>;

export const queueReplies = {
  ...workflowReplies,
  ...applicationReplies,
  Rejected: kind(1, { reason: rejection, message: text(), daily: absent(daily) }),
  /** One result for each item of the command: a message, or the list of a group's. */
  Published: kind(2, { results: listOf(result), daily: optional(daily) }),
  Message: kind(3, { message: messageView, content }),
  Cancelled: kind(4, { count: whole }),
  Done: kind(5, {}),
  Queues: kind(6, { queues: listOf(queueView) }),
  Groups: kind(7, { groups: listOf(urlGroup) }),
  Schedules: kind(8, { schedules: listOf(record({ schedule, content })) }),
  ScheduleSet: kind(9, { id: scheduleId }),
  Dlq: kind(10, { entry: dlqEntry, content, response: content }),
  /** `after`: undefined at the end. */
  DlqDeleted: kind(11, { count: whole, after: optional(dlqId) }),
  DlqRetried: kind(12, { results: listOf(published), after: optional(dlqId) }),
  Flows: kind(13, { flows: listOf(flowView) }),
  GlobalParallelism: kind(14, { max: whole, active: whole }),
  Position: kind(15, { position: whole }),
  /**
   * `counts`: all messages that match, in any state, in the order of `PENDING_STATES`. `after`: undefined at the end.
   */
  Messages: kind(22, { messages: listOf(pendingView), counts: listOf(whole), after: optional(whole) }),
  /** The records up to this sequence are accepted. */
  OutboxTaken: kind(25, { sequence: whole }),
  Breakers: kind(26, { rules: optional(breakerRules), breakers: listOf(breakerView) }),
};
export type QueueReply = UnionOf<'type', typeof queueReplies>;

export type QueueReplyOf<Type extends QueueReply['type']> = Extract<QueueReply, { readonly type: Type }>;
