/** The Model Context Protocol on the management port. */
export { createMcpHandlers } from './mcp-endpoint.js';
