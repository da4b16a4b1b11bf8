/**
 * The members of requests and responses that the endpoints with plain requests use. Node's objects have them, and
 * those of plain-exchange.ts.
 */
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import type { Span } from '../../protocol/index.js';

export interface HttpRequest {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: IncomingHttpHeaders;
  /** Alternating names and values. */
  readonly rawHeaders: readonly string[];
  readonly socket: Socket;
  /** The whole request has arrived. */
  readonly complete: boolean;
}

/** A request that a server of ours has received. */
export interface ReceivedRequest extends HttpRequest {
  /** The label in metrics: the declared route, after it was found. */
  route: string;
  /** Undefined: not traced. */
  trace: Span | undefined;
}

export interface HttpResponse {
  readonly req: HttpRequest;
  readonly headersSent: boolean;
  readonly closed: boolean;
  readonly destroyed: boolean;
  readonly writableEnded: boolean;
  setHeader(name: string, value: string | number): unknown;
  /** @param headers alternating names and values, or an object */
  writeHead(status: number, headers: string[] | OutgoingHttpHeaders): unknown;
  /** @returns whether the socket took the piece; if not, `drain` follows */
  write(piece: string, encoding: BufferEncoding): boolean;
  end(piece?: string, encoding?: BufferEncoding): unknown;
  /** Closes the connection in the middle of the answer. */
  destroy(): unknown;
  on(event: 'close' | 'drain', listener: () => void): unknown;
  once(event: 'close' | 'drain', listener: () => void): unknown;
  off(event: 'close' | 'drain', listener: () => void): unknown;
}

export interface HttpExchange {
  readonly request: HttpRequest;
  readonly response: HttpResponse;
}
