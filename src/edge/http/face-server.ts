/**
 * A face as a server: sockets, their bounds, and an orderly end.
 *
 * Invariants
 *  FSE1 Node's strict parser, or one that takes less and leaves the rest to it (plain-head.ts); a request that it refuses is answered once and its connection closed
 *  FSE2 a slow or silent client costs a connection for a bounded time, and one address a bounded share
 *  FSE3 after `close` began no connection is accepted, and every answer is its connection's last; after `leave`, which
 *       comes before it, too, and connections are still accepted
 *  FSE4 a request names one host: with two, whoever is in front may have looked at the other one; one of HTTP/1.0 may
 *       name none. Refusals of it are in the face's words, and Node's own never go out
 *  FSE5 a request has no more headers than are read: those behind would be lost, its length among them
 *  FSE6 a request that nobody could judge right now waits until somebody can
 *  FSE7 a connection that is in use ends behind an answer, never with a request on its way to it: those without a request
 *       stay open until nothing was asked over any of them for a while
 */
import http, { type ServerResponse } from 'node:http';
import https from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { errorToJson } from '../../codec/json/index.js';
import type { Clock, Freshness, Metrics, Timers, Tracing } from '../../ports/index.js';
import type { Refusal } from '../error-map.js';
import type { HttpLimits } from './http-limits.js';
import { listen, stopAccepting, untilSilent } from './listening.js';
import { PlainConnections, type PlainParts } from './plain-connections.js';
import { FaceRequest } from './request-body.js';
import { CLIENT_GONE, RequestMetrics } from './request-metrics.js';
import { endRequest, RequestTraces } from './request-traces.js';
import { lookForSlowClients } from './slow-clients.js';

const HOST = 'host';
/** Node's code for headers that are too large. */
const HEADERS_TOO_LARGE = 'HPE_HEADER_OVERFLOW';
/** Node's code for a request that does not come. */
const REQUEST_TIMEOUT = 'ERR_HTTP_REQUEST_TIMEOUT';

/** PEM texts. */
export interface TlsTexts {
  readonly cert: string | Buffer;
  readonly key: string | Buffer;
}

/** What a face does with what its sockets bring. */
export interface FaceBehaviour {
  /** Synchronously: a body's pieces follow in the same tick. */
  handle(request: FaceRequest, response: ServerResponse): void;
  /** What a client hears that asks for a tunnel, which no face makes; and the methods that the face takes instead. */
  readonly connectRefusal: Refusal;
  readonly allowedMethods: string;
  /** What a client hears whose bytes are not HTTP, by Node's code for what is wrong with them. */
  protocolRefusal(code: string | undefined): Refusal;
  /** A connection could not be accepted: the machine has no room for it. */
  acceptFailed(error: Error): void;
  /** From here on every answer is its connection's last. */
  drain(): void;
  /**
   * Of a face whose `handle` gets by with what plain-exchange.ts has of plain requests, and hands over what it cannot.
   * Left out: Node's server has them all.
   */
  readonly takesPlain?: boolean;
}

export interface FaceServerParts {
  readonly limits: HttpLimits;
  readonly clock: Clock;
  readonly timers: Timers;
  /** Its first word in the log. */
  readonly name: string;
  readonly metrics: Metrics;
  /** Left out: nothing is traced. */
  readonly tracing?: Tracing | undefined;
  readonly tls?: TlsTexts | undefined;
  /** Left out: every request is handled at once. */
  readonly freshness?: Freshness | undefined;
}

export interface FaceServer {
  /** A request that came in by another face of this process, judged as if by this one. */
  handle(request: FaceRequest, response: ServerResponse): void;
  /** @returns the address that is listened on, with the real port. @throws what `listen` reports: EADDRINUSE … */
  listen(port: number, host: string): Promise<AddressInfo>;
  /** It will be closed soon: clients do well to come back elsewhere. */
  leave(): void;
  /** Resolves when every connection has ended: after what is in flight, or once `deadline` is aborted. */
  close(deadline?: AbortSignal): Promise<void>;
}

