/** What an error says of a command that was asked for: nothing was done, or nobody knows. */
import { type QueueCommand, rowOf } from '../../domain/queue/index.js';
import { isMillraceError, MillraceError } from '../../kernel/index.js';

/** Nobody has answered it, so that a publish may be told instead. */
export function isWithoutOwner(error: unknown): boolean {
  return (
    isMillraceError(error, 'SHARD_UNAVAILABLE') ||
    isMillraceError(error, 'NOT_APPLIED') ||
    isMillraceError(error, 'OUTCOME_UNKNOWN') ||
    isMillraceError(error, 'SHUTTING_DOWN')
  );
}

export function isDoubt(error: unknown): boolean {
  return isMillraceError(error, 'OUTCOME_UNKNOWN');
}

/** QG4. What says that nothing happened is true of the last try alone. */
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

/** QG1. */
export function isWorthAsking(error: unknown, command: QueueCommand): boolean {
  if (isMillraceError(error, 'OUTCOME_UNKNOWN')) {
    const row = rowOf(command);
    return row.isRead === true || row.isRepeatable?.(command) === true;
  }
  return isMillraceError(error, 'SHARD_UNAVAILABLE') || isMillraceError(error, 'NOT_APPLIED');
}
