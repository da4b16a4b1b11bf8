/**
 * From what went wrong to what a client is told. No other file picks a status for a failure.
 * The texts say whether anything happened: a caller may repeat what was not applied, and nothing else.
 */
import { ErrorReply } from '../domain/kv/index.js';
import { type ErrorCode, isMillraceError } from '../kernel/index.js';

export interface Refusal {
  readonly status: number;
  /** Begins with its class. */
  readonly text: string;
  /** Seconds after which trying again makes sense; absent where it does not. */
  readonly retryAfterSeconds?: number;
}

/** A takeover or a drained mailbox takes about this long; longer waits only make clients slower. */
const SOON_SECONDS = 1;
/** Disk is not freed within a second. */
const STORAGE_SECONDS = 30;

const UNAVAILABLE = 503;

function unavailable(text: string, retryAfterSeconds?: number): Refusal {
  return { status: UNAVAILABLE, text, ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }) };
}

const INTERNAL: Refusal = { status: 500, text: 'ERR internal error' };

const REFUSAL_BY_CODE: Readonly<Record<ErrorCode, Refusal>> = {
  MAILBOX_FULL: unavailable('ERR server is busy, nothing was executed', SOON_SECONDS),
  SHARD_UNAVAILABLE: unavailable('ERR database is not available right now, nothing was executed', SOON_SECONDS),
  OUTCOME_UNKNOWN: unavailable('ERR the command may or may not have been executed, outcome=unknown'),
  NOT_APPLIED: unavailable('ERR the command was not executed, outcome=not-applied', SOON_SECONDS),
  FENCED: unavailable('ERR database is changing owner, nothing was executed', SOON_SECONDS),
  JOURNAL_UNAVAILABLE: unavailable('ERR storage is not available right now, nothing was executed', SOON_SECONDS),
  JOURNAL_DAMAGED: unavailable('ERR database is stopped until an operator has looked at it'),
  STORAGE_FULL: unavailable('ERR storage is full, only reads and deletes are served', STORAGE_SECONDS),
  SHUTTING_DOWN: unavailable('ERR server is stopping, nothing was executed', SOON_SECONDS),
  CONTROL_STALE: unavailable('ERR permissions cannot be checked right now, nothing was executed', SOON_SECONDS),
  TIMED_OUT: unavailable('ERR no answer in time, nothing was executed', SOON_SECONDS),
  NOT_FOUND: { status: 404, text: 'ERR not found' },
  CONFLICT: { status: 409, text: 'ERR conflict' },
  INVALID: { status: 400, text: 'ERR invalid request' },
  BAD_CONFIG: INTERNAL,
  DEFECT: INTERNAL,
};

/** @returns how to answer a failure; a defect of ours gives 500 and tells nothing about itself */
export function refusalOf(failure: unknown): Refusal {
  return isMillraceError(failure) ? REFUSAL_BY_CODE[failure.code] : INTERNAL;
}

/** Refusals that an edge makes by itself. */
export const REFUSALS = {
  unauthorized: { status: 401, text: 'WRONGPASS invalid or missing auth token' },
  methodNotAllowed: { status: 405, text: 'ERR method is not allowed' },
  overloaded: unavailable('ERR server is busy, nothing was executed', SOON_SECONDS),
} as const satisfies Record<string, Refusal>;

export function badRequest(text: string): Refusal {
  return { status: 400, text };
}

/** A request body beyond what one request may hold, whatever is in it. */
export function bodyTooLarge(limitBytes: number, actualBytes: number): Refusal {
  return { status: 413, text: requestTooLarge(limitBytes, actualBytes).text };
}

/** One command, or one reply, beyond the database's limit. */
export function requestTooLarge(limitBytes: number, actualBytes: number): ErrorReply {
  return new ErrorReply(`ERR max request size exceeded. Limit: ${limitBytes} bytes, Actual: ${actualBytes} bytes`);
}

/** What a request that is not HTTP gets before its connection is closed, by Node's code for it. */
export function protocolRefusal(code: string | undefined): Refusal {
  if (code === 'HPE_HEADER_OVERFLOW') return { status: 431, text: 'ERR request headers are too large' };
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return { status: 408, text: 'ERR request took too long to arrive' };
  return badRequest('ERR malformed HTTP request');
}
