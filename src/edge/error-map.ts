/**
 * From what went wrong to what a client is told. No other file picks a status for a failure.
 * The texts say whether anything happened: a caller may repeat what was not applied, and nothing else.
 */
import type { RejectionReason } from '../domain/control/index.js';
import { requestTooLarge } from '../domain/kv/index.js';
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
  TENANT_BUSY: unavailable(
    'BUSY this database is busy running a script or a long command, nothing was executed. You can only call SCRIPT KILL or CLIENT KILL.',
    SOON_SECONDS,
  ),
  SHARD_UNAVAILABLE: unavailable('ERR database is not available right now, nothing was executed', SOON_SECONDS),
  OUTCOME_UNKNOWN: unavailable('ERR the command may or may not have been executed, outcome=unknown'),
  NOT_APPLIED: unavailable('ERR the command was not executed, outcome=not-applied', SOON_SECONDS),
  FENCED: unavailable('ERR database is changing owner, nothing was executed', SOON_SECONDS),
  JOURNAL_UNAVAILABLE: unavailable('ERR storage is not available right now, nothing was executed', SOON_SECONDS),
  JOURNAL_DAMAGED: unavailable('ERR database is stopped until an operator has looked at it'),
  STORAGE_FULL: unavailable('ERR storage is full, only reads and deletes are served', STORAGE_SECONDS),
  SHUTTING_DOWN: unavailable('ERR server is stopping, nothing was executed', SOON_SECONDS),
  CONTROL_STALE: unavailable('ERR permissions cannot be checked right now, nothing was executed', SOON_SECONDS),
  RATE_LIMITED: {
    status: 429,
    text: 'ERR max commands per second exceeded, nothing was executed',
    retryAfterSeconds: SOON_SECONDS,
  },
  TIMED_OUT: unavailable('ERR no answer in time, nothing was executed', SOON_SECONDS),
  NOT_FOUND: { status: 404, text: 'ERR not found' },
  CONFLICT: { status: 409, text: 'ERR conflict' },
  INVALID: { status: 400, text: 'ERR invalid request' },
  BAD_CONFIG: INTERNAL,
  DEFECT: INTERNAL,
};

/** What a text ends with when the command has been executed, and its entry is on its way to a journal that is silent. */
const BEING_STORED = ': storage does not answer, and it may still be stored';

function wasBeingStored(failure: unknown): boolean {
  return isMillraceError(failure, 'OUTCOME_UNKNOWN') && failure.details.isBeingStored === true;
}

/** @returns how to answer a failure; a defect of ours gives 500 and tells nothing about itself */
export function refusalOf(failure: unknown): Refusal {
  if (!isMillraceError(failure)) return INTERNAL;
  const refusal = REFUSAL_BY_CODE[failure.code];
  return wasBeingStored(failure) ? { ...refusal, text: `${refusal.text}${BEING_STORED}` } : refusal;
}

const PASSING: ReadonlySet<ErrorCode> = new Set([
  'MAILBOX_FULL',
  'TENANT_BUSY',
  'SHARD_UNAVAILABLE',
  'OUTCOME_UNKNOWN',
  'NOT_APPLIED',
  'FENCED',
  'JOURNAL_UNAVAILABLE',
  'SHUTTING_DOWN',
  'CONTROL_STALE',
  'TIMED_OUT',
]);

/** Is it ours, and soon over? Nothing is wrong with the request, and nobody has to do anything about it. */
export function isPassing(failure: unknown): boolean {
  return isMillraceError(failure) && PASSING.has(failure.code);
}

/** Refusals that an edge makes by itself. */
export const REFUSALS = {
  unauthorized: { status: 401, text: 'WRONGPASS invalid or missing auth token' },
  suspended: { status: 403, text: 'NOPERM this database is suspended, nothing was executed' },
  methodNotAllowed: { status: 405, text: 'ERR method is not allowed' },
  overloaded: unavailable('ERR server is busy, nothing was executed', SOON_SECONDS),
} as const satisfies Record<string, Refusal>;

