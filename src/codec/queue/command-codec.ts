/**
 * Commands for the owner of an account's queue, and publishes that wait for one ↔ bytes. Version first, so that
 * two releases side by side tell each other apart instead of misreading.
 *
 * A remote command is a peer's word: what cannot be read is INVALID. An intake record is stored: damage.
 */
import {
  type AttemptOutcome,
  type MessageFilter,
  type MessageSelector,
  type NewSchedule,
  type PublishDestination,
  type PublishItem,
  QUEUE_COMMANDS,
  type QueueCommand,
} from '../../domain/queue/index.js';
import type { AccountId } from '../../kernel/index.js';
import { numbered } from '../numbered.js';
import { Packer } from './packer.js';
import {
  dlqId,
  dlqSelectorBy,
  endpoints,
  headerList,
  messageId,
  optionalText,
  rawSettings,
  scheduleId,
  settings,
  texts,
} from './queue-shapes.js';
import {
  absent,
  bytes,
  fields,
  flag,
  listOf,
  number,
  optional,
  record,
  type Shape,
  type ShapesByTag,
  text,
  trailing,
  union,
  whole,
} from './shapes.js';
import { packVersioned, unpackVersioned } from './versioned.js';
import { workflowCommands, workflowItem } from './workflow-commands.js';

const COMMAND_VERSION = 1;
const INTAKE_VERSION = 1;

const accountId = text<AccountId>();

const destination = union<PublishDestination, 'kind'>('kind', {
  url: [1, fields({ url: text(), settings })],
  group: [2, fields({ name: text(), raw: rawSettings })],
});

/** `content`, or an id in a record of its own. */
const deduplication: Shape<{ readonly id: string } | 'content'> = {
  write: (out, value) => {
    if (value === 'content') out.flag(true);
    else out.text(value.id);
  },
  read: (from) => (from.takesTrue() ? 'content' : { id: from.text() }),
};

const item = record<PublishItem>({
  id: messageId,
  destination,
  queueName: optionalText,
  body: bytes,
  notBeforeMs: optional(whole),
  deduplication: optional(deduplication),
  callerIp: text(),
  isAlias: flag,
  workflow: trailing(workflowItem),
});
const items = listOf(item);

const filter = record<MessageFilter>({
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
  fromMs: absent(number),
  toMs: absent(number),
  responseStatus: absent(listOf(whole)),
});

const messageSelector = union<MessageSelector, 'kind'>('kind', {
  ids: [1, fields({ messageIds: listOf(messageId) })],
  filter: [2, fields({ filter, count: optional(whole) })],
});

const dlqSelector = dlqSelectorBy(filter);

const newSchedule = record<NewSchedule>({
  id: scheduleId,
  cron: text(),
  destination,
  queueName: optionalText,
  body: bytes,
  callerIp: text(),
  isAlias: flag,
});

const outcome = union<AttemptOutcome, 'kind'>('kind', {
  response: [1, fields({ status: whole, header: headerList, body: bytes, isCut: flag, durationMs: number })],
  'no-response': [2, fields({ error: text(), durationMs: number })],
});

const nothing = fields({});
const byName = fields({ name: text() });
const byGroup = fields({ group: text() });
const byKey = fields({ key: text() });
const bySchedule = fields({ id: scheduleId });
const byMessage = fields({ id: messageId });

const shapes: ShapesByTag<QueueCommand, 'type'> = {
  Publish: fields({ items, isTold: flag }),
  GetMessage: byMessage,
  CancelMessage: byMessage,
  CancelMessages: fields({ selector: messageSelector }),
  SetQueue: fields({ name: text(), parallelism: whole, isPaused: flag }),
  PauseQueue: fields({ name: text(), isPaused: flag }),
  DeleteQueue: byName,
  GetQueue: byName,
  ListQueues: nothing,
  UpsertEndpoints: fields({ group: text(), endpoints }),
  RemoveEndpoints: fields({ group: text(), endpoints: listOf(record({ url: optionalText, name: optionalText })) }),
  SetGroupDefaults: fields({ group: text(), defaults: headerList }),
  DeleteGroup: byGroup,
  GetGroup: byGroup,
  ListGroups: nothing,
  SetSchedule: fields({ schedule: newSchedule }),
  PauseSchedule: fields({ id: scheduleId, isPaused: flag }),
  DeleteSchedule: bySchedule,
  GetSchedule: bySchedule,
  ListSchedules: nothing,
  GetDlq: fields({ dlqId }),
  DeleteDlq: fields({ selector: dlqSelector }),
  RetryDlq: fields({ selector: dlqSelector, firstId: messageId, overrides: rawSettings }),
  GetFlow: byKey,
  ListFlows: fields({ search: optionalText }),
  PauseFlow: fields({ key: text(), isPaused: flag }),
  PinFlow: fields({
    key: text(),
    parallelism: optional(whole),
    rate: optional(whole),
    periodSeconds: optional(whole),
  }),
  UnpinFlow: fields({ key: text(), parallelism: flag, rate: flag }),
  ResetFlow: fields({ key: text(), all: flag }),
  GetGlobalParallelism: nothing,
  GetPosition: nothing,
  RecordAttempt: fields({ id: messageId, retried: whole, restarts: whole, outcome, sentBody: optional(bytes) }),
  TakeIntake: fields({ records: listOf(record({ position: whole, items })) }),
  ...workflowCommands,
};

const command = union<QueueCommand, 'type'>('type', numbered(shapes, QUEUE_COMMANDS));

export interface RemoteQueueCommand {
  readonly account: AccountId;
  readonly command: QueueCommand;
}

/** A publish that waits for an owner. */
export interface IntakeRecord {
  readonly account: AccountId;
  readonly items: readonly PublishItem[];
}

const remoteCommand = record<RemoteQueueCommand>({ account: accountId, command });
const intakeRecord = record<IntakeRecord>({ account: accountId, items });

const packer = new Packer();

export function encodeQueueCommand(remote: RemoteQueueCommand): Uint8Array {
  return packVersioned(packer, COMMAND_VERSION, remoteCommand, remote);
}

/** @throws INVALID */
export function decodeQueueCommand(encoded: Uint8Array): RemoteQueueCommand {
  return unpackVersioned(encoded, COMMAND_VERSION, remoteCommand, 'INVALID');
}

export function encodeIntakeRecord(intake: IntakeRecord): Uint8Array {
  return packVersioned(packer, INTAKE_VERSION, intakeRecord, intake);
}

/** @throws JOURNAL_DAMAGED */
export function decodeIntakeRecord(encoded: Uint8Array): IntakeRecord {
  return unpackVersioned(encoded, INTAKE_VERSION, intakeRecord, 'JOURNAL_DAMAGED');
}
