/**
 * What can be asked of an account's queue, and what it answers. Ids are made by whoever asks: the same command
 * asked twice has one effect. Everything in a command has been validated for its form (publish-settings); the owner
 * judges what depends on state: groups, limits that count, deduplication, flow control.
 */
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
} from '../../kernel/schema/index.js';
import { dlqSelectorBy } from './dead-letters/dlq-selector.js';
import {
  bodyRef,
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
import { runName, workflowCommands, workflowItem, workflowReplies } from './runs/commands.js';

const destination = union('kind', {
  /** `settings` were parsed where the call came in. */
  url: kind(1, { url: text(), settings }),
  group: kind(2, { name: text(), raw: rawSettings }),
});
export type PublishDestination = TypeOf<typeof destination>;

/** `content`, or an id in a record of its own. */
const deduplication: Shape<{ readonly id: string } | 'content'> = {
  write: (out, value) => {
    if (value === 'content') out.flag(true);
    else out.text(value.id);
  },
  read: (from) => (from.takesTrue() ? 'content' : { id: from.text() }),
};

const item = record({
  /** Among a group's messages it is the first endpoint's; those of the others follow from it (`messageIdAt`). */
  id: messageId,
  destination,
  queueName: optionalText,
  body: bytes,
  /** Absolute, when the call named an instant; else it follows from the settings' delay. */
  notBeforeMs: optional(whole),
  /** It is what was sent, or the word that asks for one made of the content. */
  deduplication: optional(deduplication),
  callerIp: text(),
  isAlias: flag,
  /** It is there for a message of a workflow's run; its destination is a URL, and it is in no queue. */
  workflow: trailing(workflowItem),
});
export type PublishItem = TypeOf<typeof item>;
export const publishItems = listOf(item);

/** Different filters are and-ed, values within one are or-ed. Empty: everything. */
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
  /** It is the instant of creation, or of failure for the DLQ; inclusive. */
  fromMs: absent(number),
  toMs: absent(number),
  /** DLQ only. */
  responseStatus: absent(listOf(whole)),
});
export type MessageFilter = TypeOf<typeof filter>;

const dlqSelector = dlqSelectorBy(filter);
export type DlqSelector = TypeOf<typeof dlqSelector>;

const messageSelector = union('kind', {
  ids: kind(1, { messageIds: listOf(messageId) }),
  /** `count` undefined: all of them. */
  filter: kind(2, { filter, count: optional(whole) }),
});
export type MessageSelector = TypeOf<typeof messageSelector>;

/** A message that is neither delivered nor failed: not yet due; due, and kept back; at its destination; between attempts. */
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

/** What an attempt came to. */
const outcome = union('kind', {
  response: kind(1, {
    status: whole,
    header: headerList,
    /** Up to the account's largest message. */
    body: bytes,
    isCut: flag,
    durationMs: number,
  }),
  'no-response': kind(2, { error: text(), durationMs: number }),
});
export type AttemptOutcome = TypeOf<typeof outcome>;

/** A record of the intake. */
const toldRecord = record({ position: whole, items: publishItems });
export type ToldRecord = TypeOf<typeof toldRecord>;

