/** How large a value may get and how much one command may do, each with its reason. */
import type { CommandContext } from './command-spec.js';
import { ERRORS, ErrorReply } from './reply.js';

/** The longest string Redis knows; offsets beyond it are refused with Redis's text. */
export const MAX_STRING_BYTES = 512 * 1024 * 1024;

/** The largest value a key may hold: journaling, copying and answering more would hold everybody up. */
export const MAX_RECORD_BYTES = 100 * 1024 * 1024;

/** Cells of the table LCS fills, about 10 ms of work and 8 MB; beyond it the command is refused. */
export const MAX_LCS_CELLS = 2_000_000;

/** Keys one SCAN step meets at most, whatever COUNT hopes for: about 3 ms with a pattern. */
export const MAX_SCAN_COUNT = 10_000;

/** Expiry instants stay exact in a number; this is the year 287396. */
export const MAX_EXPIRE_AT_MS = Number.MAX_SAFE_INTEGER;

/** Words of one command above which it runs in slices: about a millisecond of lookups. */
export const MANY_WORDS = 2000;
/** Of them in one slice. */
export const SLICE_WORDS = 1000;

const stringTooLong = new ErrorReply('ERR string exceeds maximum allowed size (proto-max-bulk-len)');

/**
 * Refuses a value that would become too large. What is in the journal already is never refused.
 * @throws ErrorReply
 */
export function requireRecordSize(context: CommandContext, bytes: number): void {
  if (bytes <= MAX_RECORD_BYTES || context.isReplay) return;
  throw bytes > MAX_STRING_BYTES ? stringTooLong : ERRORS.recordTooLarge;
}
