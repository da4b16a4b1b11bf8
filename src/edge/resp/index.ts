/** The RESP endpoint: RESP2 and RESP3 over TCP. */
export { CONNECTION_COMMANDS } from './commands/index.js';
export type { RespEndpointLimits } from './resp-limits.js';
export { createRespServer, type RespServer, type RespServerParts } from './resp-server.js';
