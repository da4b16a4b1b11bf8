/** XXH3's 64-bit hash of a value, for DIGEST and the conditions IFDEQ and IFDNE. */
import { createXXHash3 } from 'hash-wasm';
import type { ByteString } from '../../../kernel/index.js';

// Created once while the module loads: hashing is then synchronous, about 0.7 µs for a short value.
const hasher = await createXXHash3();

/** 16 lower-case hex digits. */
export function xxh3(value: ByteString): string {
  return hasher.init().update(Buffer.from(value, 'latin1')).digest('hex');
}
