/**
 * Contents with their digest, so that damage is known without anything else at hand: `[version, contents, SHA-256 of
 * contents]`, where contents are a MessagePack value of their own.
 */
import { MillraceError } from '../../kernel/index.js';
import { bytes, bytesOf, decoded, encoded, openFields, type Shape, versioned } from '../../kernel/schema/index.js';
import { HASH_BYTES, sha256 } from './entry-codec.js';

const outer = versioned(1, openFields({ contents: bytes, digest: bytesOf(HASH_BYTES) }));

export function encodeWithDigest<T>(shape: Shape<T>, value: T): Uint8Array {
  const contents = encoded(shape, value);
  return encoded(outer, { contents, digest: sha256(contents) });
}

/** @throws JOURNAL_DAMAGED for anything that is not whole, or of a version that is not known here */
export function decodeWithDigest<T>(shape: Shape<T>, bytes: Uint8Array, what: string): T {
  const { contents, digest } = decoded(outer, bytes, what);
  if (Buffer.compare(sha256(contents), digest) !== 0) {
    throw new MillraceError('JOURNAL_DAMAGED', `${what} cannot be read: its contents do not have their digest`);
  }
  return decoded(shape, contents, what);
}
