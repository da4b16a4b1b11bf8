export type { PublicUrls } from './management-face.js';
export { createManagementServer, type ManagementServerParts } from './management-server.js';
