/**
 * One request and its answer: the negotiated format, and the only place that writes the answer.
 *
 *  EX1 an answer is written once, headers and body together, with its length; only a long answer is sent in pieces,
 *      each after the client has read the one before
 *  EX2 refusals are plain JSON in every requested format
 */
import { errorToJson } from '../../codec/json/index.js';
import type { ByteString } from '../../kernel/index.js';
import type { Refusal } from '../error-map.js';
import { whenDrained } from '../http/answer.js';
import type { HttpResponse, ReceivedRequest } from '../http/exchange.js';
import { answerUnread, discardBody, encodingFor, isLongBody } from '../http/index.js';
import type { Spelling } from '../wire-alias.js';
import type { Cors } from './cors.js';
import type { ResponseFormat } from './response-format.js';

/** The parts of the endpoint that every answer depends on. */
export interface AnswerContext {
  readonly cors: Cors;
  readonly isDraining: boolean;
}

const KEEPALIVE_PROBE_MS = 30_000;
const JSON_TYPE = 'application/json';
const RESP2_TYPE = 'application/octet-stream';

const INDEX_LAG = 'Millrace-Index-Lag';

export class KvExchange {
  format: ResponseFormat = 'json';
  /** Changes that the asked indexes do not have yet; undefined: none was asked. */
  indexLag: number | undefined;
  #leavesBody = false;

  constructor(
    readonly request: ReceivedRequest,
    readonly response: HttpResponse,
    readonly spelling: Spelling,
    private readonly context: AnswerContext,
    /** The client is a page of this process, which needs no CORS headers. */
    private readonly isOfOwnPage = false,
  ) {}

  json(status: number, text: string, syncToken?: string): number {
    const bytes = Buffer.byteLength(text);
    this.#write(status, JSON_TYPE, bytes, text, syncToken);
    return bytes;
  }

  /** @param resp replies as on a RESP connection */
  resp2(status: number, resp: ByteString, syncToken?: string): number {
    this.#write(status, RESP2_TYPE, resp.length, resp, syncToken);
    return resp.length;
  }

  /** Begins an answer whose pieces follow. */
  beginPieces(syncToken: string | undefined): void {
    const { response, format } = this;
    const contentType = format === 'resp2' ? RESP2_TYPE : JSON_TYPE;
    if (!response.destroyed) response.writeHead(200, this.#headers(contentType, undefined, syncToken));
  }

  /** Waits until the client has read the piece. @returns bytes of the piece */
  async send(piece: string): Promise<number> {
    const { response } = this;
    if (!response.destroyed && !response.write(piece, this.#encoding)) await whenDrained(response);
    return Buffer.byteLength(piece, this.#encoding);
  }

  /** @returns bytes of the last piece */
  endPieces(piece: string): number {
    this.response.end(piece, this.#encoding);
    return Buffer.byteLength(piece, this.#encoding);
  }

  get #encoding(): BufferEncoding {
    return this.format === 'resp2' ? 'latin1' : 'utf8';
  }

  /** Headers of an answer that lasts as long as its client listens. */
  beginStream(contentType: string): void {
    const { response, context, request } = this;
    const { origin } = request.headers;
    const cors = origin === undefined ? {} : context.cors.answerHeaders(origin);
    // Buffering proxies would delay the events.
    response.writeHead(200, {
      ...cors,
      'Content-Type': contentType,
      'Cache-Control': 'no-cache',
      'X-Accel-Buffering': 'no',
    });
    // A stream may be quiet for hours; TCP probes and keepalives detect a dead peer.
    request.socket.setTimeout(0);
    request.socket.setKeepAlive(true, KEEPALIVE_PROBE_MS);
  }

  /** Answers with an error that is not a command's own (EX2: refusals are plain JSON). */
  refuse(refusal: Refusal, headers: Readonly<Record<string, string>> = {}): void {
    const { response } = this;
    if (response.headersSent || response.destroyed) return;
    const { retryAfterSeconds } = refusal;
    if (retryAfterSeconds !== undefined) response.setHeader('Retry-After', retryAfterSeconds);
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    this.json(refusal.status, errorToJson(refusal.text));
    if (!this.#leavesBody) discardBody(this.request);
  }

  /** Refuses a client without valid credentials: a long body is not read, and then the connection closes. */
  refuseStranger(refusal: Refusal, headers: Readonly<Record<string, string>> = {}): void {
    this.#leavesBody = isLongBody(this.request);
    this.refuse(refusal, headers);
  }

  /** Answers a browser's preflight. Any client may send one, so a long body is not read. */
  answerPreflight(): void {
    const { request, response, context } = this;
    if (response.destroyed) return;
    const leavesBody = isLongBody(request);
    const headers = context.cors.preflightHeaders(String(request.headers.origin));
    const connection = context.isDraining || leavesBody ? { Connection: 'close' } : {};
    response.writeHead(200, { ...headers, ...connection, 'Content-Length': 0 });
    if (leavesBody) answerUnread(request, response, '');
    else {
      response.end();
      discardBody(request);
    }
  }

  #write(status: number, contentType: string, bytes: number, body: string, syncToken: string | undefined): void {
    const { response } = this;
    if (response.destroyed) return;
    response.writeHead(status, this.#headers(contentType, bytes, syncToken));
    if (this.#leavesBody) answerUnread(this.request, response, body);
    else response.end(body, encodingFor(body, bytes));
  }

  /** @param bytes of the body; undefined: not known yet */
  #headers(contentType: string, bytes: number | undefined, syncToken: string | undefined): string[] {
    const { context, spelling } = this;
    // A flat list is faster: Node copies an object of headers one by one.
    const headers = ['Content-Type', contentType];
    if (bytes !== undefined) headers.push('Content-Length', String(bytes));
    if (syncToken !== undefined) headers.push(spelling.nameOf('Sync-Token'), syncToken);
    if (this.indexLag !== undefined) headers.push(INDEX_LAG, String(this.indexLag));
    const { method, headers: asked } = this.request;
    const { origin } = asked;
    if (origin !== undefined && method !== 'OPTIONS' && !this.isOfOwnPage) {
      for (const [name, value] of Object.entries(context.cors.answerHeaders(origin))) headers.push(name, String(value));
    }
    if (context.isDraining || this.#leavesBody) headers.push('Connection', 'close');
    return headers;
  }
}
