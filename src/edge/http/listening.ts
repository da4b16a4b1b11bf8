/** Start and end of an endpoint's server. */
import { type AddressInfo, Server, type Socket } from 'node:net';
import { listenError } from '../../kernel/index.js';
import type { Acceptor, Clock, Listening, Timers } from '../../ports/index.js';

/** A shorter turn of the event loop leaves hardly any time in which a client can connect. */
const SHORT_TURN_MS = 1;
/** The longest wait for a short turn without a new connection: other work may make all turns long. */
const MAX_ACCEPTING_MS = 1_000;

/** The port of this process alone. */
export class OwnPort implements Acceptor {
  /** After it, clients cannot connect in any case. */
  readonly lastRequestsMs = 250;

  constructor(
    private readonly timers: Timers,
    private readonly clock: Clock,
  ) {}

  begin(server: Server, { port, host, backlog, acceptFailed }: Omit<Listening, 'silent'>): Promise<AddressInfo> {
    return new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen({ port, host, backlog }, () => {
        server.off('error', reject);
        // Without a listener the error would be thrown.
        server.on('error', acceptFailed);
        resolve(server.address() as AddressInfo);
      });
    });
  }

  async end(server: Server): Promise<void> {
    await acceptConnected(server, this.timers, this.clock);
    // The close of Node's HTTP server would also end idle connections that may have a request on its way.
    Server.prototype.close.call(server);
  }
}

/** The open connections of one or several servers. */
export class OpenConnections {
  #count = 0;
  #onNone: () => void = () => undefined;

  watch(server: Server): this {
    server.on('connection', (socket: Socket) => {
      this.#count += 1;
      socket.once('close', () => {
        this.#count -= 1;
        if (this.#count === 0) this.#onNone();
      });
    });
    return this;
  }

  /** Resolves when none is left; called once, when no others come. */
  untilNone(): Promise<void> {
    return new Promise((resolve) => {
      this.#onNone = resolve;
      if (this.#count === 0) resolve();
    });
  }
}

/** How to end the connections of servers. */
export interface Closing {
  readonly connections: OpenConnections;
  /** Ends all connections. */
  cut(): void;
  /** All connections end when it is aborted. */
  readonly deadline: AbortSignal | undefined;
}

/** Servers that accept no connections; the promise resolves when every connection has ended. */
export interface Closed {
  readonly promise: Promise<void>;
}

/** Stops accepting connections without ending the open ones. */
export async function stopAccepting(
  acceptor: Acceptor,
  servers: readonly Server[],
  { connections, cut, deadline }: Closing,
): Promise<Closed> {
  await Promise.all(servers.map((server) => acceptor.end(server)));
  const promise = connections.untilNone().then(() => deadline?.removeEventListener('abort', cut));
  if (deadline?.aborted) cut();
  else deadline?.addEventListener('abort', cut, { once: true });
  return { promise };
}

/**
 * Accepts the clients that have already connected: the system would reset them. The event loop accepts one connection in
 * a turn, so the listener is closed after a short turn without one.
 */
async function acceptConnected(server: Server, timers: Timers, clock: Clock): Promise<void> {
  let accepted = 0;
  const count = () => {
    accepted += 1;
  };
  server.on('connection', count);
  const beganAtMs = clock.monotonicMs();
  for (let turnAtMs = beganAtMs; turnAtMs - beganAtMs < MAX_ACCEPTING_MS; ) {
    const acceptedBefore = accepted;
    await timers.yieldToEventLoop();
    const nowMs = clock.monotonicMs();
    if (accepted === acceptedBefore && nowMs - turnAtMs < SHORT_TURN_MS) break;
    turnAtMs = nowMs;
  }
  server.off('connection', count);
}

/**
 * Gives clients time for a last request on each connection: its answer ends the connection. The time counts from the
 * call. If it counted from the last request, a connection could end just when a client with that interval sends one.
 * It is over when no connection is left, and immediately if no client has sent a request for as long.
 */
export async function untilLastRequests(
  silentForMs: number,
  { lastRequestsMs }: Pick<Acceptor, 'lastRequestsMs'>,
  { timers, closed }: { readonly timers: Timers; readonly closed: Closed },
): Promise<void> {
  if (silentForMs < lastRequestsMs) await Promise.race([closed.promise, timers.pause(lastRequestsMs)]);
  // Reads the requests that have arrived.
  await timers.yieldToEventLoop();
}

/** Opens the port of an endpoint. */
export interface Listener {
  /**
   * @param variable the setting with the port. Default: none
   * @returns the actual port. @throws the error of `listen`, such as EADDRINUSE
   */
  listen(port: number, host: string, variable?: string): Promise<{ readonly port: number }>;
}

/** @param variable the setting with the port. @returns the actual port. @throws BAD_CONFIG */
export async function listenOn(endpoint: Listener, host: string, port: number, variable: string): Promise<number> {
  try {
    return (await endpoint.listen(port, host, variable)).port;
  } catch (cause) {
    throw listenError(variable, hostAndPort(host, port), cause);
  }
}

/** Host and port as in a URL. */
export function hostAndPort(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}
