/**
 * The key-value face as a server: sockets, their bounds, and an orderly end.
 *
 * Invariants
 *  S1 Node's strict parser only; a request that it refuses is answered once and its connection closed
 *  S2 a slow or silent client costs a connection for a bounded time, and one address a bounded share
 *  S3 after `close` began no connection is accepted, and what is in flight is answered as its connection's last
 */
import http from 'node:http';
import https from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { errorToJson } from '../../codec/json/index.js';
import { protocolRefusal, REFUSALS, type Refusal } from '../error-map.js';
import { ALLOWED_METHODS } from './cors.js';
import { createFallback } from './fallback-app.js';
import { KvFace, type KvFaceParts } from './kv-face.js';
import { KvHandler } from './kv-handler.js';
import { DEFAULT_KV_FACE_LIMITS, type KvFaceLimits } from './kv-limits.js';
import { KvIncomingMessage } from './request-body.js';

export interface KvServerParts extends Omit<KvFaceParts, 'limits' | 'aliases'> {
  /** Those not given have their defaults. */
  readonly limits?: Partial<KvFaceLimits>;
  readonly aliases?: KvFaceParts['aliases'];
  /** PEM texts; without them the face speaks plain HTTP. */
  readonly tls?: { readonly cert: string | Buffer; readonly key: string | Buffer };
}

export interface KvServer {
  /** @returns the address that is listened on, with the real port. @throws what `listen` reports: EADDRINUSE … */
  listen(port: number, host: string): Promise<AddressInfo>;
  /** Resolves when every connection has ended: after what is in flight, or once `deadline` is aborted. */
  close(deadline?: AbortSignal): Promise<void>;
}

export function createKvServer(parts: KvServerParts): KvServer {
  const limits = { ...DEFAULT_KV_FACE_LIMITS, ...parts.limits };
  const face = new KvFace({ ...parts, limits, aliases: parts.aliases ?? [] });
  const handler = new KvHandler(face, createFallback(face));
  const server = boundedServer(limits, parts.tls);
  const sockets = new SocketRegister(limits.maxConnectionsPerAddress);
  server.on('request', (request, response) => handler.handle(request, response));
  // Answered before the body is sent for; the handler asks for it when it wants it.
  server.on('checkContinue', (request, response) => handler.handle(request, response));
  server.on('connect', (_request, socket) => refuseRaw(socket, REFUSALS.methodNotAllowed, `Allow: ${ALLOWED_METHODS}`));
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => refuseRaw(socket, protocolRefusal(error.code)));
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
        face.answers.isDraining = true;
        handler.close();
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

type FaceServer = http.Server<typeof KvIncomingMessage>;

function boundedServer(limits: KvFaceLimits, tls: KvServerParts['tls']): FaceServer {
  const options: http.ServerOptions<typeof KvIncomingMessage> = {
    IncomingMessage: KvIncomingMessage,
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
