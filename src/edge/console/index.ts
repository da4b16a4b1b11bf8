export { createConsoleHandler } from './console-handler.js';
