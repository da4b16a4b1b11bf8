export { type BodyIndex, decodeBodyIndex, encodeBodyIndex } from './body-index-codec.js';
export { EntryAssembler, encodeForJournal, type ReadEntry } from './chunking.js';
export { decodeMessage, encodeEntry, hashSection, NO_HASH, sha256, WRITER_BYTES } from './entry-codec.js';
export { type EntryReading, readAnew, readOnce } from './entry-reading.js';
export { type BatchEntry, bytesOf, encodeInSteps, hashSectionInSteps, joinedInSteps } from './large-entries.js';
export { decodeManifest, encodeManifest } from './manifest-codec.js';
export { decodeWithDigest, encodeWithDigest } from './with-digest.js';
