/**
 * Codec of commands for a queue's owner, its replies, and publishes in the intake. The version comes first, so that
 * two releases do not misread each other.
 *
 * An unreadable command or reply is a peer's error (INVALID); an unreadable intake record is stored damage.
 */
import { outboxRecord, publishItems, queueCommands, queueReplies } from '../../domain/queue/index.js';
import type { AccountId } from '../../kernel/index.js';
import { behindVersion, bothWays, record, type TypeOf, text, union } from '../../kernel/schema/index.js';

const account = text<AccountId>();

const command = record({ account, command: union('type', queueCommands) });
export const [encodeQueueCommand, decodeQueueCommand] = bothWays(
  behindVersion(1, command),
  'a command for a queue',
  'INVALID',
);

const reply = union('type', queueReplies);
export const [encodeQueueReply, decodeQueueReply] = bothWays(
  behindVersion(1, reply),
  'the answer of a queue',
  'INVALID',
);

/** A record of a database's outbox. */
export const [encodeOutboxRecord, decodeOutboxRecord] = bothWays(
  behindVersion(1, outboxRecord),
  'a record of an outbox',
);

/** A publish that waits for an owner. */
const intakeRecord = record({ account, items: publishItems });
export type IntakeRecord = TypeOf<typeof intakeRecord>;
export const [encodeIntakeRecord, decodeIntakeRecord] = bothWays(
  behindVersion(1, intakeRecord),
  'a record of the intake',
);
