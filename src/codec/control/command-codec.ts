/**
 * Commands for the control actor, its answers, and notices of what was applied ↔ bytes, for the bus between processes.
 * Version first, so that two releases side by side tell each other apart instead of misreading.
 *
 * Nothing of this is in the journal: what cannot be read is a peer's mistake, not damage.
 */
import { controlCommands, controlReplies } from '../../domain/control/index.js';
import { bothWays, decoded, encoded, union, versioned } from '../../kernel/schema/index.js';
import { type ControlApplied, controlApplied } from '../../messages/index.js';

const command = versioned(1, union('type', controlCommands));
export const [encodeControlCommand, decodeControlCommand] = bothWays(command, 'a control command', 'INVALID');

const reply = versioned(1, union('type', controlReplies));
export const [encodeControlReply, decodeControlReply] = bothWays(reply, 'a control reply', 'INVALID');

const applied = versioned(1, controlApplied);

/** How far a process's copy of the control state is, said to everyone. */
export function encodeControlApplied(notice: ControlApplied): Uint8Array {
  return encoded(applied, notice);
}

/** Undefined for what another release may say: a notice is never worth an error. */
export function decodeControlApplied(bytes: Uint8Array): ControlApplied | undefined {
  try {
    return decoded(applied, bytes, 'a notice');
  } catch {
    return undefined;
  }
}
