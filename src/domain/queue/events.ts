/**
 * What happened in an account's queue. An event that was written once is kept for ever: one that changes in
 * more than a new optional last field gets a new number. Events are absolute: whatever follows from limits, clocks or dice was decided before they were made.
 *
 * State that only grows old (delivered messages, deduplication, remembered ids) is forgotten by `evolve` from
 * the time of later events, so that every fold of one journal ends alike.
 *
 * The last group is found in snapshots only.
 */
import {
  bytes,
  flag,
  inline,
  kind,
  listOf,
  number,
  oneOf,
  optional,
  record,
  text,
  trailing,
  tuple,
  type UnionOf,
  whole,
} from '../../kernel/schema/index.js';
import {
  bodyRefFields,
  carriedBody,
  carriedBodyFields,
  dlqEntry,
  dlqId,
  endpoints,
  envelope,
  headerList,
  messageId,
  messageStatus,
  optionalText,
  queueFields,
  schedule,
  scheduleFields,
  scheduleId,
  urlGroup,
} from './records.js';
import { workflowEvents } from './runs/events.js';
import { runPart } from './runs/records.js';

const byId = { id: messageId, atMs: whole };

export const queueEvents = {
  ...workflowEvents,
  // ── messages ──
  MessageAccepted: kind(1, {
    id: messageId,
    atMs: whole,
    envelope,
    body: inline(carriedBodyFields),
    notBeforeMs: whole,
    /** Reserved by this acceptance, hashed; in force for `DEDUPLICATION_WINDOW_MS`. */
    deduplication: optionalText,
    /** The DLQ entry that it replaces; the entry leaves with a `DlqRetried` of the same turn. */
    retryOf: optional(dlqId),
    /** The message that holds a place in a queue until this callback has come to its end. */
    holdsPlaceOf: optional(messageId),
    /** It is there for a message of a workflow's run. */
    workflow: trailing(runPart),
  }),
  /** Journaled before the call is made. `retried`: retries made before this attempt. `restarts`: after crashes. */
  AttemptStarted: kind(2, { id: messageId, atMs: whole, retried: whole, restarts: whole }),
  MessageDelivered: kind(3, { id: messageId, atMs: whole, status: whole, durationMs: number }),
  /** And will be tried again at `nextAtMs`; undefined: the last one, a `MessageDeadLettered` or `MessageCancelled` follows. */
  AttemptFailed: kind(4, {
    id: messageId,
    atMs: whole,
    status: whole,
    durationMs: number,
    error: text(),
    header: headerList,
    /** At most `KEPT_RESPONSE_BYTES`. */
    response: bytes,
    nextAtMs: optional(whole),
  }),
  MessageDeadLettered: kind(5, {
    id: messageId,
    dlqId,
    atMs: whole,
    status: whole,
    error: text(),
    header: headerList,
    response: carriedBody,
  }),
  CancelRequested: kind(6, byId),
  MessageCancelled: kind(7, byId),
  // ── DLQ ──
  DlqDeleted: kind(8, { dlqIds: listOf(dlqId), atMs: whole }),
  /** Entries go by age, or by number when the DLQ is full. */
  DlqExpired: kind(9, { dlqIds: listOf(dlqId), atMs: whole }),
  DlqRetried: kind(10, { dlqId, as: messageId, atMs: whole }),
  // ── URL groups: absolute ──
  GroupSet: kind(11, { name: text(), endpoints, defaults: headerList, atMs: whole }),
  GroupDeleted: kind(12, { name: text(), atMs: whole }),
  // ── queues ──
  QueueSet: kind(13, { name: text(), parallelism: whole, isPaused: flag, atMs: whole }),
  /** Its waiting messages were cancelled before. */
  QueueDeleted: kind(14, { name: text(), atMs: whole }),
  // ── schedules ──
  ScheduleSet: kind(15, { schedule: record(scheduleFields), body: carriedBody, atMs: whole }),
  ScheduleDeleted: kind(16, { id: scheduleId, atMs: whole }),
  SchedulePaused: kind(17, { id: scheduleId, isPaused: flag, nextTickAtMs: whole, atMs: whole }),
  /** The `MessageAccepted` of its messages stand before it in the same entry. */
  ScheduleFired: kind(18, {
    id: scheduleId,
    tickAtMs: whole,
    messages: listOf(messageId),
    nextTickAtMs: whole,
    atMs: whole,
  }),
  ScheduleSkipped: kind(19, {
    id: scheduleId,
    tickAtMs: whole,
    nextTickAtMs: whole,
    reason: oneOf('late', 'paused', 'suspended', 'no-destination', 'full'),
    atMs: whole,
  }),
  // ── flow control; a key's limits follow from the messages that name it ──
  FlowPaused: kind(20, { key: text(), isPaused: flag, atMs: whole }),
  /** Undefined: that limit is not pinned by this. */
  FlowPinned: kind(21, {
    key: text(),
    parallelism: optional(whole),
    rate: optional(whole),
    periodSeconds: optional(whole),
    atMs: whole,
  }),
  FlowUnpinned: kind(22, { key: text(), parallelism: flag, rate: flag, atMs: whole }),
  /** A new window begins now; with `all` the count of active calls begins anew too. */
  FlowReset: kind(23, { key: text(), all: flag, atMs: whole }),
  // ── the account ──
  /** Everything up to this position of the intake is accepted. */
  IntakeTaken: kind(24, { position: whole, atMs: whole }),
  /** Once a day. */
  DailyLimitReached: kind(25, { limit: whole, messages: whole, atMs: whole }),
  // ── in snapshots only ──
  MessageRestored: kind(26, {
    id: messageId,
    envelope,
    body: inline(bodyRefFields),
    createdAtMs: whole,
    notBeforeMs: whole,
    dueAtMs: whole,
    status: messageStatus,
    retried: whole,
    restarts: whole,
    /** It is the instant of an attempt, or of the delivery. */
    sinceMs: whole,
    isCancelRequested: flag,
    order: whole,
    holdsPlaceOf: optional(messageId),
    workflow: trailing(runPart),
  }),
  DlqRestored: kind(27, { entry: dlqEntry }),
  GroupRestored: kind(28, { group: urlGroup }),
  QueueRestored: kind(29, {
    ...queueFields,
    /** Messages that hold a place, each with how many of its callbacks have not come to their end. */
    places: listOf(tuple(messageId, whole)),
  }),
  ScheduleRestored: kind(30, { schedule }),
  FlowRestored: kind(31, {
    key: text(),
    parallelism: optional(whole),
    rate: optional(whole),
    periodSeconds: whole,
    isPaused: flag,
    isParallelismPinned: flag,
    isRatePinned: flag,
    active: whole,
    started: whole,
    windowStartedAtMs: whole,
    usedAtMs: whole,
  }),
  DeduplicationRestored: kind(32, { entries: listOf(tuple(text(), messageId, whole)) }),
  /** Remembered ids, packed: see accepted-ids. */
  AcceptedIdsRestored: kind(33, { generation: whole, packed: bytes }),
  AccountRestored: kind(34, {
    nextBody: whole,
    nextOrder: whole,
    nextDlq: whole,
    intakePosition: whole,
    nowMs: whole,
    /** Days since the epoch, and months since year 0; with what was counted in each. */
    day: whole,
    messagesToday: whole,
    month: whole,
    messagesThisMonth: whole,
    isDailyLimitReached: flag,
  }),
};
export type QueueEvent = UnionOf<'type', typeof queueEvents>;

export type QueueEventOf<Type extends QueueEvent['type']> = Extract<QueueEvent, { readonly type: Type }>;
