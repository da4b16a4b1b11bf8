/** Ranges of ids in byte order, in the notation of ZRANGEBYLEX. */
import type { ByteString } from '../../kernel/index.js';

export interface IdRange {
  readonly from: ByteString;
  readonly to: ByteString;
}

/** All ids that begin with `prefix`, which is UTF-8. */
export function rangeOf(prefix: ByteString): IdRange {
  if (prefix === '') return { from: '-', to: '+' };
  // UTF-8 has no byte 255, so the last byte can always be increased.
  const next = String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1);
  return { from: `[${prefix}`, to: `(${prefix.slice(0, -1)}${next}` };
}

/**
 * The same without ids up to `last`.
 * @param last undefined: all
 */
export function rangeAfter(prefix: ByteString, last: ByteString | undefined): IdRange {
  const range = rangeOf(prefix);
  return last === undefined || last < prefix ? range : { ...range, from: `(${last}` };
}
