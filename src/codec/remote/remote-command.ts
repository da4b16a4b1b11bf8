/**
 * A command to the owner of a shard in another process, and its answer ↔ bytes. What is asked and answered
 * is bytes of the plane's own (kv-remote.ts, codec/control); this is the part that all planes share.
 *
 *   request  [1, commandId, isRetry, body]
 *   answer   [1, true, body] | [1, false, code, message, details]
 */
import { decode, encode } from '@msgpack/msgpack';
import { type CommandId, ERROR_CODES, type ErrorCode, MillraceError } from '../../kernel/index.js';

const VERSION = 1;

export interface RemoteCommand {
  /** Made by the caller; the same for every try. */
  readonly commandId: CommandId;
  /** True when an earlier try may have been received. */
  readonly isRetry: boolean;
  readonly body: Uint8Array;
}

export function encodeRemoteCommand({ commandId, isRetry, body }: RemoteCommand): Uint8Array {
  return encode([VERSION, commandId, isRetry, body]);
}

/** @throws INVALID */
export function decodeRemoteCommand(bytes: Uint8Array): RemoteCommand {
  const [, commandId, isRetry, body] = fieldsOf(bytes);
  return { commandId: commandId as CommandId, isRetry: isRetry as boolean, body: body as Uint8Array };
}

export function encodeAnswer(body: Uint8Array): Uint8Array {
  return encode([VERSION, true, body]);
}

export function encodeFailure({ code, message, details }: MillraceError): Uint8Array {
  return encode([VERSION, false, code, message, plain(details)]);
}

/** The body of the answer. @throws the failure that was answered */
export function decodeAnswer(bytes: Uint8Array): Uint8Array {
  const [, isAnswer, body, message, details] = fieldsOf(bytes);
  if (isAnswer === true) return body as Uint8Array;
  const code = (body as string) in ERROR_CODES ? (body as ErrorCode) : 'DEFECT';
  throw new MillraceError(code, message as string, details as Record<string, unknown>);
}

function fieldsOf(bytes: Uint8Array): unknown[] {
  const fields = decode(bytes);
  if (Array.isArray(fields) && fields[0] === VERSION) return fields;
  throw new MillraceError('INVALID', 'a command from another process is of a version that is not known');
}

/** Details may hold anything; only what MessagePack holds travels. */
function plain(details: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const kept = Object.entries(details).filter(([, value]) => ['string', 'number', 'boolean'].includes(typeof value));
  return Object.fromEntries(kept);
}
