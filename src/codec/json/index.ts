export { quoteBytes } from './json-string.js';
export { errorToJson, isLongReply, replyInPieces, replyToBase64Json, replyToJson } from './reply-json.js';
