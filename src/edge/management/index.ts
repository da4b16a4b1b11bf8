export { DEFAULT_MANAGEMENT_FACE_LIMITS, type ManagementFaceLimits } from './management-limits.js';
export { createManagementServer, type ManagementServerParts } from './management-server.js';
export type { PublicUrls } from './public-addresses.js';
