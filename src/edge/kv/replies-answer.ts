/** Encodes replies as the body of an answer, in the requested format. */
import { isLongReply, replyInPieces, replyToBase64Json, replyToJson } from '../../codec/json/index.js';
import { encodeInPieces, encodeReply } from '../../codec/resp/index.js';
import { ErrorReply, type Reply } from '../../domain/kv/index.js';
import type { ByteString } from '../../kernel/index.js';
import type { Timers } from '../../ports/index.js';
import type { KvMode } from '../../protocol/index.js';
import type { KvExchange } from './exchange.js';
import type { ResponseFormat } from './response-format.js';

/** @returns bytes of the body */
export function answer(
  exchange: KvExchange,
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

/**
 * Other work runs after this much text, about a millisecond. Each reply counts as some characters, because even a
 * short one costs time.
 */
const STRETCH_CHARACTERS = 64 * 1024;
const REPLY_CHARACTERS = 64;
/** Text that is collected before the answer begins; a longer answer is sent as it is encoded, at the client's speed. */
const GATHERED_CHARACTERS = 1024 * 1024;

/** An answer in pieces: encoded a millisecond at a time, and continued when the client has read. */
export class AnswerInPieces {
  #text: string;
  #sentBytes = 0;
  #replies = 0;
  #charactersOfStretch = 0;

  constructor(
    private readonly exchange: KvExchange,
    private readonly mode: KvMode,
    private readonly syncToken: string | undefined,
    private readonly timers: Timers,
  ) {
    this.#text = this.#isList ? '[' : '';
  }

  /** Bytes sent so far. */
  get sentBytes(): number {
    return this.#sentBytes;
  }

  /** Resolves when the client has read all but the collected text, or has disconnected. */
  async add(replies: readonly Reply[]): Promise<void> {
    const { exchange } = this;
    for (const reply of replies) {
      if (this.#replies > 0 && this.#isList) this.#text += ',';
      this.#replies += 1;
      const isLong = isLongReply(reply);
      for (const piece of piecesOf(reply, exchange.format)) {
        this.#text += piece;
        if (this.#text.length > GATHERED_CHARACTERS) await this.#send();
        if (exchange.response.destroyed) return;
        this.#charactersOfStretch += piece.length + REPLY_CHARACTERS;
        if (isLong || this.#charactersOfStretch > STRETCH_CHARACTERS) {
          this.#charactersOfStretch = 0;
          await this.timers.yieldToEventLoop();
        }
      }
    }
  }

  /** Sends the collected text. */
  async flush(): Promise<void> {
    if (this.#text.length > 0) await this.#send();
  }

  /** @returns bytes of the body */
  end(): number {
    const text = this.#isList ? `${this.#text}]` : this.#text;
    const { exchange, syncToken } = this;
    if (this.#sentBytes > 0) return this.#sentBytes + exchange.endPieces(text);
    return exchange.format === 'resp2' ? exchange.resp2(200, text, syncToken) : exchange.json(200, text, syncToken);
  }

  async #send(): Promise<void> {
    if (this.#sentBytes === 0) this.exchange.beginPieces(this.syncToken);
    const text = this.#text;
    this.#text = '';
    this.#sentBytes += await this.exchange.send(text);
  }

  /** Replies form a JSON list; in RESP2 they follow each other without separators. */
  get #isList(): boolean {
    return this.mode !== 'single' && this.exchange.format !== 'resp2';
  }
}

function piecesOf(reply: Reply, format: ResponseFormat): Iterable<string> {
  return format === 'resp2' ? encodeInPieces(asRest(reply), 2) : replyInPieces(reply, format === 'base64');
}

/** @returns bytes of the body */
export async function answerInPieces(
  exchange: KvExchange,
  mode: KvMode,
  replies: readonly Reply[],
  syncToken: string | undefined,
  timers: Timers,
): Promise<number> {
  const answer = new AnswerInPieces(exchange, mode, syncToken, timers);
  await answer.add(replies);
  return answer.end();
}

/**
 *  RESP2 answers over REST also have the endpoint's documented error texts.
 */
function asRest(reply: Reply): Reply {
  return reply instanceof ErrorReply ? new ErrorReply(reply.restText) : reply;
}
