/**
 * Codec of commands for the control actor, its replies, and notices of applied positions, for the bus between
 * processes. The version comes first, so that two releases do not misread each other.
 *
 * These bytes are not journaled: unreadable ones are a peer's error (INVALID), not damage.
 */
import { controlCommands, controlReplies } from '../../domain/control/index.js';
import { bothWays, decoded, encoded, union, versioned } from '../../kernel/schema/index.js';
import { type ControlApplied, controlApplied } from '../../protocol/index.js';

const command = versioned(1, union('type', controlCommands));
export const [encodeControlCommand, decodeControlCommand] = bothWays(command, 'a control command', 'INVALID');

const reply = versioned(1, union('type', controlReplies));
export const [encodeControlReply, decodeControlReply] = bothWays(reply, 'a control reply', 'INVALID');

const applied = versioned(1, controlApplied);

/** The position of a process's copy of the control state, sent to all processes. */
export function encodeControlApplied(notice: ControlApplied): Uint8Array {
  return encoded(applied, notice);
}

/** Undefined for an unknown form: a notice from another release is ignored without an error. */
export function decodeControlApplied(bytes: Uint8Array): ControlApplied | undefined {
  try {
    return decoded(applied, bytes, 'a notice');
  } catch {
    return undefined;
  }
}
