/** Replays past states of databases and queues, independently of the parts of a running process. */
export { walk } from './audit-tasks.js';
export { BACKUP_PLANES } from './backup-planes.js';
export {
  countsOf,
  diffDatabase,
  type Replayed,
  type ReplayedPart,
  replayDatabase,
  replayQueue,
} from './database.js';
export { foldOfPartition, keyedKvFold } from './folds/index.js';
export { ReplayGateway } from './gateway.js';
export { KvKeyedFold } from './keyed-fold.js';
export { type ReplayServer, serveReplay } from './server.js';
