export { type AdminHandler, createAdminHandler } from './admin-handler.js';
