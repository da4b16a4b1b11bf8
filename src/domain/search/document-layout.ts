/**
 * The keys of documents in the partition of their database. Search databases have one hash per name; vectors are too
 * long for that, so their ids are distributed over several hashes, and a further sorted set has the order of writing.
 */
import { type ByteString, textOfBytes } from '../../kernel/index.js';

export interface DocumentLayout {
  /** The hash that has this document. */
  keyOf(name: ByteString, id: ByteString): ByteString;
  /** All hashes of a name. */
  keysOf(name: ByteString): readonly ByteString[];
  /** The sorted set of a name's ids, in the order of their bytes. */
  orderOf(name: ByteString): ByteString;
  /** The sorted set of a name's ids, by the number of their first write; undefined: that order is not kept. */
  sequenceOf(name: ByteString): ByteString | undefined;
  /** The name that a hash of documents belongs to; undefined for any other key. */
  nameOf(key: ByteString): string | undefined;
}

const DOCUMENTS = 'd:';
const ORDER = 'o:';
const SEQUENCE = 's:';

export const SEARCH_LAYOUT: DocumentLayout = {
  keyOf: (name) => DOCUMENTS + name,
  keysOf: (name) => [DOCUMENTS + name],
  orderOf: (name) => ORDER + name,
  sequenceOf: () => undefined,
  nameOf: (key) => (key.startsWith(DOCUMENTS) ? textOfBytes(key.slice(DOCUMENTS.length)) : undefined),
};

/**
 * Hashes of one namespace. A hash has at most 100 MiB, so a namespace has about three gigabytes: a million and a half
 * vectors of 384 dimensions.
 */
const VECTOR_HASHES = 32;
const PREFIXES: readonly string[] = Array.from(
  { length: VECTOR_HASHES },
  (_, at) => `v${at.toString(16).padStart(2, '0')}:`,
);
const VECTORS = /^v[01][0-9a-f]:/;
const PREFIX_BYTES = 4;

export const VECTOR_LAYOUT: DocumentLayout = {
  keyOf: (name, id) => (PREFIXES[hashOf(id) % VECTOR_HASHES] as string) + name,
  keysOf: (name) => PREFIXES.map((prefix) => prefix + name),
  orderOf: (name) => ORDER + name,
  sequenceOf: (name) => SEQUENCE + name,
  nameOf: (key) => (VECTORS.test(key) ? textOfBytes(key.slice(PREFIX_BYTES)) : undefined),
};

/** FNV-1a, 32 bits. It determines where stored documents are, so it never changes. */
function hashOf(id: ByteString): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < id.length; at += 1) hash = Math.imul(hash ^ id.charCodeAt(at), 0x01000193);
  return (hash ^ (hash >>> 16)) >>> 0;
}
