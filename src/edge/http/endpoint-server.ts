/**
 * The HTTP server of an endpoint: its sockets, their limits, and an orderly shutdown.
 *
 *  FSE1 requests are parsed by Node's strict parser, or by plain-head.ts, which accepts fewer requests and passes the
 *       others on; a request that the parser refuses gets one answer, and its connection closes
 *  FSE2 a slow or silent client holds a connection for a bounded time, and one address a bounded number of
 *       connections
 *  FSE3 after `close` has started, no connection is accepted and every answer closes its connection; after `leave`,
 *       which comes before it, answers also close their connections, but new ones are accepted
 *  FSE4 a request names exactly one host (with two, a proxy may have read the other); HTTP/1.0 may name none. The
 *       endpoint words these refusals, and Node's own are never sent
 *  FSE5 a request has no more headers than are read: further headers would be lost, and `Content-Length` may be one
 *       of them
 *  FSE6 a request that cannot be checked yet, because the grants are not current, waits until they are
 *  FSE7 a busy connection closes after an answer, never with a request on its way; idle connections stay open for a
 *       while, in which clients send their next requests
 */

import type { Server, ServerResponse } from 'node:http';
import http from 'node:http';
import https from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { errorToJson } from '../../codec/json/index.js';
import type { Acceptor, Clock, Freshness, Listening, Metrics, Timers, Tracing } from '../../ports/index.js';
import type { Refusal } from '../error-map.js';
import type { HttpLimits } from './http-limits.js';
import { type Listener, OpenConnections, OwnPort, stopAccepting, untilLastRequests } from './listening.js';
import { PlainConnections, type PlainParts } from './plain-connections.js';
import type { PlainRequest, PlainResponse } from './plain-exchange.js';
import { EndpointRequest } from './request-body.js';
import { CLIENT_GONE, RequestMetrics } from './request-metrics.js';
import { endRequest, RequestTraces } from './request-traces.js';

/** The longest delay of a timer. */
const NEVER_MS = 2 ** 31 - 1;

const HOST = 'host';
/** Emitted when a TLS connection can be read. */
const SECURED = 'secureConnection';
/** Node's code for too large headers. */
const HEADERS_TOO_LARGE = 'HPE_HEADER_OVERFLOW';
/** Node's code for a request that does not arrive in time. */
const REQUEST_TIMEOUT = 'ERR_HTTP_REQUEST_TIMEOUT';

/** PEM texts. */
export interface TlsTexts {
  readonly cert: string | Buffer;
  readonly key: string | Buffer;
}

/** The endpoint's part of the server. */
export interface EndpointBehaviour {
  /** Runs synchronously: the body's pieces follow in the same tick. */
  handle(request: EndpointRequest, response: ServerResponse): void;
  /** The answer to CONNECT, which no endpoint supports, and the methods that the endpoint allows. */
  readonly connectRefusal: Refusal;
  readonly allowedMethods: string;
  /** The answer to bytes that are not HTTP, by Node's error code. */
  protocolRefusal(code: string | undefined): Refusal;
  /** A connection could not be accepted: the system has no resources for it. */
  acceptFailed(error: Error): void;
  /** From now on every answer closes its connection. */
  drain(): void;
  /** Handles a plain request, or hands it over to Node's server. Default: Node's server handles all requests. */
  handlePlain?(request: PlainRequest, response: PlainResponse): void;
}

export interface EndpointServerParts {
  readonly limits: HttpLimits;
  readonly clock: Clock;
  readonly timers: Timers;
  /** The first word of its log events. */
  readonly name: string;
  readonly metrics: Metrics;
  /** Default: no traces. */
  readonly tracing?: Tracing | undefined;
  readonly tls?: TlsTexts | undefined;
  /** Default: every request is handled immediately. */
  readonly freshness?: Freshness | undefined;
  /** Default: its own port. */
  readonly acceptor?: Acceptor | undefined;
}

export interface EndpointServer extends Listener {
  /** Announces the close: clients should reconnect to another process. */
  leave(): void;
  /** Resolves when every connection has closed: after the requests in flight, or when `deadline` is aborted. */
  close(deadline?: AbortSignal): Promise<void>;
}

type SystemError = NodeJS.ErrnoException;

