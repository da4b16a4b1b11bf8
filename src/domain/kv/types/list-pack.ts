/**
 * The size of a list in Redis's packed form, which decides the answer of OBJECT ENCODING. The list is not actually
 * stored in that form.
 */
import type { ByteString } from '../../../kernel/index.js';
import { parseInt64 } from '../numbers.js';

/** Six bytes before the first entry, one after the last. */
export const PACK_FRAME_BYTES = 7;

const MAX_INTEGER_CHARACTERS = 20;

/** The bytes that `list-max-listpack-size` -1 to -5 stand for. */
const SIZE_CLASSES = [4096, 8192, 16_384, 32_768, 65_536] as const;
/** The size limit if the number of elements is limited: a packed list is copied as a whole when it changes. */
const SAFE_BYTES = 8192;

/** The bytes of an entry: header, text unless it is an integer, and the length again. */
export function packedBytes(item: ByteString): number {
  const integer = item.length <= MAX_INTEGER_CHARACTERS ? packedInteger(item) : 0;
  const bytes = integer > 0 ? integer : (item.length < 64 ? 1 : item.length < 4096 ? 2 : 5) + item.length;
  return bytes + backLength(bytes);
}

function packedInteger(item: ByteString): number {
  const first = item.charCodeAt(0);
  // Quick test: most texts begin with neither a digit nor a minus.
  if (!(first >= 48 && first <= 57) && first !== 45) return 0;
  const value = parseInt64(item);
  if (value === undefined) return 0;
  if (typeof value === 'bigint') return 9;
  if (value >= 0 && value < 128) return 1;
  if (value >= -(2 ** 12) && value < 2 ** 12) return 2;
  if (value >= -(2 ** 15) && value < 2 ** 15) return 3;
  if (value >= -(2 ** 23) && value < 2 ** 23) return 4;
  return value >= -(2 ** 31) && value < 2 ** 31 ? 5 : 9;
}

function backLength(bytes: number): number {
  if (bytes < 2 ** 7) return 1;
  if (bytes < 2 ** 14) return 2;
  if (bytes < 2 ** 21) return 3;
  return bytes < 2 ** 28 ? 4 : 5;
}

/** Whether a list of this size may be packed. `limit` is `list-max-listpack-size`. */
export function fitsPack(limit: number, bytes: number, count: number): boolean {
  if (limit < 0) return bytes <= (SIZE_CLASSES[Math.min(-limit, SIZE_CLASSES.length) - 1] as number);
  return bytes <= SAFE_BYTES && count <= Math.max(1, limit);
}

/**
 * Whether a list that has shrunk may be packed again: at half the limit, so that a list near the limit does not change
 * back and forth.
 */
export function fitsPackAgain(limit: number, bytes: number, count: number): boolean {
  if (limit < 0) return bytes * 2 <= (SIZE_CLASSES[Math.min(-limit, SIZE_CLASSES.length) - 1] as number);
  return bytes <= SAFE_BYTES && count <= Math.floor(Math.max(1, limit) / 2);
}
