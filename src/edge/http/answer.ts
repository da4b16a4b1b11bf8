/**
 * How an answer whose text is there is written, by every face.
 *
 *  AW1 it is written once, head and body together, with its length
 *  AW2 nothing is written to a client that has gone, or that has been answered
 *  AW3 what is left of a refused request's body is thrown away; of a long one that is not read the rest is not taken
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RefusedRequest } from './refused.js';
import { answerUnread, discardBody } from './request-body.js';

/** Joining costs a copy; beyond this it is more than what is saved. */
const MAX_PIECE_BYTES = 16 * 1024;

/**
 * Node's `end(body)` writes head and body as one string and then an empty one, which makes a vector of two
 * and costs a tenth of a small request. Behind the head the body leaves with it in a plain write. The head
 * is written as Latin-1, so this is for bodies of one byte a character; and where a version of Node keeps
 * its head elsewhere, the ordinary way is taken. docs/adr/0012-one-piece.md has the figures.
 */
export function endInOnePiece(response: ServerResponse, body: string, encoding: BufferEncoding, bytes: number): void {
  const inside = response as unknown as { _header?: unknown };
  const fits = bytes === body.length && bytes < MAX_PIECE_BYTES && response.req.method !== 'HEAD';
  if (!fits || typeof inside._header !== 'string') {
    response.end(body, fits ? 'latin1' : encoding);
    return;
  }
  inside._header += body;
  response.end();
}

/** A request and what is answered to it. */
export interface HttpExchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

export interface Answer {
  readonly status: number;
  readonly text: string;
  /** Left out: JSON; '' for an answer without a body. */
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The connection ends with it. */
  readonly isLast: boolean;
  /** Not a byte more of the request's body is read: the connection's last answer, too. */
  readonly leavesBody?: boolean;
}

/** Headers of answers that hold secrets, or data of tenants. */
export const PRIVATE_HEADERS = { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' } as const;

/** @returns bytes of the body; 0 when nothing was written */
export function write(response: ServerResponse, answer: Answer): number {
  if (response.destroyed || response.headersSent) return 0;
  const { status, text, type = 'application/json', headers, isLast, leavesBody = false } = answer;
  const bytes = Buffer.byteLength(text);
  // A flat list: Node copies an object of headers name by name.
  const list = ['Content-Length', String(bytes)];
  if (type !== '') list.push('Content-Type', type);
  for (const name in headers) list.push(name, headers[name] as string);
  if (isLast || leavesBody) list.push('Connection', 'close');
  response.writeHead(status, list);
  if (leavesBody) answerUnread(response.req, response, text);
  else endInOnePiece(response, text, 'utf8', bytes);
  return bytes;
}

/** Resolves when the client has read what it was offered, or has gone. */
export function whenDrained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const goOn = () => {
      response.off('drain', goOn).off('close', goOn);
      resolve();
    };
    response.on('drain', goOn).on('close', goOn);
  });
}

export interface Refusing extends Omit<Answer, 'status' | 'text'> {
  /** Left out: `{"error": "…"}`. */
  readonly text?: string;
}

export function writeRefusal(
  { request, response }: HttpExchange,
  refused: Pick<RefusedRequest, 'refusal' | 'headers'>,
  how: Refusing,
): void {
  const { refusal } = refused;
  const { text = JSON.stringify({ error: refusal.text }), leavesBody = false, headers } = how;
  write(response, { ...how, status: refusal.status, text, headers: { ...headers, ...headersOf(refused) } });
  if (!leavesBody) discardBody(request);
}

function headersOf({
  refusal: { retryAfterSeconds },
  headers,
}: Pick<RefusedRequest, 'refusal' | 'headers'>): Readonly<Record<string, string>> {
  return retryAfterSeconds === undefined ? headers : { ...headers, 'Retry-After': String(retryAfterSeconds) };
}