export function createEndpointServer(parts: EndpointServerParts, endpoint: EndpointBehaviour): EndpointServer {
  const { limits, tls, clock, timers, freshness, name, metrics } = parts;
  const observers = observersOf(parts);
  const server = boundedServer(limits, tls);
  const mostHeaderParts = 2 * limits.maxHeadersCount; // Names and values alternate.
  let isLeaving = false;
  /** Time of the last request or connection. */
  let usedAtMs = Number.NEGATIVE_INFINITY;
  const handle = (request: EndpointRequest, response: ServerResponse) => {
    usedAtMs = clock.nowMs();
    if (isLeaving) response.shouldKeepAlive = false;
    observe(request, response, observers, clock);
    const isTooLong = request.rawHeaders.length > mostHeaderParts; // FSE5 (a request has no more headers than are read).
    if (isTooLong || !hasOneHost(request)) {
      refuse(response, endpoint.protocolRefusal(isTooLong ? HEADERS_TOO_LARGE : undefined));
      return;
    }
    if (freshness === undefined || freshness.isFresh) endpoint.handle(request, response);
    else void handleWhenFresh(request, () => endpoint.handle(request, response), freshness);
  };
  const sockets = new SocketRegister(limits);
  metrics.gauge('millrace_connections', () => sockets.size, name);
  server.on('request', handle);
  // The handler asks for the body (100 Continue) when it needs it, so these events are answered like a normal
  // request. Other expectations are ignored.
  for (const event of ['checkContinue', 'checkExpectation']) server.on(event, handle);
  refuseOthers(server, endpoint);
  const plain = plainConnectionsOf(server, parts, endpoint, observers);
  lookForSlowClients(server, limits.connectionsCheckingIntervalMs);
  const connections = new OpenConnections().watch(server);
  server.on('connection', (socket: Socket) => {
    usedAtMs = clock.nowMs();
    sockets.add(socket);
    if (!socket.destroyed && tls === undefined) plain.add(socket);
  });
  if (tls !== undefined) server.on(SECURED, (socket: Socket) => plain.add(socket));

  const acceptor = parts.acceptor ?? new OwnPort(timers, clock);
  const leave = () => {
    isLeaving = true;
    plain.leave();
  };
  return {
    listen: (port, host, variable = '') =>
      acceptor.begin(server, { ...listeningOf(limits, endpoint), port, host, variable }),
    leave,
    close: async (deadline) => {
      const closed = await stopAccepting(acceptor, [server], { connections, cut: () => sockets.endAll(), deadline });
      // Only now: a client whose connection closes connects again.
      endpoint.drain();
      leave();
      await untilLastRequests(clock.nowMs() - Math.max(usedAtMs, plain.usedAtMs), acceptor, { timers, closed });
      sockets.endSilent();
      plain.end();
      // No connection is accepted any more; this closes the idle connections of Node's own server.
      server.close();
      await closed.promise;
    },
  };
}

/** Answers CONNECT, and bytes that are not HTTP. */
function refuseOthers(server: Server, endpoint: EndpointBehaviour): void {
  const allowed = `Allow: ${endpoint.allowedMethods}`;
  server.on('connect', (_request, socket) => refuseRaw(socket, endpoint.connectRefusal, allowed));
  server.on('clientError', ({ code }: SystemError, socket) => refuseRaw(socket, endpoint.protocolRefusal(code)));
}

function listeningOf(limits: HttpLimits, endpoint: EndpointBehaviour): Omit<Listening, 'port' | 'host' | 'variable'> {
  const { headersTimeoutMs: ms, maxConnections: most, maxConnectionsPerAddress: mostPerAddress } = limits;
  return {
    backlog: limits.listenBacklog,
    silent: { ms, most, mostPerAddress },
    acceptFailed: (error) => endpoint.acceptFailed(error),
  };
}

/** Runs before Node's own listener, which gets the connections that are handed over. */
function plainConnectionsOf(
  server: http.Server,
  { limits, clock, freshness, tls }: EndpointServerParts,
  endpoint: EndpointBehaviour,
  observers: RequestObservers,
): PlainConnections {
  const ready = tls === undefined ? 'connection' : SECURED;
  const [accept] = server.listeners(ready);
  server.removeAllListeners(ready);
  return new PlainConnections({
    clock,
    limits,
    ...observers,
    answers: endpoint.handlePlain !== undefined && tls === undefined && limits.maxRequestsPerSocket === 0,
    handle: (request, response) => endpoint.handlePlain?.(request, response),
    accept: (socket) => accept?.call(server, socket),
    isFresh: () => freshness === undefined || freshness.isFresh,
    refuseSilent: (socket) => refuseRaw(socket, endpoint.protocolRefusal(REQUEST_TIMEOUT)),
  });
}

/** The observers of each request. */
type RequestObservers = Pick<PlainParts, 'requests' | 'traces'>;

function observersOf({ name, metrics, tracing }: EndpointServerParts): RequestObservers {
  return { requests: new RequestMetrics(name, metrics), traces: tracing && new RequestTraces(name, tracing) };
}

