export { createConsoleHandler } from './console-app.js';
export { leadsBrowsers } from './landing.js';
export { PLANE_ROUTES } from './planes.js';
