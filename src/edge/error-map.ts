/**
 * From what went wrong to what a client is told. No other file picks a status for a failure.
 * The texts say whether anything happened: a caller may repeat what was not applied, and nothing else.
 */
import { ErrorReply } from '../domain/kv/index.js';
import type { QueueRejection } from '../domain/queue/index.js';
import { type ErrorCode, isMillraceError } from '../kernel/index.js';

export interface Refusal {
  readonly status: number;
  /** Begins with its class. */
  readonly text: string;
  /** Seconds after which trying again makes sense; absent where it does not. */
  readonly retryAfterSeconds?: number;
  /** Says that a workflow's run is over, which its endpoint has to be told as it is. */
  readonly isRunOver?: boolean;
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

// ── the message queue: sentences without a class ──

const QUEUE_TEXTS: Readonly<Record<ErrorCode, string>> = {
  MAILBOX_FULL: 'the server is busy, nothing was done',
  SHARD_UNAVAILABLE: 'the queue is not available right now, nothing was done',
  OUTCOME_UNKNOWN: 'the call may or may not have been carried out, outcome=unknown',
  NOT_APPLIED: 'the call was not carried out, outcome=not-applied',
  FENCED: 'the queue is changing its owner, nothing was done',
  JOURNAL_UNAVAILABLE: 'storage is not available right now, nothing was done',
  JOURNAL_DAMAGED: 'the queue is stopped until an operator has looked at it',
  STORAGE_FULL: 'storage is full, only reads and deletes are served',
  SHUTTING_DOWN: 'the server is stopping, nothing was done',
  CONTROL_STALE: 'permissions cannot be checked right now, nothing was done',
  TIMED_OUT: 'no answer in time',
  NOT_FOUND: 'not found',
  CONFLICT: 'conflict',
  INVALID: 'invalid request',
  BAD_CONFIG: 'internal error',
  DEFECT: 'internal error',
};

/** As `refusalOf`, worded for the queue. */
export function queueRefusalOf(failure: unknown): Refusal {
  return { ...refusalOf(failure), text: isMillraceError(failure) ? QUEUE_TEXTS[failure.code] : QUEUE_TEXTS.DEFECT };
}

const STATUS_BY_REJECTION: Readonly<Record<QueueRejection, number>> = {
  INVALID: 400,
  NOT_FOUND: 404,
  TOO_MANY: 412,
  RUN_OVER: 400,
  SUSPENDED: 403,
  DAILY_LIMIT: 429,
  BUDGET: 429,
};

/** What the owner of a queue has refused. */
export function rejectionRefusal(reason: QueueRejection, text: string): Refusal {
  const refusal = { status: STATUS_BY_REJECTION[reason], text };
  return reason === 'RUN_OVER' ? { ...refusal, isRunOver: true } : refusal;
}

/**
 * The same, told to an endpoint in the middle of a run: it takes any 400 for "the run is over" and drops its work
 * without a word, and would send what is too large again. 412 makes its run fail where people look.
 */
export function refusalToRun(refusal: Refusal): Refusal {
  const { status, isRunOver = false } = refusal;
  return isRunOver || (status !== 400 && status !== 413) ? refusal : { ...refusal, status: 412 };
}

/** In order, but for a bound of the account. */
export function beyondQuota(text: string): Refusal {
  return { status: 412, text };
}

/** Refusals that the queue's face makes by itself. */
export const QUEUE_REFUSALS = {
  unauthorized: { status: 401, text: 'unable to authenticate: invalid token' },
  readOnly: { status: 403, text: 'a read-only token may not do this' },
  suspended: { status: 403, text: 'the account is suspended' },
  routeNotFound: { status: 404, text: 'no such route' },
  hookNotFound: { status: 404, text: 'no such webhook' },
  noLanguageModels: { status: 404, text: 'language model routes are not available on this server' },
  methodNotAllowed: { status: 405, text: 'method is not allowed' },
  burst: { status: 429, text: 'too many requests in this second' },
  overloaded: unavailable(QUEUE_TEXTS.MAILBOX_FULL, SOON_SECONDS),
  noSigningKeys: unavailable('signing keys are not available right now', SOON_SECONDS),
} as const satisfies Record<string, Refusal>;

export function notFound(what: string): Refusal {
  return { status: 404, text: `${what} not found` };
}

/** A message, or the JSON of a call. */
export function queueBodyTooLarge(limitBytes: number): Refusal {
  return { status: 413, text: `body is too large, current limit: ${limitBytes} bytes` };
}

/** As `protocolRefusal`, worded for the queue. */
export function queueProtocolRefusal(code: string | undefined): Refusal {
  const refusal = protocolRefusal(code);
  return { ...refusal, text: refusal.text.replace('ERR ', '') };
}
