export * from './acl/index.js';
export { type Audience, NO_AUDIENCE } from './audience.js';
export { CLOSE_EFFECT, OPEN_EFFECT } from './closure.js';
export * from './command-description.js';
export * from './command-spec.js';
export { admit, allCommands, findCommand, restRefusal } from './commands.js';
export { digestOf, KeyspaceDigest } from './digest.js';
export { Effects } from './effects.js';
export { type Caller, KvEngine, type SlicedCommand } from './engine.js';
export { storedBytes } from './eviction.js';
export { ACL_HELP, aclCategories, aclGeneratePassword, aclWrongWords } from './families/acl/answers.js';
export {
  type ClusterNode,
  clusterInfo,
  clusterNodes,
  clusterShards,
  clusterSlots,
} from './families/cluster/description.js';
export { acrossIndex, type IndexQuestion, type IndexSteps } from './families/full-text/across.js';
export { indexOfText } from './families/full-text/create.js';
export { REPLACE_HASH } from './families/hash/write.js';
export { HELD_MESSAGES, type KeyReplacement, replacementWords } from './families/key-replacement.js';
export { human } from './families/server/info.js';
export { servedModules } from './families/server/modules.js';
export { SLOW_NOTE } from './families/server/slow-log.js';
export { FullTextIndexes } from './full-text-indexes.js';
export { compileGlob, type Glob, globTooLong, isGlobTooLong, MAX_GLOB_BYTES } from './glob.js';
export { firstSlotOf, HASH_SLOTS, hashSlot, partitionOfSlot } from './hash-slot.js';
export { ChangedKeys, KeyChanges } from './key-changes.js';
export { KEY_EVENTS, type KeyEffect, keyEffects } from './key-effects.js';
export { KEY_OVERHEAD_BYTES, Keyspace } from './keyspace.js';
export { cursorOfLayout, cursorWithin } from './layout-cursor.js';
export * from './limits.js';
export { LiveIndex } from './live-index.js';
export { MAX_LIBRARIES, MAX_LIBRARIES_BYTES, MAX_LIBRARY_BYTES } from './lua/index.js';
export {
  type ComposedMessage,
  type MessageComposer,
  Outbox,
  type OutboxCallKind,
  PENDING_EFFECT,
  type PendingMessage,
  SENT_EFFECT,
} from './outbox.js';
export { DEFAULT_ACL_LOG, MAX_ACL_LOG, PARAMETER_DEFAULTS } from './parameters.js';
export { rebuildingCommands, rebuildingPreamble } from './rebuild.js';
export * from './reply.js';
export { ALIAS_EFFECT } from './search-aliases.js';
export * from './server-info.js';
export { SetInPlace } from './set-in-place.js';
export { Rate } from './statistics.js';
export type { StorableContents } from './stored-contents.js';
export { Crc64 } from './types/crc64.js';
export { NEWEST_RDB_VERSION } from './types/rdb/decode-dump.js';
export { ARRAY_DOUBLE, ARRAY_INTEGER, sealPayload } from './types/rdb/encode-dump.js';
export { BadFormat, RdbReader } from './types/rdb/rdb-reader.js';
export { commandStopped, PartStopped, StateInDoubt } from './undoable-execution.js';
export type { Collection, Value } from './value.js';
export { bytesOfValue, documentOfValue, jsonOfValue } from './value-view.js';
