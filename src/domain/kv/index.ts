export { Args } from './args.js';
export * from './command-spec.js';
export { admit, allCommands, findCommand } from './command-table.js';
export { Effects } from './effects.js';
export { KvEngine } from './engine.js';
export { HASH_SLOTS, hashSlot, partitionOfSlot } from './hash-slot.js';
export { type Collection, Keyspace, type Value } from './keyspace.js';
export { rebuildingCommands } from './rebuild.js';
export * from './reply.js';
