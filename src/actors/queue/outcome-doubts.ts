/** Interprets the error of a command: it was not executed, or its outcome is unknown. */
import { type QueueCommand, rowOf } from '../../domain/queue/index.js';
import { isMillraceError, MillraceError } from '../../kernel/index.js';

/** True when no owner has answered, so a publish may go to the intake. */
export function isWithoutOwner(error: unknown): boolean {
  return (
    isMillraceError(error, 'SHARD_UNAVAILABLE') ||
    isMillraceError(error, 'NOT_APPLIED') ||
    isMillraceError(error, 'OUTCOME_UNKNOWN') ||
    isMillraceError(error, 'SHUTTING_DOWN') ||
    (isMillraceError(error) && error.details.isStopped === true)
  );
}

export function isDoubt(error: unknown): boolean {
  return isMillraceError(error, 'OUTCOME_UNKNOWN');
}

/**
 * Turns an error of the last try into an unknown outcome, because earlier tries may have been executed (QG4: "not
 * executed" is answered only when it is certain).
 */
export function inDoubt(error: unknown, details: Record<string, unknown> = {}): unknown {
  if (!(error instanceof MillraceError)) return error;
  switch (error.code) {
    case 'SHARD_UNAVAILABLE':
    case 'NOT_APPLIED':
    case 'MAILBOX_FULL':
    case 'STORAGE_FULL':
    case 'SHUTTING_DOWN':
    case 'JOURNAL_UNAVAILABLE':
      return new MillraceError(
        'OUTCOME_UNKNOWN',
        'it may or may not have been carried out',
        { ...error.details, ...details },
        error,
      );
    default:
      return error;
  }
}

/** True when the command may be sent again (QG1: it was not executed, or its ids make a repetition harmless). */
export function isWorthAsking(error: unknown, command: QueueCommand): boolean {
  if (isMillraceError(error, 'OUTCOME_UNKNOWN')) {
    const row = rowOf(command);
    return row.isRead === true || row.isRepeatable?.(command) === true;
  }
  return isMillraceError(error, 'SHARD_UNAVAILABLE') || isMillraceError(error, 'NOT_APPLIED');
}
