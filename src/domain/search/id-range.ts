/** Ids in the order of their bytes: where a prefix begins and ends, as ZRANGEBYLEX wants to be told. */
import type { ByteString } from '../../kernel/index.js';

export interface IdRange {
  readonly from: ByteString;
  readonly to: ByteString;
}

/** All ids that begin with `prefix`, which is UTF-8. */
export function rangeOf(prefix: ByteString): IdRange {
  if (prefix === '') return { from: '-', to: '+' };
  // No byte of UTF-8 is 255, so the last one always has a next.
  const next = String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1);
  return { from: `[${prefix}`, to: `(${prefix.slice(0, -1)}${next}` };
}

/** The same, without those up to `last`. @param last undefined: all */
export function rangeAfter(prefix: ByteString, last: ByteString | undefined): IdRange {
  const range = rangeOf(prefix);
  return last === undefined || last < prefix ? range : { ...range, from: `(${last}` };
}
