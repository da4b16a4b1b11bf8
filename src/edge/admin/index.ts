export type { AdminHandlerParts } from './admin-face.js';
export { type AdminHandler, createAdminHandler } from './admin-handler.js';
