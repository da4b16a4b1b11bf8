/**
 * One request and its answer: what has been found out about the request, and the only place that writes.
 *
 * Invariants
 *  E1 an answer is written once, headers and body together, with its length
 *  E2 refusals are plain JSON, whatever format was asked for
 */
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { errorToJson } from '../../codec/json/index.js';
import type { ByteString } from '../../kernel/index.js';
import type { Refusal } from '../error-map.js';
import type { Spelling } from '../wire-alias.js';
import type { Cors } from './cors.js';
import { discardBody, type KvIncomingMessage } from './request-body.js';
import type { ResponseFormat } from './response-format.js';

/** What every answer of the face depends on. */
export interface AnswerContext {
  readonly cors: Cors;
  /** Set while draining: every answer is its connection's last. */
  isDraining: boolean;
}

export class Exchange {
  format: ResponseFormat = 'json';

  constructor(
    readonly request: KvIncomingMessage,
    readonly response: ServerResponse,
    readonly spelling: Spelling,
    private readonly context: AnswerContext,
  ) {}

  json(status: number, text: string, syncToken?: string): number {
    const bytes = Buffer.byteLength(text);
    this.#write(status, 'application/json', bytes, text, 'utf8', syncToken);
    return bytes;
  }

  /** @param resp replies as a connection of the native protocol would read them */
  resp2(status: number, resp: ByteString, syncToken?: string): number {
    this.#write(status, 'application/octet-stream', resp.length, resp, 'latin1', syncToken);
    return resp.length;
  }

  /** Everything that is not a command's own answer (E2). */
  refuse(refusal: Refusal, headers: OutgoingHttpHeaders = {}): void {
    const { response } = this;
    if (response.headersSent || response.destroyed) return;
    const { retryAfterSeconds } = refusal;
    if (retryAfterSeconds !== undefined) response.setHeader('Retry-After', retryAfterSeconds);
    for (const [name, value] of Object.entries(headers)) if (value !== undefined) response.setHeader(name, value);
    this.json(refusal.status, errorToJson(refusal.text));
    discardBody(this.request);
  }

  #write(
    status: number,
    contentType: string,
    bytes: number,
    body: string,
    encoding: BufferEncoding,
    syncToken: string | undefined,
  ): void {
    const { response, context, spelling } = this;
    if (response.destroyed) return;
    const headers: OutgoingHttpHeaders = { 'Content-Type': contentType, 'Content-Length': bytes };
    if (syncToken !== undefined) headers[spelling.nameOf('Sync-Token')] = syncToken;
    const { origin } = this.request.headers;
    if (origin !== undefined) Object.assign(headers, context.cors.answerHeaders(origin));
    if (context.isDraining) headers.Connection = 'close';
    response.writeHead(status, headers);
    response.end(body, encoding);
  }
}
