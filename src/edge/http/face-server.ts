/**
 * A face as a server: sockets, their bounds, and an orderly end.
 *
 * Invariants
 *  S1 Node's strict parser only; a request that it refuses is answered once and its connection closed
 *  S2 a slow or silent client costs a connection for a bounded time, and one address a bounded share
 *  S3 after `close` began no connection is accepted, and what is in flight is answered as its connection's last
 */
import http, { type ServerResponse } from 'node:http';
import https from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { errorToJson } from '../../codec/json/index.js';
import type { Refusal } from '../error-map.js';
import type { HttpLimits } from './http-limits.js';
import { FaceRequest } from './request-body.js';

/** PEM texts. */
export interface TlsTexts {
  readonly cert: string | Buffer;
  readonly key: string | Buffer;
}

/** What a face does with what its sockets bring. */
export interface FaceBehaviour {
  /** Synchronously: a body's pieces follow in the same tick. */
  handle(request: FaceRequest, response: ServerResponse): void;
  /** Of a tunnel, which no face makes; and the methods that it takes instead. */
  readonly connectRefusal: Refusal;
  readonly allowedMethods: string;
  /** Of bytes that are not HTTP, by Node's code for what is wrong with them. */
  protocolRefusal(code: string | undefined): Refusal;
  /** From here on every answer is its connection's last. */
  drain(): void;
}

export interface FaceServer {
  /** @returns the address that is listened on, with the real port. @throws what `listen` reports: EADDRINUSE … */
  listen(port: number, host: string): Promise<AddressInfo>;
  /** Resolves when every connection has ended: after what is in flight, or once `deadline` is aborted. */
  close(deadline?: AbortSignal): Promise<void>;
}

export function createFaceServer(limits: HttpLimits, tls: TlsTexts | undefined, face: FaceBehaviour): FaceServer {
  const server = boundedServer(limits, tls);
  const sockets = new SocketRegister(limits.maxConnectionsPerAddress);
  server.on('request', (request, response) => face.handle(request, response));
  // Answered before the body is sent for; the handler asks for it when it wants it.
  server.on('checkContinue', (request, response) => face.handle(request, response));
  server.on('connect', (_request, socket) => refuseRaw(socket, face.connectRefusal, `Allow: ${face.allowedMethods}`));
  server.on('clientError', (error: NodeJS.ErrnoException, socket) =>
    refuseRaw(socket, face.protocolRefusal(error.code)),
  );
  server.on('connection', (socket: Socket) => sockets.add(socket));

  return {
    listen: (port, host) =>
      new Promise((resolve, reject) => {
        server.once('error', reject);
        server.listen({ port, host, backlog: limits.listenBacklog }, () => {
          server.off('error', reject);
          resolve(server.address() as AddressInfo);
        });
      }),
    close: (deadline) =>
      new Promise((resolve) => {
        face.drain();
        const cut = () => server.closeAllConnections();
        server.close(() => {
          deadline?.removeEventListener('abort', cut);
          resolve();
        });
        sockets.endSilent();
        if (deadline?.aborted) cut();
        else deadline?.addEventListener('abort', cut, { once: true });
      }),
  };
}

function boundedServer(limits: HttpLimits, tls: TlsTexts | undefined): http.Server<typeof FaceRequest> {
  const options: http.ServerOptions<typeof FaceRequest> = {
    IncomingMessage: FaceRequest,
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    connectionsCheckingInterval: limits.connectionsCheckingIntervalMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    maxHeaderSize: limits.maxHeaderBytes,
    insecureHTTPParser: false,
    noDelay: true,
  };
  const server = tls === undefined ? http.createServer(options) : https.createServer({ ...options, ...tls });
  server.timeout = limits.stalledSocketTimeoutMs;
  server.maxHeadersCount = limits.maxHeadersCount;
  server.maxConnections = limits.maxConnections;
  server.maxRequestsPerSocket = limits.maxRequestsPerSocket;
  return server;
}

/** Answers on a socket that has no response object, and ends it. */
function refuseRaw(socket: Duplex, refusal: Refusal, ...headers: string[]): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const body = errorToJson(refusal.text);
  const head = [
    `HTTP/1.1 ${refusal.status} ${http.STATUS_CODES[refusal.status]}`,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
    'Connection: close',
    ...headers,
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
}

/** Who is connected: counts by address (S2), and knows which sockets never said anything. */
class SocketRegister {
  readonly #sockets = new Set<Socket>();
  readonly #countByAddress = new Map<string, number>();

  constructor(private readonly maxPerAddress: number) {}

  add(socket: Socket): void {
    const address = socket.remoteAddress ?? '';
    const count = (this.#countByAddress.get(address) ?? 0) + 1;
    this.#countByAddress.set(address, count);
    this.#sockets.add(socket);
    socket.once('close', () => this.#remove(socket, address));
    if (count > this.maxPerAddress) socket.destroy();
  }

  /** Node counts a connection without a first request as busy, and would wait for its header timeout. */
  endSilent(): void {
    for (const socket of this.#sockets) if (socket.bytesRead === 0) socket.destroy();
  }

  #remove(socket: Socket, address: string): void {
    this.#sockets.delete(socket);
    const count = (this.#countByAddress.get(address) ?? 1) - 1;
    if (count === 0) this.#countByAddress.delete(address);
    else this.#countByAddress.set(address, count);
  }
}
