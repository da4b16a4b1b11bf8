/**
 * Maps failures to refusals; the only file that chooses a status for a failure. The texts say whether the request was
 * executed: a caller may repeat only a request that was not.
 */
import type { RejectionReason } from '../domain/control/index.js';
import { requestTooLarge } from '../domain/kv/index.js';
import type { QueueRejection } from '../domain/queue/index.js';
import { type ErrorCode, isMillraceError } from '../kernel/index.js';

export interface Refusal {
  readonly status: number;
  /** Begins with its error class. */
  readonly text: string;
  /** Seconds after which a retry makes sense; missing if it does not. */
  readonly retryAfterSeconds?: number;
  /** The workflow's run is over, which its endpoint has to see unchanged. */
  readonly isRunOver?: boolean;
}

/** A takeover or a drained mailbox takes about this long; longer waits only slow clients down. */
const SOON_SECONDS = 1;
/** Disk space is not freed within a second. */
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
  PARTITION_CLOSED: unavailable('ERR database is changing its partitions, nothing was executed', SOON_SECONDS),
  OUTCOME_UNKNOWN: unavailable('ERR the command may or may not have been executed, outcome=unknown'),
  NOT_APPLIED: unavailable('ERR the command was not executed, outcome=not-applied', SOON_SECONDS),
  FENCED: unavailable('ERR database is changing owner, nothing was executed', SOON_SECONDS),
  JOURNAL_UNAVAILABLE: unavailable('ERR storage is not available right now, nothing was executed', SOON_SECONDS),
  JOURNAL_DAMAGED: unavailable(
    'ERR database is stopped: its journal is damaged or incomplete, and an operator must act',
  ),
  NEWER_FORMAT: unavailable('ERR database is stopped, a newer release of the server has written its data'),
  STORAGE_FULL: unavailable('ERR storage is full, only reads and deletes are served', STORAGE_SECONDS),
  BACKUP_UNAVAILABLE: unavailable('ERR the place of backups is not available right now', STORAGE_SECONDS),
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

/** Appended if the command was executed and its entry was sent to a journal that does not answer. */
const BEING_STORED = ': storage does not answer, and it may still be stored';

function wasBeingStored(failure: unknown): boolean {
  return isMillraceError(failure, 'OUTCOME_UNKNOWN') && failure.details.isBeingStored === true;
}

/** @returns the refusal for a failure; a defect gives 500 without details */
export function refusalOf(failure: unknown): Refusal {
  if (!isMillraceError(failure)) return INTERNAL;
  const refusal = REFUSAL_BY_CODE[failure.code];
  return wasBeingStored(failure) ? { ...refusal, text: `${refusal.text}${BEING_STORED}` } : refusal;
}

/** Redis clients know this word and retry; another error would end their work or subscription. */
const LOADING = 'LOADING';
const LOADING_DATABASE = `${LOADING} database is loading or changes its owner, nothing was executed`;
const LOADING_PROCESS = `${LOADING} server is starting, nothing was executed`;
/** The partition has no serving owner: its state is being replayed, or it moves. */
const WITHOUT_SERVING_OWNER: ReadonlySet<ErrorCode> = new Set(['SHARD_UNAVAILABLE', 'PARTITION_CLOSED', 'FENCED']);
/** Failures of a process that has just started; they pass in a moment. */
const MISSING_AT_START: ReadonlySet<ErrorCode> = new Set(['CONTROL_STALE', 'JOURNAL_UNAVAILABLE']);

/**
 * The refusal of `refusalOf` for a RESP client.
 * @param isStarting  this process has not been ready yet
 */
export function nativeRefusalOf(failure: unknown, isStarting: boolean): Refusal {
  const refusal = refusalOf(failure);
  if (!isMillraceError(failure)) return refusal;
  if (WITHOUT_SERVING_OWNER.has(failure.code)) return { ...refusal, text: LOADING_DATABASE };
  return isStarting && MISSING_AT_START.has(failure.code) ? { ...refusal, text: LOADING_PROCESS } : refusal;
}

/** PING's answer for a database that is loading in a starting process. */
export const DATABASE_LOADING: Refusal = unavailable(LOADING_DATABASE, SOON_SECONDS);

