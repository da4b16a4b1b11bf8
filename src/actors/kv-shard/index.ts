export { KvFold, replayFold } from './kv-fold.js';
export { type KvGatewayLimits, type KvGatewayPorts, KvShardGateway, serveKvShard } from './kv-gateway.js';
export { KvHub } from './kv-hub.js';
export { KvPlane, type KvPlaneLimits, type KvPlanePorts } from './kv-plane.js';
export { KvWork } from './kv-work.js';
