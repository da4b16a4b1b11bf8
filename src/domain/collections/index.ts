/** Containers of many small records that grow without a pause, for databases, search indexes and queues. Pure. */

export { hashBytes, hashKey } from './key-hash.js';
export { NumberList } from './number-list.js';
export { OrdinalsByName } from './ordinals-by-name.js';
export { RecordIndex } from './record-index.js';
