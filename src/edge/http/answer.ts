/**
 * Writing of complete answers, for every endpoint.
 *
 *  AW1 an answer is written once, with its length
 *  AW2 no answer is written to a client that has disconnected or already has one
 *  AW3 the rest of a refused request's body is discarded; the rest of a long body is left unread
 */
import type { HttpExchange, HttpResponse } from './exchange.js';
import type { RefusedRequest } from './refused.js';
import { answerUnread, discardBody } from './request-body.js';

export interface Answer {
  readonly status: number;
  readonly text: string;
  /** Default: JSON. '' for an answer without a body. */
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Closes the connection after the answer. */
  readonly isLast: boolean;
  /** Reads no further byte of the request's body; this also closes the connection. */
  readonly leavesBody?: boolean;
}

/** Headers of answers with secrets or tenants' data. */
export const PRIVATE_HEADERS = { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' } as const;

/** @returns the bytes of the body; 0 if the answer was not written */
export function write(response: HttpResponse, answer: Answer): number {
  if (response.destroyed || response.headersSent) return 0;
  const { status, text, type = 'application/json', headers, isLast, leavesBody = false } = answer;
  const bytes = Buffer.byteLength(text);
  // A flat list is faster: Node copies an object of headers one by one.
  const list = ['Content-Length', String(bytes)];
  if (type !== '') list.push('Content-Type', type);
  for (const name in headers) list.push(name, headers[name] as string);
  if (isLast || leavesBody) list.push('Connection', 'close');
  response.writeHead(status, list);
  if (leavesBody) answerUnread(response.req, response, text);
  else response.end(text, encodingFor(text, bytes));
  return bytes;
}

/**
 * Node joins the head and a Latin-1 body into one write. A body of ASCII characters has the same bytes in both
 * encodings.
 */
export function encodingFor(text: string, bytes: number): BufferEncoding {
  return bytes === text.length ? 'latin1' : 'utf8';
}

/** Resolves when the client has read the written bytes, or has disconnected. */
export function whenDrained(response: HttpResponse): Promise<void> {
  return new Promise((resolve) => {
    const goOn = () => {
      response.off('drain', goOn);
      response.off('close', goOn);
      resolve();
    };
    response.on('drain', goOn);
    response.on('close', goOn);
  });
}

export interface Refusing extends Omit<Answer, 'status' | 'text'> {
  /** Default: `{"error": "…"}`. */
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
