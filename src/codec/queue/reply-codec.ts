/** Answers of the owner of an account's queue ↔ bytes, for the bus between processes. Version first. */
import type {
  DailyUse,
  FlowView,
  MessageView,
  Published,
  QueueRejection,
  QueueReply,
  QueueView,
} from '../../domain/queue/index.js';
import { envelope } from './envelope-codec.js';
import { dlqEntry, schedule } from './event-codec.js';
import { Packer } from './packer.js';
import { bodyRef, dlqId, messageId, messageStatus, queueFields, scheduleId, urlGroup } from './queue-shapes.js';
import {
  absent,
  bytes,
  fields,
  flag,
  listOf,
  oneOf,
  optional,
  record,
  type Shape,
  text,
  trailing,
  tuple,
  union,
  whole,
} from './shapes.js';
import { packVersioned, unpackVersioned } from './versioned.js';
import { runName, workflowReplies } from './workflow-replies.js';

const VERSION = 1;

const rejection = oneOf<QueueRejection>(
  'INVALID',
  'NOT_FOUND',
  'TOO_MANY',
  'SUSPENDED',
  'DAILY_LIMIT',
  'BUDGET',
  'RUN_OVER',
  'FULL',
);

const daily = record<DailyUse>({ limit: whole, remaining: whole, resetAtMs: whole, isAboveSoft: flag });
const published = record<Published>({ messageId, url: text(), isDuplicate: flag, run: trailing(runName) });
const content = optional(bytes);

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

const messageView = record<MessageView>({
  id: messageId,
  envelope,
  body: bodyRef,
  createdAtMs: whole,
  notBeforeMs: whole,
  status: messageStatus,
  retried: whole,
});

const queueView = record<QueueView>({ ...queueFields, lag: whole });

const flowView = record<FlowView>({
  key: text(),
  waiting: whole,
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

const shape = union<QueueReply, 'type'>('type', {
  Rejected: [1, fields({ reason: rejection, message: text(), daily: absent(daily) })],
  Published: [2, fields({ results: listOf(result), daily: optional(daily) })],
  Message: [3, fields({ message: messageView, content })],
  Cancelled: [4, fields({ count: whole })],
  Done: [5, fields({})],
  Queues: [6, fields({ queues: listOf(queueView) })],
  Groups: [7, fields({ groups: listOf(urlGroup) })],
  Schedules: [8, fields({ schedules: listOf(record({ schedule, content })) })],
  ScheduleSet: [9, fields({ id: scheduleId })],
  Dlq: [10, fields({ entry: dlqEntry, content, response: content })],
  DlqDeleted: [11, fields({ count: whole, after: optional(dlqId) })],
  DlqRetried: [12, fields({ results: listOf(published), after: optional(dlqId) })],
  Flows: [13, fields({ flows: listOf(flowView) })],
  GlobalParallelism: [14, fields({ max: whole, active: whole })],
  Position: [15, fields({ position: whole })],
  ...workflowReplies,
});

const packer = new Packer();

export function encodeQueueReply(reply: QueueReply): Uint8Array {
  return packVersioned(packer, VERSION, shape, reply);
}

/** @throws INVALID */
export function decodeQueueReply(encoded: Uint8Array): QueueReply {
  return unpackVersioned(encoded, VERSION, shape, 'INVALID');
}