/** Who has failed to sign in too often lately, before anything is looked up. */
export function tooManyFailures(retryAfterSeconds: number): Refusal {
  return { status: 429, text: 'too many failed sign-ins from this address, nothing was done', retryAfterSeconds };
}

/** What `tooManyFailures` says, with the class that texts of the key-value face begin with. */
export function tooManyKvFailures(retryAfterSeconds: number): Refusal {
  return {
    status: 429,
    text: 'ERR too many failed sign-ins from this address, nothing was executed',
    retryAfterSeconds,
  };
}

/** Refused for who asks, or because nobody can tell right now, before what is asked was looked at. */
export function isStranger({ status }: Refusal): boolean {
  return status === 401 || status === 429 || status === 503;
}

/** A database that only some networks may use. @param address '' when the peer is gone already */
export function addressNotAllowed(address: string): Refusal {
  return { status: 403, text: `NOPERM this database may not be used from ${address}, nothing was executed` };
}

export function badRequest(text: string): Refusal {
  return { status: 400, text };
}

/** A request body beyond what one request may hold, whatever is in it. */
export function bodyTooLarge(limitBytes: number, actualBytes: number): Refusal {
  return { status: 413, text: requestTooLarge(limitBytes, actualBytes).text };
}

/** What a request that is not HTTP gets before its connection is closed, by Node's code for it. */
export function protocolRefusal(code: string | undefined): Refusal {
  if (code === 'HPE_HEADER_OVERFLOW') return { status: 431, text: 'ERR request headers are too large' };
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return { status: 408, text: 'ERR request took too long to arrive' };
  return badRequest('ERR malformed HTTP request');
}

// ── every face but kv's: sentences without a class ──

/** What a face calls the thing that a failure is about. */
interface Subjects {
  readonly notAvailable: string;
  readonly changingOwner: string;
  readonly stopped: string;
}

function sentencesAbout({ notAvailable, changingOwner, stopped }: Subjects): Readonly<Record<ErrorCode, string>> {
  return {
    MAILBOX_FULL: 'the server is busy, nothing was done',
    TENANT_BUSY: 'something else that was asked for takes long, nothing was done',
    SHARD_UNAVAILABLE: `${notAvailable} is not available right now, nothing was done`,
    OUTCOME_UNKNOWN: 'the call may or may not have been carried out, outcome=unknown',
    NOT_APPLIED: 'the call was not carried out, outcome=not-applied',
    FENCED: `${changingOwner} is changing its owner, nothing was done`,
    JOURNAL_UNAVAILABLE: 'storage is not available right now, nothing was done',
    JOURNAL_DAMAGED: `${stopped} is stopped until an operator has looked at it`,
    STORAGE_FULL: 'storage is full, only reads and deletes are served',
    SHUTTING_DOWN: 'the server is stopping, nothing was done',
    CONTROL_STALE: 'permissions cannot be checked right now, nothing was done',
    RATE_LIMITED: 'too many calls are waiting, nothing was done',
    TIMED_OUT: 'no answer in time',
    NOT_FOUND: 'not found',
    CONFLICT: 'conflict',
    INVALID: 'invalid request',
    BAD_CONFIG: 'internal error',
    DEFECT: 'internal error',
  };
}

/** The refusal of `refusalOf`, told in a sentence of these. */
function sentence(failure: unknown, texts: Readonly<Record<ErrorCode, string>>): Refusal {
  const text = isMillraceError(failure) ? texts[failure.code] : texts.DEFECT;
  return { ...refusalOf(failure), text };
}

/** Refusals that such faces make by themselves, alike. */
export const SHARED_REFUSALS = {
  routeNotFound: { status: 404, text: 'no such route' },
  methodNotAllowed: { status: 405, text: 'method is not allowed' },
  overloaded: unavailable('the server is busy, nothing was done', SOON_SECONDS),
} as const satisfies Record<string, Refusal>;