export const queueCommands = {
  ...workflowCommands,
  /** All items: publishItems, or none. `isTold`: was acknowledged from the intake; no limit refuses it any more. */
  Publish: kind(1, { items: publishItems, isTold: flag }),
  GetMessage: kind(2, { id: messageId }),
  CancelMessage: kind(3, { id: messageId }),
  /** Runs in slices; not atomic. */
  CancelMessages: kind(4, { selector: messageSelector }),
  SetQueue: kind(5, { name: text(), parallelism: whole, isPaused: flag }),
  PauseQueue: kind(6, { name: text(), isPaused: flag }),
  DeleteQueue: kind(7, { name: text() }),
  GetQueue: kind(8, { name: text() }),
  ListQueues: kind(9, {}),
  UpsertEndpoints: kind(10, { group: text(), endpoints }),
  /** A row with a name and no url removes by name, and so on; at least one of the two. */
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
  /** Runs in slices where it filters. */
  DeleteDlq: kind(22, { selector: dlqSelector }),
  /** New ids follow from `firstId`. `overrides`: configuration headers of the call, over those of the entry. */
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
  /** Where the journal of the account stands: a read model that has seen it has seen everything before. */
  GetPosition: kind(31, {}),
  // ── from the actor itself ──
  /** `sentBody`: what was sent, for the callbacks; undefined when there are none. */
  RecordAttempt: kind(32, { id: messageId, retried: whole, restarts: whole, outcome, sentBody: optional(bytes) }),
  TakeIntake: kind(33, { records: listOf(toldRecord) }),
  /**
   * A page of those that match, in the order of their acceptance. `states` empty: any. `after`: the page begins behind
   * that order.
   */
  ListMessages: kind(46, {
    filter,
    states: listOf(pendingState),
    order: oneOf('earliestFirst', 'latestFirst'),
    count: whole,
    after: optional(whole),
  }),
};
export type QueueCommand = UnionOf<'type', typeof queueCommands>;

export type QueueCommandOf<Type extends QueueCommand['type']> = Extract<QueueCommand, { readonly type: Type }>;

/** They are written by their places: new ones come last. */
const rejection = oneOf(
  /** 400 */
  'INVALID',
  /** 404 */
  'NOT_FOUND',
  /** 412: a number of things the account may have. */
  'TOO_MANY',
  /** 403 */
  'SUSPENDED',
  /** 429 */
  'DAILY_LIMIT',
  'BUDGET',
  /** 400, and nothing else of a run's is: its endpoint drops what it has done. */
  'RUN_OVER',
  /** What the account holds already is as much as it may. */
  'FULL',
);
export type QueueRejection = TypeOf<typeof rejection>;

/** What the account has used of its day; every publish is told. */
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
  /** That a trigger has started, or found. */
  run: trailing(runName),
});
export type Published = TypeOf<typeof published>;

const group = tuple<[boolean, readonly Published[]]>(flag, listOf(published));

/** One message, or the list of a group's: told apart by a word in front. */
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

/** A message as it is shown; its body is fetched by number. */
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
  /** When its next attempt may begin. */
  dueAtMs: whole,
});
export type PendingView = TypeOf<typeof pendingView>;

const queueView = record({
  ...queueFields,
  /** Messages not yet delivered or failed. */
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

export const queueReplies = {
  ...workflowReplies,
  Rejected: kind(1, { reason: rejection, message: text(), daily: absent(daily) }),
  /** One item for each of the command's: a message, or a list for a group. */
  Published: kind(2, { results: listOf(result), daily: optional(daily) }),
  Message: kind(3, { message: messageView, content }),
  Cancelled: kind(4, { count: whole }),
  Done: kind(5, {}),
  Queues: kind(6, { queues: listOf(queueView) }),
  Groups: kind(7, { groups: listOf(urlGroup) }),
  Schedules: kind(8, { schedules: listOf(record({ schedule, content })) }),
  ScheduleSet: kind(9, { id: scheduleId }),
  Dlq: kind(10, { entry: dlqEntry, content, response: content }),
  /** `after`: undefined when there is nothing more. */
  DlqDeleted: kind(11, { count: whole, after: optional(dlqId) }),
  DlqRetried: kind(12, { results: listOf(published), after: optional(dlqId) }),
  Flows: kind(13, { flows: listOf(flowView) }),
  GlobalParallelism: kind(14, { max: whole, active: whole }),
  Position: kind(15, { position: whole }),
  /** `counts`: of all that match, whatever their state, in the order of `PENDING_STATES`. `after`: undefined at the end. */
  Messages: kind(22, { messages: listOf(pendingView), counts: listOf(whole), after: optional(whole) }),
};
export type QueueReply = UnionOf<'type', typeof queueReplies>;

export type QueueReplyOf<Type extends QueueReply['type']> = Extract<QueueReply, { readonly type: Type }>;