export function createFaceServer(parts: FaceServerParts, face: FaceBehaviour): FaceServer {
  const { limits, tls, clock, timers, freshness, name, metrics, tracing } = parts;
  const told = { requests: new RequestMetrics(name, metrics), traces: tracing && new RequestTraces(name, tracing) };
  const server = boundedServer(limits, tls);
  const mostHeaderParts = 2 * limits.maxHeadersCount; // Names and values in turn.
  let isLeaving = false;
  /** When something was asked last, or somebody connected. */
  let usedAtMs = Number.NEGATIVE_INFINITY;
  const handle = (request: FaceRequest, response: ServerResponse) => {
    usedAtMs = clock.nowMs();
    if (isLeaving) response.shouldKeepAlive = false;
    tell(request, response, told, clock);
    const isTooLong = request.rawHeaders.length > mostHeaderParts; // FSE5
    if (isTooLong || !hasOneHost(request)) {
      refuse(response, face.protocolRefusal(isTooLong ? HEADERS_TOO_LARGE : undefined));
      return;
    }
    if (freshness === undefined || freshness.isFresh) face.handle(request, response);
    else void handleWhenFresh(request, () => face.handle(request, response), freshness);
  };
  const sockets = new SocketRegister(limits.maxConnectionsPerAddress);
  metrics.gauge('millrace_connections', () => sockets.size, name);
  server.on('request', handle);
  // The first is answered before the body is sent for; the handler asks for it when it wants it. A client may expect other
  // things: nothing is promised, and what it asks is answered all the same.
  for (const event of ['checkContinue', 'checkExpectation']) server.on(event, handle);
  server.on('connect', (_request, socket) => refuseRaw(socket, face.connectRefusal, `Allow: ${face.allowedMethods}`));
  server.on('clientError', ({ code }: NodeJS.ErrnoException, socket) => refuseRaw(socket, face.protocolRefusal(code)));
  const isPlainToo = face.takesPlain === true && tls === undefined && limits.maxRequestsPerSocket === 0;
  const plain = isPlainToo ? plainConnectionsOf(server, parts, face, told) : undefined;
  lookForSlowClients(server, limits.connectionsCheckingIntervalMs);
  server.on('connection', (socket: Socket) => {
    usedAtMs = clock.nowMs();
    sockets.add(socket);
    if (!socket.destroyed) plain?.add(socket);
  });

  const leave = () => {
    isLeaving = true;
    plain?.leave();
  };
  return {
    handle: face.handle,
    listen: (port, host) =>
      listen(server, { port, host, backlog: limits.listenBacklog, acceptFailed: (error) => face.acceptFailed(error) }),
    leave,
    close: async (deadline) => {
      const closed = await stopAccepting(server, { timers, cut: () => sockets.endAll(), deadline });
      // Not before: whoever hears that his connection ends makes another one.
      face.drain();
      leave();
      await untilSilent(() => clock.nowMs() - Math.max(usedAtMs, plain?.usedAtMs ?? usedAtMs), { timers, closed });
      sockets.endSilent();
      plain?.end();
      // Lets nobody in any more already: this ends the idle ones among Node's own.
      server.close();
      await closed.promise;
    },
  };
}

/** In front of Node's own listener, which gets the connections that are handed over. */
function plainConnectionsOf(
  server: http.Server,
  { limits, clock, freshness }: FaceServerParts,
  face: FaceBehaviour,
  told: Told,
): PlainConnections {
  const [accept] = server.listeners('connection');
  server.removeAllListeners('connection');
  return new PlainConnections({
    clock,
    limits,
    ...told,
    // What is there of both is all that such a face uses.
    handle: (request, response) =>
      face.handle(request as unknown as FaceRequest, response as unknown as ServerResponse),
    accept: (socket) => accept?.call(server, socket),
    isFresh: () => freshness === undefined || freshness.isFresh,
    refuseSilent: (socket) => refuseRaw(socket, face.protocolRefusal(REQUEST_TIMEOUT)),
  });
}

/** Who is told of each request. */
type Told = Pick<PlainParts, 'requests' | 'traces'>;

/** A client that goes before its answer has a status of its own. */
function tell(request: FaceRequest, response: ServerResponse, { requests, traces }: Told, clock: Clock): void {
  if (traces !== undefined) request.trace = traces.begin(request);
  const askedAtMs = clock.monotonicMs();
  response.once('close', () => {
    const status = response.headersSent ? response.statusCode : CLIENT_GONE;
    requests.answered(request.route, status, clock.monotonicMs() - askedAtMs);
    if (request.trace !== undefined) endRequest(request.trace, request.method, request.route, status);
  });
}

/** FSE6. When it has waited for long enough the request is handled all the same, and hears why it cannot be. */
async function handleWhenFresh(request: FaceRequest, handle: () => void, freshness: Freshness): Promise<void> {
  request.hold();
  await freshness.untilFresh();
  // Its client may have gone meanwhile.
  if (!request.destroyed) request.goOn(handle);
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
    // FSE4.
    requireHostHeader: false,
    noDelay: true,
  };
  const server = tls === undefined ? http.createServer(options) : https.createServer({ ...options, ...tls });
  server.timeout = limits.stalledSocketTimeoutMs;
  // One more, which shows that there are too many: Node drops what is behind without a word.
  server.maxHeadersCount = limits.maxHeadersCount + 1;
  server.maxConnections = limits.maxConnections;
  server.maxRequestsPerSocket = limits.maxRequestsPerSocket;
  return server;
}

function hasOneHost({ rawHeaders, httpVersionMinor }: FaceRequest): boolean {
  let hosts = 0;
  // Names and values in turn.
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string;
    if (name.length === HOST.length && name.toLowerCase() === HOST) hosts += 1;
  }
  return hosts === 1 || (hosts === 0 && httpVersionMinor === 0);
}

/** The connection's last answer. */
function refuse(response: ServerResponse, refusal: Refusal): void {
  const body = errorToJson(refusal.text);
  const head = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body), Connection: 'close' };
  response.writeHead(refusal.status, head);
  response.end(body);
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

/** Who is connected: counts by address (FSE2), and knows which sockets never said anything. */
class SocketRegister {
  readonly #sockets = new Set<Socket>();
  readonly #countByAddress = new Map<string, number>();

  constructor(private readonly maxPerAddress: number) {}

  get size(): number {
    return this.#sockets.size;
  }

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

  endAll(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  #remove(socket: Socket, address: string): void {
    this.#sockets.delete(socket);
    const count = (this.#countByAddress.get(address) ?? 1) - 1;
    if (count === 0) this.#countByAddress.delete(address);
    else this.#countByAddress.set(address, count);
  }
}
