/** Limits on the size of values and the work of a command, each with its reason. */
import type { ByteString } from '../../kernel/index.js';
import type { KvEndpointName } from './command-description.js';
import { ERRORS, ErrorReply, type Reply } from './reply.js';

/** Redis's longest string; larger offsets are refused with Redis's text. */
export const MAX_STRING_BYTES = 512 * 1024 * 1024;

/** The largest value of a key: journaling, copying and answering a larger one would delay all tenants. */
export const MAX_RECORD_BYTES = 100 * 1024 * 1024;

/** Cells of the LCS table, about 10 ms of work and 8 MB; larger inputs are refused. */
export const MAX_LCS_CELLS = 2_000_000;

/** The most keys that one SCAN call visits, regardless of COUNT: about 3 ms with a pattern. */
export const MAX_SCAN_COUNT = 10_000;

/**
 * Keys of a command that may wait: starting to wait for this many takes about 5 ms, and all are looked up again when
 * one changes.
 */
export const MAX_AWAITED_KEYS = 4000;

/** Default for the bytes of one answer: six of the largest strings would exceed it, and a small heap still holds it. */
export const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

/** The latest expiry that a number holds exactly: the year 287396. */
export const MAX_EXPIRE_AT_MS = Number.MAX_SAFE_INTEGER;

/** The latest expiry of a hash field in Redis: 2^46 ms, the year 4199. */
export const MAX_FIELD_EXPIRY_MS = 2 ** 46 - 1;

/**
 * Work of one query to an index or to vectors, in milliseconds: the other commands of its database wait for it, and a client
 * that repeats it would use a core.
 */
export const MAX_QUERY_MS = 250;

/** Words handled in one slice, where each needs a lookup. */
export const SLICE_WORDS = 1000;

/** The fields of a command's context that decide which sizes are allowed. */
interface SizeTerms {
  readonly isReplay: boolean;
  readonly maxCommandBytes: number;
  readonly endpoint: KvEndpointName;
}

const stringTooLong = new ErrorReply('ERR string exceeds maximum allowed size (proto-max-bulk-len)');

const tooManyAwaited = new ErrorReply(`ERR a command that may wait has at most ${MAX_AWAITED_KEYS} keys`);

/** Refuses a command with too many keys to wait for, before looking them up. @throws ErrorReply */
export function requireAwaitable(keyCount: number): void {
  if (keyCount > MAX_AWAITED_KEYS) throw tooManyAwaited;
}

/** Refuses a value that would become too large. Effects from the journal are never refused. @throws ErrorReply */
export function requireRecordSize(context: SizeTerms, bytes: number): void {
  if (bytes <= MAX_RECORD_BYTES || context.isReplay) return;
  throw bytes > MAX_STRING_BYTES ? stringTooLong : ERRORS.recordTooLarge;
}

/**
 * Refuses to grow a string beyond the longest command: a string that SET cannot write, GET could not answer over REST.
 * @throws ErrorReply
 */
export function requireLength(context: SizeTerms, bytes: number): void {
  requireRecordSize(context, bytes);
  const { maxCommandBytes, isReplay } = context;
  if (bytes <= maxCommandBytes || isReplay) return;
  const sizes = `Limit: ${maxCommandBytes} bytes, Actual: ${bytes} bytes`;
  throw new ErrorReply(`ERR string exceeds maximum allowed size. ${sizes}`);
}

/**
 * Refuses a string that is too long for a REST answer before a command removes it, because it would be lost. @returns
 * the value, or null for none @throws ErrorReply
 */
export function answerable({ endpoint, maxCommandBytes }: SizeTerms, value: ByteString | undefined): Reply {
  if (value === undefined) return null;
  if (value.length <= maxCommandBytes || endpoint === 'resp') return value;
  throw new ErrorReply(`${requestTooLarge(maxCommandBytes, value.length).text}. GETRANGE reads it in parts`);
}

/** Default for the work of a command or transaction, in milliseconds: the same as a script's. */
export const MAX_COMMAND_MS = 5_000;

/** The error for a command, or a REST answer, above the database's limit. */
export function requestTooLarge(limitBytes: number, actualBytes: number): ErrorReply {
  return new ErrorReply(`ERR max request size exceeded. Limit: ${limitBytes} bytes, Actual: ${actualBytes} bytes`);
}
