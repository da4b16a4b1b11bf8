/**
 * Events of a queue account. A stored event is kept for ever: a change beyond a new optional last field takes a new
 * number. Events are absolute: limits, clocks and randomness were applied before an event was made.
 * Old state (delivered messages, deduplication, remembered ids) is forgotten in `evolve` by the time of later events,
 * so that every replay of a journal ends in the same state.
 * Events of the last group occur in snapshots only.
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
} from '../../../kernel/schema/index.js';
import { application, applicationEndpoint, eventType } from './application-records.js';
import {
  bodyRefFields,
  breaker,
  breakerRules,
  carriedBody,
  carriedBodyFields,
  dlqEntry,
  dlqId,
  endpoints,
  envelope,
  headerList,
  keptAnswer,
  messageId,
  messageStatus,
  optionalText,
  queueFields,
  schedule,
  scheduleFields,
  scheduleId,
  urlGroup,
} from './records.js';
import { runPart } from './run-records.js';
import { workflowEvents } from './workflow-events.js';

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
    /** The hashed id that this acceptance reserves for `DEDUPLICATION_WINDOW_MS`. */
    deduplication: optionalText,
    /** The DLQ entry that this message replaces; a `DlqRetried` in the same turn removes the entry. */
    retryOf: optional(dlqId),
    /** For a callback: the message that keeps its place in a queue until this callback has ended. */
    holdsPlaceOf: optional(messageId),
    /** Set for a message of a workflow run. */
    workflow: trailing(runPart),
  }),
  /**
   * Journaled before the call is made. `retried`: retries before this attempt. `restarts`: repetitions after crashes.
   */
  AttemptStarted: kind(2, { id: messageId, atMs: whole, retried: whole, restarts: whole }),
  MessageDelivered: kind(3, {
    id: messageId,
    atMs: whole,
    status: whole,
    durationMs: number,
    /** The beginning of the answer, as far as it is kept. */
    answer: trailing(keptAnswer),
  }),
  /**
   * The next attempt is at `nextAtMs`. Undefined: this was the last one, and `MessageDeadLettered` or
   * `MessageCancelled` follows.
   */
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
  /** Entries expire by age, or by count when the DLQ is full. */
  DlqExpired: kind(9, { dlqIds: listOf(dlqId), atMs: whole }),
  DlqRetried: kind(10, { dlqId, as: messageId, atMs: whole }),
  // ── URL groups: the event carries the whole group ──
  GroupSet: kind(11, { name: text(), endpoints, defaults: headerList, atMs: whole }),
  GroupDeleted: kind(12, { name: text(), atMs: whole }),
  // ── queues ──
  QueueSet: kind(13, { name: text(), parallelism: whole, isPaused: flag, atMs: whole }),
  /** The queue's waiting messages were cancelled before. */
  QueueDeleted: kind(14, { name: text(), atMs: whole }),
  // ── schedules ──
  ScheduleSet: kind(15, { schedule: record(scheduleFields), body: carriedBody, atMs: whole }),
  ScheduleDeleted: kind(16, { id: scheduleId, atMs: whole }),
  SchedulePaused: kind(17, { id: scheduleId, isPaused: flag, nextTickAtMs: whole, atMs: whole }),
  /** The `MessageAccepted` events of its messages come before it in the same entry. */
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
  // ── flow control; the limits of a key come from the messages that name it ──
  FlowPaused: kind(20, { key: text(), isPaused: flag, atMs: whole }),
  /** Undefined: this event does not pin that limit. */
  FlowPinned: kind(21, {
    key: text(),
    parallelism: optional(whole),
    rate: optional(whole),
    periodSeconds: optional(whole),
    atMs: whole,
  }),
  FlowUnpinned: kind(22, { key: text(), parallelism: flag, rate: flag, atMs: whole }),
  /** Starts a new window; with `all` the count of active calls becomes 0 too. */
  FlowReset: kind(23, { key: text(), all: flag, atMs: whole }),
  // ── the account ──
  /** All records of the intake up to this position are accepted. */
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
    /** The start of the attempt, or the time of the delivery. */
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
    /** Messages that hold a place, each with its number of callbacks that have not ended. */
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
    /** Days since the epoch and months since year 0, each with its count. */
    day: whole,
    messagesToday: whole,
    month: whole,
    messagesThisMonth: whole,
    isDailyLimitReached: flag,
  }),
  // ── outboxes of databases ──
  /** The records of this source, a partition of a database, are accepted up to this sequence. Also in snapshots. */
  OutboxTaken: kind(49, { source: text(), sequence: whole, atMs: whole }),
  // ── applications: each event carries the whole record. Also in snapshots ──
  ApplicationSet: kind(52, { application, atMs: whole }),
  /** With its endpoints. */
  ApplicationDeleted: kind(53, { id: text(), atMs: whole }),
  ApplicationEndpointSet: kind(54, { endpoint: applicationEndpoint, atMs: whole }),
  ApplicationEndpointDeleted: kind(55, { application: text(), id: text(), atMs: whole }),
  EventTypeSet: kind(56, { eventType, atMs: whole }),
  EventTypeDeleted: kind(57, { name: text(), atMs: whole }),
  // ── breakers of destinations; both also in snapshots ──
  /** Undefined: the account has no breakers, and forgets those it had. */
  BreakerRulesSet: kind(50, { rules: optional(breakerRules), atMs: whole }),
  /** The whole breaker; a closed one without failures is forgotten. */
  BreakerChanged: kind(51, { breaker, atMs: whole }),
};
export type QueueEvent = UnionOf<'type', typeof queueEvents>;

export type QueueEventOf<Type extends QueueEvent['type']> = Extract<QueueEvent, { readonly type: Type }>;
