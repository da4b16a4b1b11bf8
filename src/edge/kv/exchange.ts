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

const KEEPALIVE_PROBE_MS = 30_000;
/** Joining costs a copy; beyond this it is more than what is saved. */
const MAX_PIECE_BYTES = 16 * 1024;

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
    // A flat list: Node copies an object of headers name by name.
    const headers = ['Content-Type', contentType, 'Content-Length', String(bytes)];
    if (syncToken !== undefined) headers.push(spelling.nameOf('Sync-Token'), syncToken);
    const { origin } = this.request.headers;
    if (origin !== undefined) {
      for (const [name, value] of Object.entries(context.cors.answerHeaders(origin))) headers.push(name, String(value));
    }
    if (context.isDraining) headers.push('Connection', 'close');
    response.writeHead(status, headers);
    endInOnePiece(response, body, encoding, bytes);
  }
}

/**
 * Node's `end(body)` writes head and body as one string and then an empty one, which makes a vector of two
 * and costs a tenth of a small request. Behind the head the body leaves with it in a plain write. The head
 * is written as Latin-1, so this is for bodies of one byte a character; and where a version of Node keeps
 * its head elsewhere, the ordinary way is taken. docs/adr/0012-one-piece.md has the figures.
 */
function endInOnePiece(response: ServerResponse, body: string, encoding: BufferEncoding, bytes: number): void {
  const inside = response as unknown as { _header?: unknown };
  const fits = bytes === body.length && bytes < MAX_PIECE_BYTES && response.req.method !== 'HEAD';
  if (!fits || typeof inside._header !== 'string') {
    response.end(body, encoding);
    return;
  }
  inside._header += body;
  response.end();
}
