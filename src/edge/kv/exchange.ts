/**
 * One request and its answer: what has been found out about the request, and the only place that writes.
 *
 * Invariants
 *  EX1 an answer is written once, headers and body together, with its length; only what is long leaves in pieces,
 *      each when the client has read what came before
 *  EX2 refusals are plain JSON, whatever format was asked for
 */
import type { ServerResponse } from 'node:http';
import { errorToJson } from '../../codec/json/index.js';
import type { ByteString } from '../../kernel/index.js';
import type { Refusal } from '../error-map.js';
import { whenDrained } from '../http/answer.js';
import { answerUnread, discardBody, endInOnePiece, type FaceRequest, isLongBody } from '../http/index.js';
import type { Spelling } from '../wire-alias.js';
import type { Cors } from './cors.js';
import type { ResponseFormat } from './response-format.js';

/** What every answer of the face depends on. */
export interface AnswerContext {
  readonly cors: Cors;
  readonly isDraining: boolean;
}

const KEEPALIVE_PROBE_MS = 30_000;
const JSON_TYPE = 'application/json';
const RESP2_TYPE = 'application/octet-stream';

export class KvExchange {
  format: ResponseFormat = 'json';
  #leavesBody = false;

  constructor(
    readonly request: FaceRequest,
    readonly response: ServerResponse,
    readonly spelling: Spelling,
    private readonly context: AnswerContext,
  ) {}

  json(status: number, text: string, syncToken?: string): number {
    const bytes = Buffer.byteLength(text);
    this.#write(status, JSON_TYPE, bytes, text, 'utf8', syncToken);
    return bytes;
  }

  /** @param resp replies as a connection of the native protocol would read them */
  resp2(status: number, resp: ByteString, syncToken?: string): number {
    this.#write(status, RESP2_TYPE, resp.length, resp, 'latin1', syncToken);
    return resp.length;
  }

  /** Begins an answer whose pieces follow. */
  beginPieces(syncToken: string | undefined): void {
    const { response, format } = this;
    const contentType = format === 'resp2' ? RESP2_TYPE : JSON_TYPE;
    if (!response.destroyed) response.writeHead(200, this.#headers(contentType, undefined, syncToken));
  }

  /** Waits until the client has read what there was. @returns bytes of the piece */
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

  /** Headers of an answer that goes on for as long as its client listens. */
  beginStream(contentType: string): void {
    const { response, context, request } = this;
    const { origin } = request.headers;
    const cors = origin === undefined ? {} : context.cors.answerHeaders(origin);
    // Proxies that buffer would hold back what is to be heard at once.
    response.writeHead(200, {
      ...cors,
      'Content-Type': contentType,
      'Cache-Control': 'no-cache',
      'X-Accel-Buffering': 'no',
    });
    // Nothing may come for hours; a dead peer is found out by the system's probes and by keepalives.
    response.socket?.setTimeout(0);
    response.socket?.setKeepAlive(true, KEEPALIVE_PROBE_MS);
  }

  /** Everything that is not a command's own answer (EX2). */
  refuse(refusal: Refusal, headers: Readonly<Record<string, string>> = {}): void {
    const { response } = this;
    if (response.headersSent || response.destroyed) return;
    const { retryAfterSeconds } = refusal;
    if (retryAfterSeconds !== undefined) response.setHeader('Retry-After', retryAfterSeconds);
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    this.json(refusal.status, errorToJson(refusal.text));
    if (!this.#leavesBody) discardBody(this.request);
  }

  /** Refuses somebody who may not come in: a long body is not read, and then the answer is the connection's last. */
  refuseStranger(refusal: Refusal, headers: Readonly<Record<string, string>> = {}): void {
    this.#leavesBody = isLongBody(this.request);
    this.refuse(refusal, headers);
  }

  /** What a browser asks before it sends a request. Anybody may ask, so a long body is not read. */
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

  #write(
    status: number,
    contentType: string,
    bytes: number,
    body: string,
    encoding: BufferEncoding,
    syncToken: string | undefined,
  ): void {
    const { response } = this;
    if (response.destroyed) return;
    response.writeHead(status, this.#headers(contentType, bytes, syncToken));
    if (this.#leavesBody) answerUnread(this.request, response, body);
    else endInOnePiece(response, body, encoding, bytes);
  }

  /** @param bytes of the body; undefined: nobody knows yet */
  #headers(contentType: string, bytes: number | undefined, syncToken: string | undefined): string[] {
    const { context, spelling } = this;
    // A flat list: Node copies an object of headers name by name.
    const headers = ['Content-Type', contentType];
    if (bytes !== undefined) headers.push('Content-Length', String(bytes));
    if (syncToken !== undefined) headers.push(spelling.nameOf('Sync-Token'), syncToken);
    const { method, headers: asked } = this.request;
    const { origin } = asked;
    if (origin !== undefined && method !== 'OPTIONS') {
      for (const [name, value] of Object.entries(context.cors.answerHeaders(origin))) headers.push(name, String(value));
    }
    if (context.isDraining || this.#leavesBody) headers.push('Connection', 'close');
    return headers;
  }
}
