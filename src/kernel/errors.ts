/**
 * Every failure code of the system, once, with its meaning and whether a caller may try again.
 * Codes are API: they appear in logs, in metrics and in replies between processes, and are not renamed.
 *
 * A *rejection* (the command was refused) is a value in a reply and has no code here. These are
 * *failures*: something the world did to a request that was in order.
 */

export const ERROR_CODES = {
  /** The mailbox of the shard, or a database's share of it, is full. Nothing was executed. */
  MAILBOX_FULL: { retryable: true },
  /** Something of the same database is under way for longer than a request waits. Nothing was executed. */
  TENANT_BUSY: { retryable: true },
  /** No process owns the shard right now, or its state is still loading. Nothing was executed. */
  SHARD_UNAVAILABLE: { retryable: true },
  /** The command's effect may or may not be in the journal; only a successor can tell. */
  OUTCOME_UNKNOWN: { retryable: false },
  /** The owner ended before the command's effect was stored, and it surely is not. */
  NOT_APPLIED: { retryable: true },
  /** A newer owner has claimed the shard. */
  FENCED: { retryable: true },
  /** The journal's server cannot be reached or refuses to store. */
  JOURNAL_UNAVAILABLE: { retryable: true },
  /** The journal is shorter than it was, forked, or has a hole. A person has to look. */
  JOURNAL_DAMAGED: { retryable: false },
  /** Free disk or the shard's bytes are beyond the watermark. Reads and deletes still work. */
  STORAGE_FULL: { retryable: true },
  /** The process is stopping. */
  SHUTTING_DOWN: { retryable: true },
  /** This edge has not heard from the control stream for longer than it may answer without. */
  CONTROL_STALE: { retryable: true },
  /** More commands wait for their turn than a database may have waiting. Nothing was executed. */
  RATE_LIMITED: { retryable: true },
  /** A wait ended without an answer and without an effect. */
  TIMED_OUT: { retryable: true },
  /** A setting, a file or an environment variable has a value that cannot be used. */
  BAD_CONFIG: { retryable: false },
  /** Nothing with that name or id. */
  NOT_FOUND: { retryable: false },
  /** Something with that name or id is there already, with other contents. */
  CONFLICT: { retryable: false },
  /** The request itself is wrong, and would be next time. */
  INVALID: { retryable: false },
  /** A broken invariant of ours. */
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

/** A broken invariant: whoever holds the state must stop and be rebuilt from the journal. */
export function assert(condition: unknown, message: string, details: Record<string, unknown> = {}): asserts condition {
  if (!condition) throw new MillraceError('DEFECT', message, details);
}

export function unreachable(value: never): never {
  throw new MillraceError('DEFECT', 'a case that cannot be', { value: String(value) });
}

/** One line for a log: the message, and those of its causes. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause === undefined ? '' : `: ${describeError(error.cause)}`;
  return `${error.message}${cause}`;
}
