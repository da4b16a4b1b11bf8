/** How large a value may get and how much one command may do, each with its reason. */
import type { ByteString } from '../../kernel/index.js';
import type { CommandContext } from './command-spec.js';
import { ERRORS, ErrorReply, type Reply } from './reply.js';

/** The longest string Redis knows; offsets beyond it are refused with Redis's text. */
export const MAX_STRING_BYTES = 512 * 1024 * 1024;

/** The largest value a key may hold: journaling, copying and answering more would hold everybody up. */
export const MAX_RECORD_BYTES = 100 * 1024 * 1024;

/** Cells of the table LCS fills, about 10 ms of work and 8 MB; beyond it the command is refused. */
export const MAX_LCS_CELLS = 2_000_000;

/** Keys one SCAN step meets at most, whatever COUNT hopes for: about 3 ms with a pattern. */
export const MAX_SCAN_COUNT = 10_000;

/** Keys of a command that may wait: some 5 ms to begin to wait for all of them, and each is looked up whenever one has changed. */
export const MAX_AWAITED_KEYS = 4000;

/** Bytes of one answer, unless the installation sets another bound: six of the largest strings, a part of a small heap. */
export const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

/** Expiry instants stay exact in a number; this is the year 287396. */
export const MAX_EXPIRE_AT_MS = Number.MAX_SAFE_INTEGER;

/** Expiries of fields end here in Redis: 2^46 ms, the year 4199. */
export const MAX_FIELD_EXPIRY_MS = 2 ** 46 - 1;

/** Words of one command that are handled in one slice, where each is a lookup. */
export const SLICE_WORDS = 1000;

const stringTooLong = new ErrorReply('ERR string exceeds maximum allowed size (proto-max-bulk-len)');

const tooManyAwaited = new ErrorReply(`ERR a command that may wait has at most ${MAX_AWAITED_KEYS} keys`);

/** Refuses a command that may wait for more than one may, before it looks for them. @throws ErrorReply */
export function requireAwaitable(keyCount: number): void {
  if (keyCount > MAX_AWAITED_KEYS) throw tooManyAwaited;
}

/**
 * Refuses a value that would become too large. What is in the journal already is never refused.
 * @throws ErrorReply
 */
export function requireRecordSize(context: CommandContext, bytes: number): void {
  if (bytes <= MAX_RECORD_BYTES || context.isReplay) return;
  throw bytes > MAX_STRING_BYTES ? stringTooLong : ERRORS.recordTooLarge;
}

/**
 * Refuses to lengthen a string beyond what one command may hold: what no SET can write no GET could answer over REST.
 * @throws ErrorReply
 */
export function requireLength(context: CommandContext, bytes: number): void {
  requireRecordSize(context, bytes);
  const { maxCommandBytes, isReplay } = context;
  if (bytes <= maxCommandBytes || isReplay) return;
  const sizes = `Limit: ${maxCommandBytes} bytes, Actual: ${bytes} bytes`;
  throw new ErrorReply(`ERR string exceeds maximum allowed size. ${sizes}`);
}

/**
 * Refuses a string that is longer than an answer over REST may be, before it is taken away: nobody would have it then.
 * @returns the value, or null for none
 * @throws ErrorReply
 */
export function answerable({ face, maxCommandBytes }: CommandContext, value: ByteString | undefined): Reply {
  if (value === undefined) return null;
  if (value.length <= maxCommandBytes || face === 'resp') return value;
  throw new ErrorReply(`${requestTooLarge(maxCommandBytes, value.length).text}. GETRANGE reads it in parts`);
}

/** Work of a command or a transaction in milliseconds, unless the installation has another bound: as long as a script's. */
export const MAX_COMMAND_MS = 5_000;

/** The error for a command, or for an answer over REST, that is beyond the database's limit. */
export function requestTooLarge(limitBytes: number, actualBytes: number): ErrorReply {
  return new ErrorReply(`ERR max request size exceeded. Limit: ${limitBytes} bytes, Actual: ${actualBytes} bytes`);
}
