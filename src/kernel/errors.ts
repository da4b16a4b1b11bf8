/**
 * All failure codes of the system, each with its meaning and whether a caller may retry. Codes are an API: they appear
 * in logs, metrics and replies between processes, and are never renamed.
 *
 * A *rejection* (a refused command) is a value in a reply and has no code here. These are *failures*: a valid request
 * could not be processed.
 */

/** The error for a port that cannot be listened on: its setting and the cause. */
const CAUSES: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program listens there',
  EACCES: 'this user may not listen there: ports below 1024 need CAP_NET_BIND_SERVICE',
  EADDRNOTAVAIL: 'this machine does not have that address: correct MILLRACE_HOST',
};

/** @param variable the setting of the port @param at host and port */
export function listenError(variable: string, at: string, cause: unknown): MillraceError {
  const reason = CAUSES[(cause as NodeJS.ErrnoException).code ?? ''];
  const text = `${variable}: cannot listen on ${at}`;
  return reason === undefined
    ? new MillraceError('BAD_CONFIG', text, { variable }, cause)
    : new MillraceError('BAD_CONFIG', `${text}: ${reason}`, { variable });
}

export const ERROR_CODES = {
  /** The shard's mailbox, or a database's share of it, is full. The command was not executed. */
  MAILBOX_FULL: { retryable: true },
  /** Another command of the same database has run for longer than a request waits. The command was not executed. */
  TENANT_BUSY: { retryable: true },
  /** No process owns the shard, or its state is still loading. The command was not executed. */
  SHARD_UNAVAILABLE: { retryable: true },
  /** The keys of the partition move or have moved to another layout of the database. The command was not executed. */
  PARTITION_CLOSED: { retryable: true },
  /** The command's effect may or may not be in the journal; only the next owner can tell. */
  OUTCOME_UNKNOWN: { retryable: false },
  /** The owner ended before the command's effect was stored; it is certainly not stored. */
  NOT_APPLIED: { retryable: true },
  /** A newer owner has claimed the shard. */
  FENCED: { retryable: true },
  /** The journal's server is unreachable or refuses to store. */
  JOURNAL_UNAVAILABLE: { retryable: true },
  /** The journal is shorter than before, forked, or has a gap. An operator must act. */
  JOURNAL_DAMAGED: { retryable: false },
  /** Stored data has a version that only a newer release reads; it is not damaged. */
  NEWER_FORMAT: { retryable: false },
  /** Disk use or the shard's bytes exceed the limit. Reads and deletes still work. */
  STORAGE_FULL: { retryable: true },
  /** The place of backups is unreachable, or did not store a file. */
  BACKUP_UNAVAILABLE: { retryable: true },
  /** The process is stopping. */
  SHUTTING_DOWN: { retryable: true },
  /** This edge has not received the control stream for longer than it may answer without it. */
  CONTROL_STALE: { retryable: true },
  /** More commands are waiting than a database may have waiting. The command was not executed. */
  RATE_LIMITED: { retryable: true },
  /** A wait ended without an answer and without an effect. */
  TIMED_OUT: { retryable: true },
  /** A setting, file or environment variable has an invalid value. */
  BAD_CONFIG: { retryable: false },
  /** There is no object with that name or id. */
  NOT_FOUND: { retryable: false },
  /** An object with that name or id exists with different contents. */
  CONFLICT: { retryable: false },
  /** The request is invalid and retrying cannot help. */
  INVALID: { retryable: false },
  /** A broken invariant of this program. */
  DEFECT: { retryable: false },
} as const;

export type ErrorCode = keyof typeof ERROR_CODES;

export class MillraceError extends Error {
  readonly code: ErrorCode;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(code: ErrorCode, message: string, details: Record<string, unknown> = {}, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'MillraceError';
    this.code = code;
    this.details = details;
  }

  get retryable(): boolean {
    return ERROR_CODES[this.code].retryable;
  }
}

export function isMillraceError(error: unknown, code?: ErrorCode): error is MillraceError {
  return error instanceof MillraceError && (code === undefined || error.code === code);
}

/** Stored data that this release can never read: an operator must act. */
export function isUnreadable(error: unknown): error is MillraceError {
  return isMillraceError(error, 'JOURNAL_DAMAGED') || isMillraceError(error, 'NEWER_FORMAT');
}

/** Fails on a broken invariant: the owner of the state must stop and be rebuilt from the journal. */
export function assert(condition: unknown, message: string, details: Record<string, unknown> = {}): asserts condition {
  if (!condition) throw new MillraceError('DEFECT', message, details);
}

export function unreachable(value: never): never {
  throw new MillraceError('DEFECT', 'a case that cannot be', { value: String(value) });
}

/** One line for a log: the message and those of its causes. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause === undefined ? '' : `: ${describeError(error.cause)}`;
  return `${error.message}${cause}`;
}
