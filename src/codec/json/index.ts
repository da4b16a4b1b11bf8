export { quoteBytes } from './json-string.js';
export { errorToJson, replyToBase64Json, replyToJson } from './reply-json.js';
