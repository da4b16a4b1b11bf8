export { type BodyIndex, decodeBodyIndex, encodeBodyIndex } from './body-index-codec.js';
export { EntryAssembler, type EntryReading, encodeForJournal, type ReadEntry, readAnew, readOnce } from './chunking.js';
export { decodeMessage, encodeEntry, hashSection, NO_HASH, sha256, WRITER_BYTES } from './entry-codec.js';
export { type BatchEntry, bytesOf, encodeInSteps, hashSectionInSteps, joinedInSteps } from './large-entries.js';
export { decodeManifest, decodeWithDigest, encodeManifest, encodeWithDigest } from './manifest-codec.js';
