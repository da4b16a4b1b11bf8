/**
 * Commands for the owner of an account's queue, its answers, and publishes that wait for one ↔ bytes. Version first, so
 * that two releases side by side tell each other apart instead of misreading.
 *
 * A remote command or answer is a peer's word: what cannot be read is INVALID. An intake record is stored: damage.
 */
import { publishItems, type QueueReply, queueCommands, queueReplies } from '../../domain/queue/index.js';
import type { AccountId } from '../../kernel/index.js';
import { behindVersion, decoded, encoded, record, type TypeOf, text, union } from '../../kernel/schema/index.js';

const accountId = text<AccountId>();

const remoteCommand = record({ account: accountId, command: union('type', queueCommands) });
export type RemoteQueueCommand = TypeOf<typeof remoteCommand>;
const command = behindVersion(1, remoteCommand);

/** A publish that waits for an owner. */
const intakeRecord = record({ account: accountId, items: publishItems });
export type IntakeRecord = TypeOf<typeof intakeRecord>;
const intake = behindVersion(1, intakeRecord);

const reply = behindVersion(1, union('type', queueReplies));

export function encodeQueueCommand(remote: RemoteQueueCommand): Uint8Array {
  return encoded(command, remote);
}

/** @throws INVALID */
export function decodeQueueCommand(bytes: Uint8Array): RemoteQueueCommand {
  return decoded(command, bytes, 'a command for a queue', 'INVALID');
}

export function encodeIntakeRecord(record: IntakeRecord): Uint8Array {
  return encoded(intake, record);
}

/** @throws JOURNAL_DAMAGED */
export function decodeIntakeRecord(bytes: Uint8Array): IntakeRecord {
  return decoded(intake, bytes, 'a record of the intake');
}

export function encodeQueueReply(answer: QueueReply): Uint8Array {
  return encoded(reply, answer);
}

/** @throws INVALID */
export function decodeQueueReply(bytes: Uint8Array): QueueReply {
  return decoded(reply, bytes, 'the answer of a queue', 'INVALID');
}