/** Does the text say that a database or process is loading? */
export function saysLoading(text: string): boolean {
  return text.startsWith(`${LOADING} `);
}

const PASSING: ReadonlySet<ErrorCode> = new Set([
  'MAILBOX_FULL',
  'TENANT_BUSY',
  'SHARD_UNAVAILABLE',
  'PARTITION_CLOSED',
  'OUTCOME_UNKNOWN',
  'NOT_APPLIED',
  'FENCED',
  'JOURNAL_UNAVAILABLE',
  'SHUTTING_DOWN',
  'CONTROL_STALE',
  'TIMED_OUT',
]);

/** Is the cause in the server and temporary, so that the client may simply retry? */
export function isPassing(failure: unknown): boolean {
  return isMillraceError(failure) && PASSING.has(failure.code);
}

/** Refusals of the REST endpoint before any partition is asked. */
export const REFUSALS = {
  unauthorized: { status: 401, text: 'WRONGPASS invalid or missing auth token' },
  suspended: { status: 403, text: 'NOPERM this database is suspended, nothing was executed' },
  methodNotAllowed: { status: 405, text: 'ERR method is not allowed' },
  overloaded: unavailable('ERR server is busy, nothing was executed', SOON_SECONDS),
} as const satisfies Record<string, Refusal>;

/** Too many failed sign-ins from the address; nothing was looked up. */
export function tooManyFailures(retryAfterSeconds: number): Refusal {
  return { status: 429, text: 'too many failed sign-ins from this address, nothing was done', retryAfterSeconds };
}

/** The same as `tooManyFailures`, with the error class of key-value texts. */
export function tooManyKvFailures(retryAfterSeconds: number): Refusal {
  return {
    status: 429,
    text: 'ERR too many failed sign-ins from this address, nothing was executed',
    retryAfterSeconds,
  };
}

/** Refused because of the caller, or temporarily, before the request was checked. */
export function isStranger({ status }: Refusal): boolean {
  return status === 401 || status === 429 || status === 503;
}

/** A database that is restricted to some networks. @param address '' if the peer has already disconnected */
export function addressNotAllowed(address: string): Refusal {
  return { status: 403, text: `NOPERM this database may not be used from ${address}, nothing was executed` };
}

export function badRequest(text: string): Refusal {
  return { status: 400, text };
}

/** A request body above the limit, independent of its content. */
export function bodyTooLarge(limitBytes: number, actualBytes: number): Refusal {
  return { status: 413, text: requestTooLarge(limitBytes, actualBytes).text };
}

/** The answer to a request that is not HTTP, before its connection closes, by Node's error code. */
export function protocolRefusal(code: string | undefined): Refusal {
  if (code === 'HPE_HEADER_OVERFLOW') return { status: 431, text: 'ERR request headers are too large' };
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return { status: 408, text: 'ERR request took too long to arrive' };
  return badRequest('ERR malformed HTTP request');
}

// ── endpoints other than kv: sentences without an error class ──

/** The endpoint's noun for the subject of a failure. */
interface Subjects {
  readonly notAvailable: string;
  readonly changingOwner: string;
  readonly stopped: string;
}

