/**
 * A command to the owner of a shard in another process, and its answer ↔ bytes. What is asked and answered
 * is bytes of the plane's own (kv-remote.ts, codec/control); this is the part that all planes share.
 *
 *   request  [1, commandId, isRetry, body]                      has no deadline: it only reads
 *            [1, commandId, isRetry, body, what, epoch, atMs]   what: 0 command, 1 settle, 2 greet
 *   answer   [1, true, body, epoch, atMs] | [1, false, code, message, details, epoch, atMs]
 *
 * `epoch` says which activation of the shard is meant, or has answered, `atMs` is on its monotonic clock. An earlier
 * version does not know what stands behind `body` and `details`, and leaves it out.
 */
import { decode, encode } from '@msgpack/msgpack';
import { type CommandId, ERROR_CODES, type ErrorCode, MillraceError } from '../../kernel/index.js';

const VERSION = 1;

/** An instant on the clock of one activation of a shard; nobody else's clock means anything there. */
export interface OwnerInstant {
  readonly epoch: number;
  /** Milliseconds, monotonic. */
  readonly atMs: number;
}

/**
 * command: to be executed · settle: what became of it? if nothing yet, nothing will · greet: who owns the shard, and
 * what does its clock say?
 */
export type RemoteAsk = 'command' | 'settle' | 'greet';

const ASKS: readonly RemoteAsk[] = ['command', 'settle', 'greet'];

export interface RemoteCommand {
  /** Made by the caller; the same for every try. */
  readonly commandId: CommandId;
  /** True when an earlier try may have been received. */
  readonly isRetry: boolean;
  readonly body: Uint8Array;
  readonly ask: RemoteAsk;
  /** To be begun by this activation and not after this; undefined: by any, at any time. */
  readonly before: OwnerInstant | undefined;
}

export interface RemoteAnswer {
  /** Of the owner that answered, when it sent this; undefined: it is of an earlier version. */
  readonly from: OwnerInstant | undefined;
  readonly result: Uint8Array | MillraceError;
}

export function encodeRemoteCommand({ commandId, isRetry, body, ask, before }: RemoteCommand): Uint8Array {
  if (ask === 'command' && before === undefined) return encode([VERSION, commandId, isRetry, body]);
  return encode([VERSION, commandId, isRetry, body, ASKS.indexOf(ask), before?.epoch ?? null, before?.atMs ?? null]);
}

/** @throws INVALID */
export function decodeRemoteCommand(bytes: Uint8Array): RemoteCommand {
  const [, commandId, isRetry, body, what = 0, epoch, atMs] = fieldsOf(bytes);
  const ask = ASKS[what as number];
  if (ask === undefined) throw new MillraceError('INVALID', 'another process asks what is not known here');
  return {
    commandId: commandId as CommandId,
    isRetry: isRetry as boolean,
    body: body as Uint8Array,
    ask,
    before: instantOf(epoch, atMs),
  };
}

export function encodeAnswer(body: Uint8Array, { epoch, atMs }: OwnerInstant): Uint8Array {
  return encode([VERSION, true, body, epoch, atMs]);
}

export function encodeFailure({ code, message, details }: MillraceError, { epoch, atMs }: OwnerInstant): Uint8Array {
  return encode([VERSION, false, code, message, plain(details), epoch, atMs]);
}

/** @throws INVALID */
export function decodeAnswer(bytes: Uint8Array): RemoteAnswer {
  const fields = fieldsOf(bytes);
  if (fields[1] === true) return { from: instantOf(fields[3], fields[4]), result: fields[2] as Uint8Array };
  const [, , name, message, details, epoch, atMs] = fields;
  const code = (name as string) in ERROR_CODES ? (name as ErrorCode) : 'DEFECT';
  const failure = new MillraceError(code, message as string, details as Record<string, unknown>);
  return { from: instantOf(epoch, atMs), result: failure };
}

function instantOf(epoch: unknown, atMs: unknown): OwnerInstant | undefined {
  return typeof epoch === 'number' && typeof atMs === 'number' ? { epoch, atMs } : undefined;
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
