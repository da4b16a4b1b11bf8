export { DEFAULT_KV_FACE_LIMITS, type KvFaceLimits } from './kv-limits.js';
export { createKvServer, type KvServer, type KvServerParts } from './kv-server.js';
