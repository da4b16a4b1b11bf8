/** The past of databases and queues, brought back; without the parts that a process is made of. */
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
