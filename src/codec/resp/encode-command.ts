import type { ByteString } from '../../kernel/index.js';

/** A command as an array of bulk strings, the form that RespCommandReader reads. */
export function encodeCommand(words: readonly ByteString[]): ByteString {
  let resp = `*${words.length}\r\n`;
  for (const word of words) resp += `$${word.length}\r\n${word}\r\n`;
  return resp;
}
