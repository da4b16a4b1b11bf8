export type { PublicUrls } from './management-endpoint.js';
export { createManagementServer, type ManagementServerParts } from './management-server.js';
export { MANAGEMENT_ROUTES } from './routes/index.js';
