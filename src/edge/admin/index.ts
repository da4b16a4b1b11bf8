export { createAdminHandler } from './admin-handler.js';