export function notFound(what: string): Refusal {
  return { status: 404, text: `${what} not found` };
}

/** Somebody has signed in, and may not do this. */
export function forbidden(text: string): Refusal {
  return { status: 403, text };
}

/** A message, or the JSON of a call. */
export function queueBodyTooLarge(limitBytes: number): Refusal {
  return { status: 413, text: `body is too large, current limit: ${limitBytes} bytes` };
}

/** The refusal of `protocolRefusal`, told without a class. */
export function queueProtocolRefusal(code: string | undefined): Refusal {
  const refusal = protocolRefusal(code);
  return { ...refusal, text: refusal.text.replace('ERR ', '') };
}

// ── the message queue ──

const QUEUE_TEXTS = sentencesAbout({ notAvailable: 'the queue', changingOwner: 'the queue', stopped: 'the queue' });

export function queueRefusalOf(failure: unknown): Refusal {
  const refusal = sentence(failure, QUEUE_TEXTS);
  return wasBeingStored(failure) ? { ...refusal, text: `${refusal.text}${BEING_STORED}` } : refusal;
}

/** What waits becomes less as it is delivered: not within a second, and not for everybody who waits at once. */
const FULL_SECONDS = 10;

const STATUS_BY_REJECTION: Readonly<Record<QueueRejection, number>> = {
  INVALID: 400,
  NOT_FOUND: 404,
  TOO_MANY: 412,
  RUN_OVER: 400,
  SUSPENDED: 403,
  DAILY_LIMIT: 429,
  BUDGET: 429,
  FULL: 429,
};

/** What the owner of a queue has refused. */
export function rejectionRefusal(reason: QueueRejection, text: string): Refusal {
  const refusal = { status: STATUS_BY_REJECTION[reason], text };
  if (reason === 'FULL') return { ...refusal, retryAfterSeconds: FULL_SECONDS };
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
  hookNotFound: { status: 404, text: 'no such webhook' },
  noLanguageModels: { status: 404, text: 'language model routes are not available on this server' },
  burst: { status: 429, text: 'too many requests in this second' },
  noSigningKeys: unavailable('signing keys are not available right now', SOON_SECONDS),
} as const satisfies Record<string, Refusal>;

// ── the management API ──

const MANAGEMENT_TEXTS = sentencesAbout({
  notAvailable: 'what this needs',
  changingOwner: 'the control plane',
  stopped: 'what was asked for',
});

/** The management API knows 400 alone for what does not fit. */
export function managementRefusalOf(failure: unknown): Refusal {
  const refusal = sentence(failure, MANAGEMENT_TEXTS);
  return { ...refusal, status: refusal.status === 409 ? 400 : refusal.status };
}

/** What an operator is told. Only the journal knows what is wrong with a moment, so its own words are told. */
export function adminRefusalOf(failure: unknown): Refusal {
  return isMillraceError(failure, 'INVALID') ? badRequest(failure.message) : managementRefusalOf(failure);
}

const NOT_POSSIBLE = 400;

/** A text in place of the status: what is not there, without the id that it has inside. */
const BY_CONTROL_REJECTION: Readonly<Record<RejectionReason, number | string>> = {
  UNKNOWN_DATABASE: 'database',
  UNKNOWN_ACCOUNT: 'account',
  UNKNOWN_SEARCH_INDEX: 'search index',
  UNKNOWN_TEAM: 'team',
  UNKNOWN_MEMBER: 'team member',
  UNKNOWN_KEY: 'API key',
  UNKNOWN_BACKUP: 'backup',
  UNKNOWN_USER: 'user',
  TOO_MANY: NOT_POSSIBLE,
  TOO_MANY_DATABASES: NOT_POSSIBLE,
  TOO_MANY_ACCOUNTS: NOT_POSSIBLE,
  TOO_MANY_USERS: NOT_POSSIBLE,
  CONFLICTS: NOT_POSSIBLE,
  BAD_VALUE: NOT_POSSIBLE,
  BAD_NAME: NOT_POSSIBLE,
  BAD_PARTITIONS: NOT_POSSIBLE,
  BAD_LIMITS: NOT_POSSIBLE,
  BAD_USER: NOT_POSSIBLE,
  NAME_TAKEN: NOT_POSSIBLE,
  DAY_CLOSED: NOT_POSSIBLE,
  // Ids and secrets are random: the same call again makes others.
  ID_TAKEN: UNAVAILABLE,
  SECRET_TAKEN: UNAVAILABLE,
};

