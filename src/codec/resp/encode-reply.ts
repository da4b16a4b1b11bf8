/**
 * Replies as RESP2 bytes, exactly what a TCP connection to Redis would read. Bytes are a byte string
 * (a character a byte); concatenating those is what V8 does fastest.
 */
import { ErrorReply, flatten, NilArray, type Reply, SimpleString } from '../../domain/kv/index.js';
import { type ByteString, bufferOfBytes } from '../../kernel/index.js';

const OK = '+OK\r\n';
const NIL = '$-1\r\n';
const NIL_ARRAY = '*-1\r\n';

export function encodeReply(given: Reply): ByteString {
  const reply = flatten(given);
  if (typeof reply === 'string') return `$${reply.length}\r\n${reply}\r\n`;
  if (reply === null) return NIL;
  if (typeof reply === 'number' || typeof reply === 'bigint') return `:${reply}\r\n`;
  if (reply instanceof SimpleString) return reply.text === 'OK' ? OK : `+${oneLine(reply.text)}\r\n`;
  if (reply instanceof ErrorReply) return `-${oneLine(reply.text)}\r\n`;
  if (reply instanceof NilArray) return NIL_ARRAY;
  let text = `*${reply.length}\r\n`;
  for (const item of reply) text += encodeReply(item);
  return text;
}

export function encodeReplyBuffer(reply: Reply): Buffer {
  return bufferOfBytes(encodeReply(reply));
}

/** A status and an error end at the line's end; a client's own bytes in one must not begin another reply. */
function oneLine(text: ByteString): ByteString {
  return text.includes('\r') || text.includes('\n') ? text.replace(/[\r\n]/g, ' ') : text;
}
