/** RESP2: replies on their way out, journaled commands on their way in. */
export { MalformedRespError, RespCommandReader } from './command-reader.js';
export { encodeCommand } from './encode-command.js';
export { encodeReply, encodeReplyBuffer } from './encode-reply.js';
