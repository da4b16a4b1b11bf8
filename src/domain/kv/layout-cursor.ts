/**
 * Cursors of SCAN in databases with a changed number of partitions: the number of the layout's first partition
 * stands above the cursor of the scan. A cursor of another layout begins again, so a scan across a change returns every
 * key, some of them twice.
 */
import type { ByteString } from '../../kernel/index.js';

/** A scan's own cursor has 33 bits, times up to 1,024 partitions. */
const LAYOUT_SHIFT = 44n;
const DECIMAL = /^[0-9]{1,20}$/;
const MAX_CURSOR = 2n ** 64n - 1n;

/** The cursor within the layout; '0' for one of another layout. An invalid cursor stays as it is. */
export function cursorWithin(firstPartition: number, cursor: ByteString): ByteString {
  if (!DECIMAL.test(cursor)) return cursor;
  const given = BigInt(cursor);
  if (given > MAX_CURSOR) return cursor;
  if (given >> LAYOUT_SHIFT !== BigInt(firstPartition)) return '0';
  return String(given - (BigInt(firstPartition) << LAYOUT_SHIFT));
}

/** The cursor for the client; '0' ends every scan. */
export function cursorOfLayout(firstPartition: number, cursor: ByteString): ByteString {
  return cursor === '0' ? cursor : String(BigInt(cursor) + (BigInt(firstPartition) << LAYOUT_SHIFT));
}
