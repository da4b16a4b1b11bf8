/**
 * Queue events ↔ bytes. A section's effects, and a snapshot's segments, are events one behind the other, each a
 * MessagePack list: the number of its type, then its fields. A type that changes in more than a new optional
 * last field gets a new number, and the old one is still read here. Old bytes decode for ever
 * (test/fixtures/journals/queue-events.json).
 */
import type { DlqEntry, QueueEvent, Schedule } from '../../domain/queue/index.js';
import { isMillraceError, MillraceError } from '../../kernel/index.js';
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
import { bytes, fields, flag, listOf, oneOf, optional, record, text, tuple, union, whole } from './shapes.js';
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

const shape = union<QueueEvent, 'type'>('type', {
  MessageAccepted: [1, messageAccepted],
  AttemptStarted: [2, attemptStarted],
  MessageDelivered: [3, messageDelivered],
  AttemptFailed: [4, attemptFailed],
  MessageDeadLettered: [
    5,
    fields({
      id: messageId,
      dlqId,
      atMs: whole,
      status: whole,
      error: text(),
      header: headerList,
      response: carriedBody,
    }),
  ],
  CancelRequested: [6, fields(byId)],
  MessageCancelled: [7, fields(byId)],
  DlqDeleted: [8, fields({ dlqIds: listOf(dlqId), atMs: whole })],
  DlqExpired: [9, fields({ dlqIds: listOf(dlqId), atMs: whole })],
  DlqRetried: [10, fields({ dlqId, as: messageId, atMs: whole })],
  GroupSet: [11, fields({ name: text(), endpoints, defaults: headerList, atMs: whole })],
  GroupDeleted: [12, fields({ name: text(), atMs: whole })],
  QueueSet: [13, fields({ name: text(), parallelism: whole, isPaused: flag, atMs: whole })],
  QueueDeleted: [14, fields({ name: text(), atMs: whole })],
  ScheduleSet: [15, fields({ schedule: record(scheduleFields), body: carriedBody, atMs: whole })],
  ScheduleDeleted: [16, fields({ id: scheduleId, atMs: whole })],
  SchedulePaused: [17, fields({ id: scheduleId, isPaused: flag, nextTickAtMs: whole, atMs: whole })],
  ScheduleFired: [
    18,
    fields({ id: scheduleId, tickAtMs: whole, messages: listOf(messageId), nextTickAtMs: whole, atMs: whole }),
  ],
  ScheduleSkipped: [
    19,
    fields({
      id: scheduleId,
      tickAtMs: whole,
      nextTickAtMs: whole,
      reason: oneOf('late', 'paused', 'suspended', 'no-destination', 'full'),
      atMs: whole,
    }),
  ],
  FlowPaused: [20, fields({ key: text(), isPaused: flag, atMs: whole })],
  FlowPinned: [
    21,
    fields({
      key: text(),
      parallelism: optional(whole),
      rate: optional(whole),
      periodSeconds: optional(whole),
      atMs: whole,
    }),
  ],
  FlowUnpinned: [22, fields({ key: text(), parallelism: flag, rate: flag, atMs: whole })],
  FlowReset: [23, fields({ key: text(), all: flag, atMs: whole })],
  IntakeTaken: [24, fields({ position: whole, atMs: whole })],
  DailyLimitReached: [25, fields({ limit: whole, messages: whole, atMs: whole })],
  MessageRestored: [26, messageRestored],
  DlqRestored: [27, fields({ entry: dlqEntry })],
  GroupRestored: [28, fields({ group: urlGroup })],
  QueueRestored: [29, fields({ ...queueFields, places: listOf(tuple(messageId, whole)) })],
  ScheduleRestored: [30, fields({ schedule })],
  FlowRestored: [
    31,
    fields({
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
  ],
  DeduplicationRestored: [32, fields({ entries: listOf(tuple(text(), messageId, whole)) })],
  AcceptedIdsRestored: [33, fields({ generation: whole, packed: bytes })],
  AccountRestored: [
    34,
    fields({
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
  ],
  ...workflowEvents,
});

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
