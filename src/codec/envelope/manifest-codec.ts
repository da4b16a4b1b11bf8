/** Manifests ↔ bytes: contents with their digest. Old bytes decode for ever (test/fixtures/journals). */
import { type Manifest, type ManifestPartition, manifest } from '../../messages/index.js';
import { decodeWithDigest, encodeWithDigest } from './with-digest.js';

export function encodeManifest(value: Manifest): Uint8Array {
  return encodeWithDigest(manifest, { ...value, partitions: value.partitions.map(withoutNothing) });
}

/** A list of body segments without any is left out. */
function withoutNothing({ bodySegments, ...partition }: ManifestPartition): ManifestPartition {
  return bodySegments === undefined || bodySegments.length === 0 ? partition : { ...partition, bodySegments };
}

/** @throws JOURNAL_DAMAGED for anything that is not a whole manifest of a version known here */
export function decodeManifest(bytes: Uint8Array): Manifest {
  return decodeWithDigest(manifest, bytes, 'a manifest');
}
