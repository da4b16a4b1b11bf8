/**
 * Commands for the owner of an account's queue, its answers, and publishes that wait for one ↔ bytes. Version first, so
 * that two releases side by side tell each other apart instead of misreading.
 *
 * A remote command or answer is a peer's word: what cannot be read is INVALID. An intake record is stored: damage.
 */
import { publishItems, queueCommands, queueReplies } from '../../domain/queue/index.js';
import type { AccountId } from '../../kernel/index.js';
import { behindVersion, bothWays, record, type TypeOf, text, union } from '../../kernel/schema/index.js';

const account = text<AccountId>();

const command = record({ account, command: union('type', queueCommands) });
export type RemoteQueueCommand = TypeOf<typeof command>;
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

/** A publish that waits for an owner. */
const intakeRecord = record({ account, items: publishItems });
export type IntakeRecord = TypeOf<typeof intakeRecord>;
export const [encodeIntakeRecord, decodeIntakeRecord] = bothWays(
  behindVersion(1, intakeRecord),
  'a record of the intake',
);
