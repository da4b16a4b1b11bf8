/** Replies as the body of an answer, in the format that was asked for. */
import { replyInPieces, replyToBase64Json, replyToJson } from '../../codec/json/index.js';
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

/** The same in JSON, where text of many items is made a millisecond at a time. @returns bytes of the body */
export async function answerInPieces(
  exchange: Exchange,
  mode: KvMode,
  replies: readonly Reply[],
  syncToken: string | undefined,
  timers: Timers,
): Promise<number> {
  const pieces: string[] = [];
  for (let i = 0; i < replies.length; i += 1) {
    if (i > 0) pieces.push(',');
    for (const piece of replyInPieces(replies[i] as Reply, exchange.format === 'base64')) {
      pieces.push(piece);
      await new Promise<void>((resolve) => timers.soon(resolve));
    }
  }
  const text = pieces.join('');
  return exchange.json(200, mode === 'single' ? text : `[${text}]`, syncToken);
}

/** In RESP2 too the face words its errors as documented for it. */
function asRest(reply: Reply): Reply {
  return reply instanceof ErrorReply ? new ErrorReply(reply.restText) : reply;
}
