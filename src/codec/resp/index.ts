/** RESP: encodes replies, and decodes commands from clients and journals. */
export { encodeCommand, MalformedRespError, RespCommandReader } from './command-reader.js';
export {
  encodeInPieces,
  encodePush,
  encodeReply,
  encodeReply3,
  encodeReplyAs,
  isSmallReply,
  type RespVersion,
} from './encode-reply.js';
export { splitInlineWords } from './inline-words.js';
export {
  type OversizedCommand,
  ProtocolError,
  RequestParser,
  type RequestParserLimits,
} from './request-parser.js';
