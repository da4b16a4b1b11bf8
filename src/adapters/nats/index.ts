/** The world of NATS: connections, the four ports that stand on them, and the layout of an installation. */
export {
  type ClusterLayout,
  initCluster,
  readLayout,
} from './cluster-layout.js';
export { connect, type NatsConnections, type NatsOptions } from './connection.js';
export { JetStreamIntakeLog } from './jetstream-intake-log.js';
export { JetStreamJournal } from './jetstream-journal.js';
export { JetStreamLeaseStore } from './jetstream-lease-store.js';
export { JetStreamMeterLog } from './jetstream-meter-log.js';
export { JetStreamObjectStore } from './jetstream-object-store.js';
export { NatsBus } from './nats-bus.js';
export {
  MARK_DRAFT,
  type MarkKeeper,
  markFile,
  markRecord,
  type RestoreMark,
  refuseUnfinishedRestore,
} from './restore-mark.js';
export { askServers, checkReplication } from './server-facts.js';
export { streamSizes } from './stream-sizes.js';
export { CONTROL_SHARD, METER_SHARD, shardNames } from './streams.js';
export { Names } from './subjects.js';
export { verifyCluster } from './verify-cluster.js';
export { isAtLeast, SYNC_ALWAYS } from './versions.js';