function sentencesAbout({ notAvailable, changingOwner, stopped }: Subjects): Readonly<Record<ErrorCode, string>> {
  return {
    MAILBOX_FULL: 'the server is busy, nothing was done',
    TENANT_BUSY: 'another long request of this account is running, nothing was done',
    SHARD_UNAVAILABLE: `${notAvailable} is not available right now, nothing was done`,
    PARTITION_CLOSED: `${notAvailable} is changing its partitions, nothing was done`,
    OUTCOME_UNKNOWN: 'the call may or may not have been carried out, outcome=unknown',
    NOT_APPLIED: 'the call was not carried out, outcome=not-applied',
    FENCED: `${changingOwner} is changing its owner, nothing was done`,
    JOURNAL_UNAVAILABLE: 'storage is not available right now, nothing was done',
    JOURNAL_DAMAGED: `${stopped} is stopped: its journal is damaged or incomplete, and an operator must act`,
    NEWER_FORMAT: `${stopped} is stopped, a newer release of the server has written its data`,
    STORAGE_FULL: 'storage is full, only reads and deletes are served',
    BACKUP_UNAVAILABLE: 'the place of backups is not available right now',
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

/** The refusal of `refusalOf` with one of these sentences. */
function sentence(failure: unknown, texts: Readonly<Record<ErrorCode, string>>): Refusal {
  const text = isMillraceError(failure) ? texts[failure.code] : texts.DEFECT;
  return { ...refusalOf(failure), text };
}

/** Refusals that these endpoints share. */
export const SHARED_REFUSALS = {
  routeNotFound: { status: 404, text: 'no such route' },
  methodNotAllowed: { status: 405, text: 'method is not allowed' },
  overloaded: unavailable('the server is busy, nothing was done', SOON_SECONDS),
} as const satisfies Record<string, Refusal>;

export function notFound(resource: string): Refusal {
  return { status: 404, text: `${resource} not found` };
}

/** The caller is signed in but has no right to this. */
export function forbidden(text: string): Refusal {
  return { status: 403, text };
}

/** For a message, or the JSON of a call. */
export function queueBodyTooLarge(limitBytes: number): Refusal {
  return { status: 413, text: `body is too large, current limit: ${limitBytes} bytes` };
}

/** The refusal of `protocolRefusal` without an error class. */
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

/** A full queue empties by deliveries, which takes longer than a second, and other callers wait as well. */
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

/** The refusal for a rejection by a queue's owner. */
export function rejectionRefusal(reason: QueueRejection, text: string): Refusal {
  const refusal = { status: STATUS_BY_REJECTION[reason], text };
  if (reason === 'FULL') return { ...refusal, retryAfterSeconds: FULL_SECONDS };
  return reason === 'RUN_OVER' ? { ...refusal, isRunOver: true } : refusal;
}

/**
 * The same for an endpoint in the middle of a run. It takes any 400 as "the run is over" and drops its work silently,
 * and it would resend a too large step. 412 fails the run visibly.
 */
export function refusalToRun(refusal: Refusal): Refusal {
  const { status, isRunOver = false } = refusal;
  return isRunOver || (status !== 400 && status !== 413) ? refusal : { ...refusal, status: 412 };
}

/** A valid request above a limit of the account. */
export function beyondQuota(text: string): Refusal {
  return { status: 412, text };
}

/** Refusals of the queue endpoint itself. */
export const QUEUE_REFUSALS = {
  unauthorized: { status: 401, text: 'unable to authenticate: invalid token' },
  readOnly: { status: 403, text: 'a read-only token may not do this' },
  notOfPortal: { status: 403, text: 'a link to the portal of an application is only for that application' },
  suspended: { status: 403, text: 'the account is suspended' },
  stoppedBySender: { status: 403, text: 'the sender of the webhooks has disabled this address' },
  hookNotFound: { status: 404, text: 'no such webhook' },
  noLanguageModels: { status: 404, text: 'language model routes are not available on this server' },
  burst: { status: 429, text: 'too many requests in this second' },
  checking: {
    status: 429,
    text: 'a check of an endpoint is in progress, repeat the call after it',
    retryAfterSeconds: SOON_SECONDS,
  },
  noSigningKeys: unavailable('signing keys are not available right now', SOON_SECONDS),
} as const satisfies Record<string, Refusal>;

// ── the management API ──

const MANAGEMENT_TEXTS = sentencesAbout({
  notAvailable: 'a part of the server that this request needs',
  changingOwner: 'the control plane',
  stopped: 'the requested object',
});

/** The management API uses only 400 for conflicts. */
export function managementRefusalOf(failure: unknown): Refusal {
  const refusal = sentence(failure, MANAGEMENT_TEXTS);
  return { ...refusal, status: refusal.status === 409 ? 400 : refusal.status };
}

/** The refusal for an operator. An invalid moment keeps the journal's own text, which has the reason. */
export function adminRefusalOf(failure: unknown): Refusal {
  return isMillraceError(failure, 'INVALID') ? badRequest(failure.message) : managementRefusalOf(failure);
}

/** Refusals about the data of branches have texts for the caller. */
export function branchRefusalOf(failure: unknown): Refusal {
  const isAboutData = isMillraceError(failure) && ['INVALID', 'CONFLICT', 'NOT_FOUND'].includes(failure.code);
  return isAboutData ? badRequest(failure.message) : managementRefusalOf(failure);
}

const NOT_POSSIBLE = 400;

/** A noun instead of a status means 404 about it, without the internal id. */
const BY_CONTROL_REJECTION: Readonly<Record<RejectionReason, number | string>> = {
  UNKNOWN_DATABASE: 'database',
  UNKNOWN_ACCOUNT: 'account',
  UNKNOWN_SEARCH_INDEX: 'search index',
  UNKNOWN_TEAM: 'team',
  UNKNOWN_MEMBER: 'team member',
  UNKNOWN_KEY: 'API key',
  UNKNOWN_BACKUP: 'backup',
  UNKNOWN_ALERT_RULE: 'alert rule',
  UNKNOWN_TRIGGER: 'trigger',
  UNKNOWN_ROLE: 'role',
  UNKNOWN_ASSIGNMENT: 'assignment',
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
  // Ids and secrets are random: a repeated call generates others.
  ID_TAKEN: UNAVAILABLE,
  SECRET_TAKEN: UNAVAILABLE,
};

/** The refusal for a rejection by the control actor. */
export function controlRefusal(reason: RejectionReason, text: string): Refusal {
  const said = BY_CONTROL_REJECTION[reason];
  return typeof said === 'string' ? notFound(said) : { status: said, text };
}

/** Refusals of the management endpoint itself. */
export const MANAGEMENT_REFUSALS = {
  unauthorized: { status: 401, text: 'unauthorized: unknown e-mail or API key' },
  // Clients look for these first three words to detect a read-only key.
  readOnly: { status: 403, text: 'Readonly API key: this key cannot make changes' },
  otherSite: { status: 403, text: 'changes from pages of other sites are refused' },
  noCsrf: { status: 403, text: 'a change in a session needs the Millrace-Csrf header of this session' },
  sessionOver: { status: 401, text: 'unauthorized: no session, or it has ended; sign in' },
  jsonOnly: { status: 406, text: 'responses are application/json, which the Accept header of the request excludes' },
  tooManyCalls: { status: 429, text: 'too many requests with this key', retryAfterSeconds: SOON_SECONDS },
  noBackups: unavailable('backups are not available on this server'),
  noBranches: unavailable('branches are not available on this server'),
  noStatistics: unavailable('statistics are not available on this server'),
  noReadModels: unavailable('this process has no read models: send the request to a process with the projection role'),
} as const satisfies Record<string, Refusal>;

// ── documents of search indexes ──

const SEARCH_TEXTS = sentencesAbout({
  notAvailable: 'the search index',
  changingOwner: 'the search index',
  stopped: 'the search index',
});

/** An invalid filter or query keeps the text of its parser. */
export function searchRefusalOf(failure: unknown): Refusal {
  const refusal = sentence(failure, SEARCH_TEXTS);
  return isMillraceError(failure, 'INVALID') ? { ...refusal, text: failure.message } : refusal;
}

/** Refusals of the search data plane itself. */
export const SEARCH_REFUSALS = {
  unauthorized: { status: 401, text: 'Unauthorized: Invalid auth token' },
  readOnly: { status: 403, text: 'Forbidden: a read-only token may not do this' },
  commandNotFound: { status: 404, text: 'no such command' },
  cutShort: unavailable(
    'the server is stopping: not all documents were deleted, repeat the call to continue',
    SOON_SECONDS,
  ),
} as const satisfies Record<string, Refusal>;

/** The kind of limit: of one request, of a period, or of the index's size. */
export type SearchBound = 'request' | 'time' | 'size';

const STATUS_BY_SEARCH_BOUND: Readonly<Record<SearchBound, number>> = { request: 400, time: 429, size: 403 };

/** @param limit its name in the index's record. @param retryAfterSeconds until there is room again */
export function searchLimitReached(
  bound: SearchBound,
  limit: string,
  text: string,
  retryAfterSeconds?: number,
): Refusal {
  const refusal = { status: STATUS_BY_SEARCH_BOUND[bound], text: `${limit}: ${text}` };
  return retryAfterSeconds === undefined ? refusal : { ...refusal, retryAfterSeconds };
}

/** An unknown name; clients know this sentence. */
export function namespaceNotFound(name: string, index: string): Refusal {
  return { status: 404, text: `Namespace ${name} for the index ${index} does not exist` };
}
