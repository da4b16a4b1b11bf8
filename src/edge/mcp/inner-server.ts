/**
 * Calls of the management port inside this process, over a pair of streams instead of a socket: they pass the same
 * checks as a client's calls, and need no address, port or certificate of this process.
 */
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { type Duplex, duplexPair, Readable } from 'node:stream';
import { EndpointRequest } from '../http/request-body.js';

export interface InnerCall {
  readonly method: string;
  readonly path: string;
  readonly headers: Headers;
  readonly body: string | undefined;
  /** The client's, for the audit log. */
  readonly address: string;
  readonly signal: AbortSignal;
}

/** Statuses of answers without a body. */
const EMPTY_STATUSES = new Set([204, 205, 304]);

export class InnerServer {
  readonly #server;

  constructor(handle: (request: IncomingMessage, response: ServerResponse) => void) {
    this.#server = createServer({ IncomingMessage: EndpointRequest, keepAliveTimeout: 1 }, handle);
  }

  /** @throws Error if the connection ends before the answer */
  send({ method, path, headers, body, address, signal }: InnerCall): Promise<Response> {
    const asked = { method, path, headers: Object.fromEntries(headers), signal };
    return new Promise((resolve, reject) => {
      const call = request({ ...asked, createConnection: () => this.#connection(address) }, (answer) => {
        answer.once('close', () => call.destroy());
        resolve(responseOf(answer));
      });
      call.on('error', reject);
      call.end(body);
    });
  }

  #connection(address: string): Duplex {
    const [near, far] = duplexPair();
    // The endpoints read the client's address from the connection.
    this.#server.emit('connection', Object.assign(far, { remoteAddress: address }));
    return near;
  }
}

function responseOf(answer: IncomingMessage): Response {
  const { statusCode: status = 500 } = answer;
  const headers = new Headers();
  for (const [name, value] of Object.entries(answer.headersDistinct)) {
    for (const one of value ?? []) headers.append(name, one);
  }
  if (EMPTY_STATUSES.has(status)) {
    answer.resume();
    return new Response(null, { status, headers });
  }
  return new Response(Readable.toWeb(answer) as ReadableStream<Uint8Array>, { status, headers });
}
