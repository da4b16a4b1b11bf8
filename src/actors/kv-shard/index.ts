export { type DataRemovalPorts, PartitionRemoval } from './data-removal.js';
export { DATABASE_SHARE, HeldData, type HeldDataParts } from './held-data.js';
export { KvFold, replayFold } from './kv-fold.js';
export { type KvGatewayLimits, type KvGatewayPorts, KvShardGateway, serveKvShard } from './kv-gateway.js';
export { DEFAULT_KV_GAUGES, type GaugedOwner, KvGauges, type KvGaugesOptions } from './kv-gauges.js';
export { KvHub } from './kv-hub.js';
export { KvPlane, type KvPlaneLimits, type KvPlanePorts } from './kv-plane.js';
export { KvWork } from './kv-work.js';
export { type LoadKept, MAX_REPLACEMENT_BYTES } from './replacements.js';
