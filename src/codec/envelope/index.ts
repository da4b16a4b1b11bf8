export { type BodyIndex, decodeBodyIndex, encodeBodyIndex } from './body-index-codec.js';
export { type EncodedEntry, EntryAssembler, encodeForJournal, type ReadEntry } from './chunking.js';
export {
  decodeMessage,
  ENTRY_VERSION,
  encodeEntry,
  Fields,
  HASH_BYTES,
  hashSection,
  NO_HASH,
  sha256,
  WRITER_BYTES,
} from './entry-codec.js';
export { type BatchEntry, encodeInSteps, hashSectionInSteps } from './large-entries.js';
export { decodeManifest, encodeManifest, MANIFEST_VERSION } from './manifest-codec.js';
