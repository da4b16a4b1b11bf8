export { createKvServer, type KvServer, type KvServerParts } from './kv-server.js';
