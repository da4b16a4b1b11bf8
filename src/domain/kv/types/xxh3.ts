/** XXH3's 64-bit hash of a value, as DIGEST prints it and the IFDEQ and IFDNE conditions compare it. */
import { createXXHash3 } from 'hash-wasm';
import type { ByteString } from '../../../kernel/index.js';

// Made once while the module loads: afterwards hashing is synchronous, about 0.7 µs for a short value.
const hasher = await createXXHash3();

/** 16 lower-case hex digits. */
export function xxh3(value: ByteString): string {
  return hasher.init().update(Buffer.from(value, 'latin1')).digest('hex');
}
