export { createConsoleHandler } from './console-app.js';
