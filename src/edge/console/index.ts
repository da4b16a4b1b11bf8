export { createConsoleHandler } from './console-app.js';
export { leadsBrowsers } from './landing.js';
