/** How far a process's copy of the control state is, said to everyone: `[1, session, position]` in MessagePack. */
import { decode, encode } from '@msgpack/msgpack';
import type { SessionId } from '../../kernel/index.js';
import type { ControlApplied } from '../../messages/index.js';

const VERSION = 1;

export function encodeControlApplied({ session, position }: ControlApplied): Uint8Array {
  return encode([VERSION, session, position]);
}

/** Undefined for what another release may say: a notice is never worth an error. */
export function decodeControlApplied(bytes: Uint8Array): ControlApplied | undefined {
  let raw: unknown;
  try {
    raw = decode(bytes);
  } catch {
    return undefined;
  }
  if (!Array.isArray(raw) || raw[0] !== VERSION) return undefined;
  const [, session, position] = raw as unknown[];
  if (typeof session !== 'string' || !Number.isSafeInteger(position)) return undefined;
  return { session: session as SessionId, position: position as number };
}