/** A client that disconnects before its answer is counted with its own status. */
function observe(
  request: EndpointRequest,
  response: ServerResponse,
  { requests, traces }: RequestObservers,
  clock: Clock,
): void {
  if (traces !== undefined) request.trace = traces.begin(request);
  const askedAtMs = clock.monotonicMs();
  response.once('close', () => {
    const status = response.headersSent ? response.statusCode : CLIENT_GONE;
    requests.answered(request.route, status, clock.monotonicMs() - askedAtMs);
    if (request.trace !== undefined) endRequest(request.trace, request.method, request.route, status);
  });
}

/**
 * Holds the request (FSE6: it waits until the grants are current). After a bounded wait it is handled anyway, and its
 * answer says why it cannot be checked.
 */
async function handleWhenFresh(request: EndpointRequest, handle: () => void, freshness: Freshness): Promise<void> {
  request.hold();
  await freshness.untilFresh();
  // The client may have disconnected during the wait.
  if (!request.destroyed) request.goOn(handle);
}

function boundedServer(limits: HttpLimits, tls: TlsTexts | undefined): http.Server<typeof EndpointRequest> {
  const options: http.ServerOptions<typeof EndpointRequest> = {
    IncomingMessage: EndpointRequest,
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    connectionsCheckingInterval: limits.connectionsCheckingIntervalMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    maxHeaderSize: limits.maxHeaderBytes,
    insecureHTTPParser: false,
    //  FSE4 (a request names exactly one host): checked here.
    requireHostHeader: false,
    noDelay: true,
  };
  const server = tls === undefined ? http.createServer(options) : https.createServer({ ...options, ...tls });
  server.timeout = limits.stalledSocketTimeoutMs;
  // One more than the limit, to detect too many: Node drops further headers silently.
  server.maxHeadersCount = limits.maxHeadersCount + 1;
  server.maxRequestsPerSocket = limits.maxRequestsPerSocket;
  return server;
}

function hasOneHost({ rawHeaders, httpVersionMinor }: EndpointRequest): boolean {
  let hosts = 0;
  // Names and values alternate.
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string;
    if (name.length === HOST.length && name.toLowerCase() === HOST) hosts += 1;
  }
  return hosts === 1 || (hosts === 0 && httpVersionMinor === 0);
}

/** Closes the connection after the answer. */
function refuse(response: ServerResponse, refusal: Refusal): void {
  const body = errorToJson(refusal.text);
  const head = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body), Connection: 'close' };
  response.writeHead(refusal.status, head);
  response.end(body);
}

/** Answers on a socket that has no response object, and closes it. */
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

/**
 * The open sockets: bounds their number in all and by address (FSE2: a bounded number of connections), and finds those
 * that never sent a byte.
 */
class SocketRegister {
  readonly #sockets = new Set<Socket>();
  /** Those whose first bytes arrived before the connection was given to this process. */
  readonly #begun = new WeakSet<Socket>();
  readonly #countByAddress = new Map<string, number>();

  constructor(private readonly limits: Pick<HttpLimits, 'maxConnections' | 'maxConnectionsPerAddress'>) {}

  get size(): number {
    return this.#sockets.size;
  }

  add(socket: Socket): void {
    const address = socket.remoteAddress ?? '';
    const count = (this.#countByAddress.get(address) ?? 0) + 1;
    this.#countByAddress.set(address, count);
    this.#sockets.add(socket);
    if (socket.readableLength > 0) this.#begun.add(socket);
    socket.once('close', () => this.#remove(socket, address));
    if (count > this.limits.maxConnectionsPerAddress || this.size > this.limits.maxConnections) socket.destroy();
  }

  /** Node counts a connection without a first request as busy, and would wait for its header timeout. */
  endSilent(): void {
    for (const socket of this.#sockets) if (socket.bytesRead === 0 && !this.#begun.has(socket)) socket.destroy();
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

/**
 * Runs Node's check for slow requests only while clients are connected. Each server has an interval timer for it, which
 * would wake up an idle process. @param server not listening yet
 */
export function lookForSlowClients(server: Server, everyMs: number): void {
  // Node starts its check in this listener; calling it again restarts the check with the current interval.
  const [begin] = server.listeners('listening');
  if (begin === undefined) return;
  const lookEvery = (ms: number) => Object.assign(server, { connectionsCheckingInterval: ms });
  let clients = 0;
  let isClosed = false;
  server.once('close', () => {
    isClosed = true;
  });
  lookEvery(NEVER_MS);
  server.prependListener('connection', (socket: Socket) => {
    clients += 1;
    if (clients === 1) {
      lookEvery(everyMs);
      begin.call(server);
    }
    socket.once('close', () => {
      clients -= 1;
      // A closed server ends its check by itself.
      if (clients > 0 || isClosed) return;
      lookEvery(NEVER_MS);
      begin.call(server);
    });
  });
}
