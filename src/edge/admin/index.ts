export type { AdminHandlerParts } from './admin-face.js';
export { createAdminHandler } from './admin-handler.js';