/** What the control actor has refused. */
export function controlRefusal(reason: RejectionReason, text: string): Refusal {
  const said = BY_CONTROL_REJECTION[reason];
  return typeof said === 'string' ? notFound(said) : { status: said, text };
}

/** Refusals that the management face makes by itself. */
export const MANAGEMENT_REFUSALS = {
  unauthorized: { status: 401, text: 'unauthorized: unknown e-mail or API key' },
  // Clients look for just these three words to learn what kind of key they have.
  readOnly: { status: 403, text: 'Readonly API key: this key may look and change nothing' },
  otherSite: { status: 403, text: 'changes are not taken from pages of other sites' },
  noCsrf: { status: 403, text: 'with a session, a change needs the Millrace-Csrf header that belongs to it' },
  sessionOver: { status: 401, text: 'unauthorized: there is no session, or it is over; sign in' },
  jsonOnly: { status: 406, text: 'answers are application/json, which the request does not accept' },
  tooManyCalls: { status: 429, text: 'too many requests with this key', retryAfterSeconds: SOON_SECONDS },
  noBackups: unavailable('backups are not available on this server'),
  noStatistics: unavailable('statistics are not available on this server'),
  noReadModels: unavailable('this process keeps no read models: ask the one that does'),
} as const satisfies Record<string, Refusal>;

// ── documents of search indexes ──

const SEARCH_TEXTS = sentencesAbout({
  notAvailable: 'the search index',
  changingOwner: 'the search index',
  stopped: 'the search index',
});

/** What is wrong with a filter or a query is said by who has read it. */
export function searchRefusalOf(failure: unknown): Refusal {
  const refusal = sentence(failure, SEARCH_TEXTS);
  return isMillraceError(failure, 'INVALID') ? { ...refusal, text: failure.message } : refusal;
}

/** Refusals that the data plane of search indexes makes by itself. */
export const SEARCH_REFUSALS = {
  unauthorized: { status: 401, text: 'Unauthorized: Invalid auth token' },
  readOnly: { status: 403, text: 'Forbidden: a read-only token may not do this' },
  commandNotFound: { status: 404, text: 'no such command' },
  cutShort: unavailable('the server is stopping: not all documents were deleted, the same call goes on', SOON_SECONDS),
} as const satisfies Record<string, Refusal>;

/** What bounds a search index: one request, a stretch of time, or all that it may hold. */
export type SearchBound = 'request' | 'time' | 'size';

const STATUS_BY_SEARCH_BOUND: Readonly<Record<SearchBound, number>> = { request: 400, time: 429, size: 403 };

/** @param limit by its name in the index's record. @param retryAfterSeconds until there is room again */
export function searchLimitReached(
  bound: SearchBound,
  limit: string,
  text: string,
  retryAfterSeconds?: number,
): Refusal {
  const refusal = { status: STATUS_BY_SEARCH_BOUND[bound], text: `${limit}: ${text}` };
  return retryAfterSeconds === undefined ? refusal : { ...refusal, retryAfterSeconds };
}

/** Nothing of that name; clients know this sentence. */
export function namespaceNotFound(name: string, index: string): Refusal {
  return { status: 404, text: `Namespace ${name} for the index ${index} does not exist` };
}
