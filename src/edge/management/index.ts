export { createManagementServer, type ManagementServerParts } from './management-server.js';
export type { PublicUrls } from './public-addresses.js';
