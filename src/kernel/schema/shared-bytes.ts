/**
 * A record that many others hold is written as bytes within each, so that it is encoded once for all that share the
 * object, and decoded once for all that carry the same bytes: those get the same object. Both memories are bounded by
 * bytes; what they have forgotten is made again.
 */
import { GenerationCache } from './generation-cache.js';
import { Packer } from './packer.js';
import type { Shape } from './shape.js';
import { Unpacker } from './unpacker.js';

/** One generation of one memory has so many: some ten thousand records of common size. */
const CACHED_BYTES = 4 * 1024 * 1024;
/** What a record takes beside its bytes, about: so that many small ones count too. */
const OBJECT_BYTES = 400;

export function sharedBytes<T extends object>(shape: Shape<T>): Shape<T> {
  /** Its own: this record is encoded while the one that holds it is. */
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
