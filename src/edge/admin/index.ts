export { createAdminHandler } from './admin-handler.js';
export { ADMIN_ROUTES } from './routes/index.js';
