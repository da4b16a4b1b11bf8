/**
 * Codec of commands to the owner of a shard in another process, and of their answers. The bodies are bytes of the plane
 * (kv-remote.ts, codec/control); this part is common to all planes.
 *
 *   request  [1, commandId, isRetry, body]                     without a deadline, for reads
 *            [1, commandId, isRetry, body, ask, epoch, atMs]   ask: 0 command, 1 settle, 2 greet
 *   answer   [1, true, body, epoch, atMs] | [1, false, code, message, details, epoch, atMs]
 *
 * `epoch` is the ownership that is asked or has answered, `atMs` an instant on its monotonic clock. Earlier versions
 * send and read no fields after `body` and `details`.
 */
import { type CommandId, ERROR_CODES, type ErrorCode, MillraceError } from '../../kernel/index.js';
import {
  absent,
  bothWays,
  either,
  flag,
  integer,
  looseNumber,
  looseText,
  nullable,
  oneOf,
  opaque,
  openFields,
  passingBytes,
  type TypeOf,
  text,
  versioned,
} from '../../kernel/schema/index.js';

/** An instant on the clock of one ownership of a shard; it has no meaning on any other clock. */
export interface OwnerInstant {
  readonly epoch: number;
  /** Milliseconds, monotonic. */
  readonly atMs: number;
}

const instant = { epoch: absent(nullable(integer)), atMs: absent(nullable(looseNumber)) };

/**
 * command: to execute · settle: ask for its outcome, and prevent it if it has not run · greet: ask for the owner and
 * its clock
 */
const remoteAsk = oneOf('command', 'settle', 'greet');
export type RemoteAsk = TypeOf<typeof remoteAsk>;

const request = {
  /** Made by the caller; the same for every try. */
  commandId: text<CommandId>(),
  /** True when an earlier try may have been received. */
  isRetry: flag,
  /** Decoded where it is received. */
  body: passingBytes,
};
const plainRequest = openFields(request);
const fullRequest = openFields({ ...request, ask: absent(remoteAsk), ...instant });

export interface RemoteCommand extends TypeOf<typeof plainRequest> {
  readonly ask: RemoteAsk;
  /** This epoch's owner must start it before this instant; undefined: any owner, at any time. */
  readonly before: OwnerInstant | undefined;
}

type PlainDetails = Record<string, string | number | boolean>;

export interface RemoteAnswer {
  /** The owner's instant when it sent the answer; undefined: from an earlier version. */
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

const done = openFields({ body: passingBytes, ...instant });
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

/** Details may have any type; only types that MessagePack supports are sent. */
function plain(details: Readonly<Record<string, unknown>>): PlainDetails {
  const kept = Object.entries(details).filter(([, value]) => ['string', 'number', 'boolean'].includes(typeof value));
  return Object.fromEntries(kept) as PlainDetails;
}
