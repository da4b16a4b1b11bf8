/** Replies as the body of an answer, in the format that was asked for. */
import { isLongReply, replyInPieces, replyToBase64Json, replyToJson } from '../../codec/json/index.js';
import { encodeReply } from '../../codec/resp/index.js';
import { ErrorReply, type Reply } from '../../domain/kv/index.js';
import type { ByteString } from '../../kernel/index.js';
import type { KvMode } from '../../messages/index.js';
import type { Timers } from '../../ports/index.js';
import type { Exchange } from './exchange.js';

/** @returns bytes of the body */
export function answer(
  exchange: Exchange,
  mode: KvMode,
  replies: readonly Reply[],
  syncToken: string | undefined,
): number {
  const { format } = exchange;
  if (mode === 'single') {
    const reply = replies[0] as Reply;
    const status = reply instanceof ErrorReply ? 400 : 200;
    if (format === 'resp2') return exchange.resp2(status, encodeReply(asRest(reply)), syncToken);
    const text = format === 'base64' ? replyToBase64Json(reply) : replyToJson(reply);
    return exchange.json(status, text, syncToken);
  }
  if (format === 'resp2') {
    let resp: ByteString = '';
    for (const reply of replies) resp += encodeReply(asRest(reply));
    return exchange.resp2(200, resp, syncToken);
  }
  const toJson = format === 'base64' ? replyToBase64Json : replyToJson;
  let text = '[';
  for (let i = 0; i < replies.length; i += 1) {
    if (i > 0) text += ',';
    text += toJson(replies[i] as Reply);
  }
  return exchange.json(200, `${text}]`, syncToken);
}

/** Others run behind text of so much, about a millisecond; a reply is work even when it is short. */
const STRETCH_CHARACTERS = 64 * 1024;
const REPLY_CHARACTERS = 64;
/** Text that is gathered before the answer begins; what is longer leaves as it is made, as fast as it is read. */
const GATHERED_CHARACTERS = 1024 * 1024;

/** The same in JSON, where text of many items is made a millisecond at a time. @returns bytes of the body */
export async function answerInPieces(
  exchange: Exchange,
  mode: KvMode,
  replies: readonly Reply[],
  syncToken: string | undefined,
  timers: Timers,
): Promise<number> {
  let text = mode === 'single' ? '' : '[';
  let bytes = 0;
  let charactersOfStretch = 0;
  for (let i = 0; i < replies.length; i += 1) {
    if (i > 0) text += ',';
    const isLong = isLongReply(replies[i] as Reply);
    for (const piece of replyInPieces(replies[i] as Reply, exchange.format === 'base64')) {
      text += piece;
      if (text.length > GATHERED_CHARACTERS) {
        if (bytes === 0) exchange.beginJson(syncToken);
        bytes += await exchange.send(text);
        text = '';
        // Nobody is there any more to read the rest.
        if (exchange.response.destroyed) return bytes;
      }
      charactersOfStretch += piece.length + REPLY_CHARACTERS;
      if (isLong || charactersOfStretch > STRETCH_CHARACTERS) {
        charactersOfStretch = 0;
        await timers.breathe();
      }
    }
  }
  if (mode !== 'single') text += ']';
  if (bytes === 0) return exchange.json(200, text, syncToken);
  return bytes + exchange.endJson(text);
}

/** In RESP2 too the face words its errors as documented for it. */
function asRest(reply: Reply): Reply {
  return reply instanceof ErrorReply ? new ErrorReply(reply.restText) : reply;
}
