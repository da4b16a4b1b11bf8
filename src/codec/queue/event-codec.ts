/**
 * Queue events ↔ bytes. A section's effects, and a snapshot's segments, are events one behind the other, each a
 * MessagePack list: the number of its type, then its fields. A type that changes in more than a new optional
 * last field gets a new number, and the old one is still read here. Old bytes decode for ever
 * (test/fixtures/journals/queue-events.json).
 */
import { type DlqEntry, QUEUE_EVENTS, type QueueEvent, type Schedule } from '../../domain/queue/index.js';
import { isMillraceError, MillraceError } from '../../kernel/index.js';
import { numbered } from '../numbered.js';
import { envelope } from './envelope-codec.js';
import { attemptFailed, attemptStarted, messageAccepted, messageDelivered, messageRestored } from './hot-events.js';
import { Packer } from './packer.js';
import {
  bodyRef,
  carriedBody,
  dlqId,
  endpoints,
  headerList,
  lastResponse,
  messageId,
  outcomes,
  queueFields,
  scheduleFields,
  scheduleId,
  urlGroup,
} from './queue-shapes.js';
import {
  bytes,
  fields,
  flag,
  listOf,
  oneOf,
  optional,
  record,
  type ShapesByTag,
  text,
  tuple,
  union,
  whole,
} from './shapes.js';
import { Unpacker } from './unpacker.js';
import { workflowEvents } from './workflow-events.js';

const byId = { id: messageId, atMs: whole };

export const dlqEntry = record<DlqEntry>({
  dlqId,
  messageId,
  envelope,
  body: bodyRef,
  createdAtMs: whole,
  notBeforeMs: whole,
  failedAtMs: whole,
  retried: whole,
  response: lastResponse,
});

export const schedule = record<Schedule>({
  ...scheduleFields,
  body: bodyRef,
  lastTickAtMs: whole,
  lastOutcomes: outcomes,
});

const shapes: ShapesByTag<QueueEvent, 'type'> = {
  MessageAccepted: messageAccepted,
  AttemptStarted: attemptStarted,
  MessageDelivered: messageDelivered,
  AttemptFailed: attemptFailed,
  MessageDeadLettered: fields({
    id: messageId,
    dlqId,
    atMs: whole,
    status: whole,
    error: text(),
    header: headerList,
    response: carriedBody,
  }),
  CancelRequested: fields(byId),
  MessageCancelled: fields(byId),
  DlqDeleted: fields({ dlqIds: listOf(dlqId), atMs: whole }),
  DlqExpired: fields({ dlqIds: listOf(dlqId), atMs: whole }),
  DlqRetried: fields({ dlqId, as: messageId, atMs: whole }),
  GroupSet: fields({ name: text(), endpoints, defaults: headerList, atMs: whole }),
  GroupDeleted: fields({ name: text(), atMs: whole }),
  QueueSet: fields({ name: text(), parallelism: whole, isPaused: flag, atMs: whole }),
  QueueDeleted: fields({ name: text(), atMs: whole }),
  ScheduleSet: fields({ schedule: record(scheduleFields), body: carriedBody, atMs: whole }),
  ScheduleDeleted: fields({ id: scheduleId, atMs: whole }),
  SchedulePaused: fields({ id: scheduleId, isPaused: flag, nextTickAtMs: whole, atMs: whole }),
  ScheduleFired: fields({
    id: scheduleId,
    tickAtMs: whole,
    messages: listOf(messageId),
    nextTickAtMs: whole,
    atMs: whole,
  }),
  ScheduleSkipped: fields({
    id: scheduleId,
    tickAtMs: whole,
    nextTickAtMs: whole,
    reason: oneOf('late', 'paused', 'suspended', 'no-destination', 'full'),
    atMs: whole,
  }),
  FlowPaused: fields({ key: text(), isPaused: flag, atMs: whole }),
  FlowPinned: fields({
    key: text(),
    parallelism: optional(whole),
    rate: optional(whole),
    periodSeconds: optional(whole),
    atMs: whole,
  }),
  FlowUnpinned: fields({ key: text(), parallelism: flag, rate: flag, atMs: whole }),
  FlowReset: fields({ key: text(), all: flag, atMs: whole }),
  IntakeTaken: fields({ position: whole, atMs: whole }),
  DailyLimitReached: fields({ limit: whole, messages: whole, atMs: whole }),
  MessageRestored: messageRestored,
  DlqRestored: fields({ entry: dlqEntry }),
  GroupRestored: fields({ group: urlGroup }),
  QueueRestored: fields({ ...queueFields, places: listOf(tuple(messageId, whole)) }),
  ScheduleRestored: fields({ schedule }),
  FlowRestored: fields({
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
  DeduplicationRestored: fields({ entries: listOf(tuple(text(), messageId, whole)) }),
  AcceptedIdsRestored: fields({ generation: whole, packed: bytes }),
  AccountRestored: fields({
    nextBody: whole,
    nextOrder: whole,
    nextDlq: whole,
    intakePosition: whole,
    nowMs: whole,
    day: whole,
    messagesToday: whole,
    month: whole,
    messagesThisMonth: whole,
    isDailyLimitReached: flag,
  }),
  ...workflowEvents,
};

const shape = union<QueueEvent, 'type'>('type', numbered(shapes, QUEUE_EVENTS));

const packer = new Packer();

export function encodeQueueEvent(event: QueueEvent): Uint8Array {
  return packer.pack((out) => shape.write(out, event));
}

/** Every event of a section or segment, in order; one at a time. @throws JOURNAL_DAMAGED for what is not known here */
export function* decodeQueueEvents(effects: Uint8Array): Iterable<QueueEvent> {
  const from = new Unpacker(effects);
  while (!from.isAtEnd) yield nextEvent(from);
}

/** Records nested deeper than the stack end as damage too. */
function nextEvent(from: Unpacker): QueueEvent {
  try {
    return shape.read(from);
  } catch (cause) {
    if (isMillraceError(cause)) throw cause;
    throw new MillraceError('JOURNAL_DAMAGED', 'a queue event cannot be read', {}, cause);
  }
}
