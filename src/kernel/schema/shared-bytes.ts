/**
 * A record that many other records contain is written into each of them as bytes. It is encoded once for all that share
 * the object, and decoded once for all that carry the same bytes, which then share one object. Both caches are bounded
 * by bytes; dropped values are encoded or decoded again.
 */
import { GenerationCache } from './generation-cache.js';
import { Packer } from './packer.js';
import type { Shape } from './shape.js';
import { Unpacker } from './unpacker.js';

/** The bytes of one generation of a cache: about ten thousand records of common size. */
const CACHED_BYTES = 4 * 1024 * 1024;
/** The approximate overhead of a record, so that many small ones count too. */
const OBJECT_BYTES = 400;

export function sharedBytes<T extends object>(shape: Shape<T>): Shape<T> {
  /** A separate packer, because this record is encoded while its container is being encoded. */
  const packer = new Packer();
  const bytesByValue = new GenerationCache<T, Uint8Array>(CACHED_BYTES);
  const valuesByBytes = new GenerationCache<string, T>(CACHED_BYTES);
  return {
    write: (out, value) => {
      let encoded = bytesByValue.get(value);
      if (encoded === undefined) {
        encoded = Uint8Array.from(packer.pack((inner) => shape.write(inner, value)));
        bytesByValue.set(value, encoded, encoded.length + OBJECT_BYTES);
      }
      out.bytes(encoded);
    },
    read: (from) => {
      const key = from.bytesAsLatin1();
      const known = valuesByBytes.get(key);
      if (known !== undefined) return known;
      const inner = new Unpacker(Buffer.from(key, 'latin1'));
      const value = shape.read(inner);
      inner.end();
      valuesByBytes.set(key, value, key.length + OBJECT_BYTES);
      return value;
    },
  };
}
