/** Codec of manifests: contents with their digest. Old bytes are decoded for ever (test/fixtures/journals). */

import { MillraceError } from '../../kernel/index.js';
import { bytes, bytesOf, decoded, encoded, openFields, type Shape, versioned } from '../../kernel/schema/index.js';
import { type Manifest, type ManifestPartition, manifest } from '../../protocol/index.js';
import { HASH_BYTES, sha256 } from './entry-codec.js';

const outer = versioned(1, openFields({ contents: bytes, digest: bytesOf(HASH_BYTES) }));

export function encodeManifest(value: Manifest): Uint8Array {
  return encodeWithDigest(manifest, { ...value, partitions: value.partitions.map(withoutNothing) });
}

/** An empty list of body segments is omitted. */
function withoutNothing({ bodySegments, ...partition }: ManifestPartition): ManifestPartition {
  return bodySegments === undefined || bodySegments.length === 0 ? partition : { ...partition, bodySegments };
}

/** @throws JOURNAL_DAMAGED for anything that is not a whole manifest of a version known here */
export function decodeManifest(bytes: Uint8Array): Manifest {
  return decodeWithDigest(manifest, bytes, 'a manifest');
}

/**
 * Contents with their digest, so that damage is detected without other data: `[version, contents, SHA-256 of
 * contents]`, where contents are a separate MessagePack value.
 */
export function encodeWithDigest<T>(shape: Shape<T>, value: T): Uint8Array {
  const contents = encoded(shape, value);
  return encoded(outer, { contents, digest: sha256(contents) });
}

/** @throws JOURNAL_DAMAGED for damaged bytes or an unknown version */
export function decodeWithDigest<T>(shape: Shape<T>, bytes: Uint8Array, subject: string): T {
  const { contents, digest } = decoded(outer, bytes, subject);
  if (Buffer.compare(sha256(contents), digest) !== 0) {
    throw new MillraceError('JOURNAL_DAMAGED', `${subject} cannot be read: checksum mismatch`);
  }
  return decoded(shape, contents, subject);
}
