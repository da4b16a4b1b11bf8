/** NATS: connections, the ports on top of them, and the layout of an installation. */
export { initCluster } from './cluster-layout.js';
export { connect, type NatsConnections, type NatsOptions } from './connection.js';
export { JetStreamJournal, type JetStreamJournalOptions } from './jetstream-journal.js';
export { JetStreamLeaseStore } from './jetstream-lease-store.js';
export { JetStreamIntakeLog, JetStreamMeterLog } from './jetstream-logs.js';
export { JetStreamObjectStore } from './jetstream-object-store.js';
export { formatOf, raiseFormat } from './layout-format.js';
export { type ClusterLayout, readLayout } from './layout-record.js';
export { replaceSealKey } from './layout-seal-key.js';
export { LeaderSpread } from './leader-spread.js';
export { NatsBus } from './nats-bus.js';
export { natsStatus } from './nats-status.js';
export {
  type MarkKeeper,
  markFile,
  type RestoreMark,
  refuseUnfinishedRestore,
  refuseUsedDirectory,
} from './restore-mark.js';
export { markRecord } from './restore-record.js';
export { askServers, checkReplication } from './server-status.js';
export { streamSizes } from './stream-list.js';
export { shardNames } from './streams.js';
export { Names } from './subjects.js';
export { verifyCluster } from './verify-cluster.js';
export { isAtLeast, SYNC_ALWAYS } from './versions.js';
