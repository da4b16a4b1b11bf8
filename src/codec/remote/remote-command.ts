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
import { type CommandId, ERROR_CODES, type ErrorCode, MillraceError } from '../../kernel/index.js';
import {
  absent,
  bothWays,
  bytes,
  either,
  flag,
  integer,
  looseNumber,
  looseText,
  nullable,
  oneOf,
  opaque,
  openFields,
  type TypeOf,
  text,
  versioned,
} from '../../kernel/schema/index.js';

/** An instant on the clock of one activation of a shard; nobody else's clock means anything there. */
export interface OwnerInstant {
  readonly epoch: number;
  /** Milliseconds, monotonic. */
  readonly atMs: number;
}

const instant = { epoch: absent(nullable(integer)), atMs: absent(nullable(looseNumber)) };

/**
 * command: to be executed · settle: what became of it? if nothing yet, nothing will · greet: who owns the shard, and
 * what does its clock say?
 */
const remoteAsk = oneOf('command', 'settle', 'greet');
export type RemoteAsk = TypeOf<typeof remoteAsk>;

const request = {
  /** Made by the caller; the same for every try. */
  commandId: text<CommandId>(),
  /** True when an earlier try may have been received. */
  isRetry: flag,
  body: bytes,
};
const plainRequest = openFields(request);
const fullRequest = openFields({ ...request, ask: absent(remoteAsk), ...instant });

export interface RemoteCommand extends TypeOf<typeof plainRequest> {
  readonly ask: RemoteAsk;
  /** It is to be begun by this activation and not after this; undefined: by any, at any time. */
  readonly before: OwnerInstant | undefined;
}

type PlainDetails = Record<string, string | number | boolean>;

export interface RemoteAnswer {
  /** It is the instant of the owner that answered, when it sent this; undefined: it is of an earlier version. */
  readonly from: OwnerInstant | undefined;
  readonly result: Uint8Array | MillraceError;
}

const [encodeRequest] = bothWays(versioned(1, plainRequest), 'a command from another process');
const [encodeFullRequest, decodeRequest] = bothWays(
  versioned(1, fullRequest),
  'a command from another process',
  'INVALID',
);

export function encodeRemoteCommand({ commandId, isRetry, body, ask, before }: RemoteCommand): Uint8Array {
  if (ask === 'command' && before === undefined) return encodeRequest({ commandId, isRetry, body });
  const { epoch = null, atMs = null } = before ?? {};
  return encodeFullRequest({ commandId, isRetry, body, ask, epoch, atMs });
}

/** @throws INVALID */
export function decodeRemoteCommand(encoded: Uint8Array): RemoteCommand {
  const { commandId, isRetry, body, ask = 'command', epoch, atMs } = decodeRequest(encoded);
  return { commandId, isRetry, body, ask, before: instantOf(epoch, atMs) };
}

const done = openFields({ body: bytes, ...instant });
const failed = openFields({ code: text(), message: looseText(), details: opaque<PlainDetails>(), ...instant });
const answer = versioned(1, either('isDone', done, failed));
const [encodeEither, decodeEither] = bothWays(answer, 'an answer from another process', 'INVALID');

export function encodeAnswer(body: Uint8Array, { epoch, atMs }: OwnerInstant): Uint8Array {
  return encodeEither({ isDone: true, body, epoch, atMs });
}

export function encodeFailure({ code, message, details }: MillraceError, { epoch, atMs }: OwnerInstant): Uint8Array {
  return encodeEither({ isDone: false, code, message, details: plain(details), epoch, atMs });
}

/** @throws INVALID */
export function decodeAnswer(encoded: Uint8Array): RemoteAnswer {
  const read = decodeEither(encoded);
  const from = instantOf(read.epoch, read.atMs);
  if (read.isDone) return { from, result: read.body };
  const code = read.code in ERROR_CODES ? (read.code as ErrorCode) : 'DEFECT';
  return { from, result: new MillraceError(code, read.message, read.details) };
}

function instantOf(epoch: number | null | undefined, atMs: number | null | undefined): OwnerInstant | undefined {
  return typeof epoch === 'number' && typeof atMs === 'number' ? { epoch, atMs } : undefined;
}

/** Details may hold anything; only what MessagePack holds travels. */
function plain(details: Readonly<Record<string, unknown>>): PlainDetails {
  const kept = Object.entries(details).filter(([, value]) => ['string', 'number', 'boolean'].includes(typeof value));
  return Object.fromEntries(kept) as PlainDetails;
}
