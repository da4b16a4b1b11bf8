/**
 * The server of the RESP endpoint: its sockets, their limits, and an orderly shutdown.
 *
 *  RSE1 connections are limited in total and per address; a client above the limit gets an error
 *  RSE2 a connection closes if it does not sign in, if its password or user is removed, or if it does not read
 *  RSE3 after `close` has started, no connection is accepted and running commands get their answers; an active
 *       connection closes with its next answer, when no other command of its client would be lost
 */
import net, { type Socket } from 'node:net';
import tls from 'node:tls';
import { type DatabaseId, describeError } from '../../kernel/index.js';
import type { Acceptor, ConnectedClient, RespCounts, Timer } from '../../ports/index.js';
import { type Listener, OpenConnections, OwnPort, stopAccepting, untilLastRequests } from '../http/listening.js';
import { clientFields } from './commands/client-line.js';
import { RespConnection } from './resp-connection.js';
import { RespEndpoint, type RespEndpointParts } from './resp-endpoint.js';
import { DEFAULT_RESP_ENDPOINT_LIMITS, type RespEndpointLimits } from './resp-limits.js';

export interface RespServerParts extends Omit<RespEndpointParts, 'limits'> {
  /** Missing ones have their defaults. */
  readonly limits?: Partial<RespEndpointLimits>;
  /** PEM texts. Default: no TLS. */
  readonly tls?: { readonly cert: string | Buffer; readonly key: string | Buffer };
  /** Default: the port of this process alone. */
  readonly acceptor?: Acceptor | undefined;
}

/** May listen on several ports. */
export interface RespServer extends Listener {
  /** Resolves when every connection has ended: after the running commands, or when `deadline` is aborted. */
  close(deadline?: AbortSignal): Promise<void>;
  /** Open connections. */
  readonly connections: number;
  /** Totals for INFO; reads every connection. */
  counts(): RespCounts;
  /** In order of connection. */
  clientsOf(database: DatabaseId): Iterable<ConnectedClient>;
}

const TOO_MANY = '-ERR max number of clients reached\r\n';

export function createRespServer(parts: RespServerParts): RespServer {
  const limits = { ...DEFAULT_RESP_ENDPOINT_LIMITS, ...parts.limits };
  const endpoint = new RespEndpoint({ ...parts, limits });
  const connections = new ConnectionRegister(endpoint, limits);
  parts.metrics?.gauge('millrace_connections', () => connections.size, 'resp');
  const acceptor = parts.acceptor ?? new OwnPort(parts.timers, parts.clock);
  const open = new OpenConnections();
  const options = { allowHalfOpen: true, noDelay: true };
  const servers: net.Server[] = [];
  const createServer = () => {
    const server =
      parts.tls === undefined
        ? net.createServer(options, (socket) => connections.accept(socket))
        : tls.createServer({ ...options, ...parts.tls }, (socket) => connections.accept(socket));
    open.watch(server);
    // A failed TLS handshake; its socket is closed already.
    server.on('tlsClientError', () => undefined);
    return server;
  };

  return {
    get connections() {
      return connections.size;
    },
    counts: () => connections.counts(),
    clientsOf: function* (database) {
      for (const client of endpoint.clients.ofDatabase(database)) yield Object.fromEntries(clientFields(client));
    },
    listen: async (port, host, variable = '') => {
      const acceptFailed = (error: Error) => parts.log.warn('resp.accept-failed', { error: describeError(error) });
      const server = createServer();
      const { maxConnections: most, maxConnectionsPerAddress: mostPerAddress, listenBacklog: backlog } = limits;
      const silent = { ms: limits.signInTimeoutMs, most, mostPerAddress };
      const opened = await acceptor.begin(server, { port, host, variable, backlog, silent, acceptFailed });
      servers.push(server);
      return opened;
    },
    close: async (deadline) => {
      const { timers, clock } = parts;
      const how = { connections: open, cut: () => connections.cutAll(), deadline };
      const closed = await stopAccepting(acceptor, servers, how);
      endpoint.isDraining = true;
      endpoint.pauses.close();
      connections.drain();
      await untilLastRequests(clock.monotonicMs() - connections.usedAtMs(), acceptor, { timers, closed });
      connections.endAll();
      await closed.promise;
      connections.stop();
    },
  };
}

const NONE_DENIED = { auth: 0, command: 0, key: 0, channel: 0 };

class ConnectionRegister {
  readonly #connections = new Set<RespConnection>();
  readonly #countByAddress = new Map<string, number>();

  constructor(
    private readonly endpoint: RespEndpoint,
    private readonly limits: RespEndpointLimits,
  ) {}

  #accepted = 0;
  #rejected = 0;
  #sweeping: Timer | undefined;
  /** Bytes of ended connections. */
  #inputBytes = 0;
  #outputBytes = 0;

  get size(): number {
    return this.#connections.size;
  }

  accept(socket: Socket): void {
    const { endpoint, limits } = this;
    const address = socket.remoteAddress ?? '';
    const count = this.#countByAddress.get(address) ?? 0;
    if (this.#connections.size >= limits.maxConnections || count >= limits.maxConnectionsPerAddress) {
      this.#rejected += 1;
      socket.on('error', () => undefined);
      socket.end(TOO_MANY, () => socket.destroy());
      // Closing a socket with unread bytes sends a reset, and the client may lose the error.
      socket.resume();
      return;
    }
    socket.setKeepAlive(true, limits.keepaliveMs);
    const connection = new RespConnection(endpoint, socket, endpoint.clients.nextId());
    socket.on('data', (chunk: Buffer) => connection.receive(chunk));
    this.#countByAddress.set(address, count + 1);
    this.#connections.add(connection);
    this.#accepted += 1;
    endpoint.clients.add(connection.client);
    connection.onEnd = () => this.#remove(connection, address);
    this.#sweepLater();
  }

  counts(): RespCounts {
    let inputBytes = this.#inputBytes;
    let outputBytes = this.#outputBytes;
    let subscribers = 0;
    let watchingClients = 0;
    let watchedKeys = 0;
    let largestInputBytes = 0;
    let largestOutputBytes = 0;
    let heldBytes = 0;
    for (const connection of this.#connections) {
      const { client } = connection;
      inputBytes += connection.bytesRead;
      outputBytes += connection.bytesWritten;
      if (client.isSubscriber) subscribers += 1;
      if (client.watches.length > 0) watchingClients += 1;
      for (const { keys } of client.watches) watchedKeys += keys.length;
      largestInputBytes = Math.max(largestInputBytes, connection.inputBytes);
      largestOutputBytes = Math.max(largestOutputBytes, connection.outputBytes);
      heldBytes += connection.heldBytes;
    }
    const { cuts, parts } = this.endpoint;
    return {
      connections: this.size,
      accepted: this.#accepted,
      rejected: this.#rejected,
      inputBytes,
      outputBytes,
      subscribers,
      ...this.endpoint.tracking.counts(),
      watchingClients,
      watchedKeys,
      largestInputBytes,
      largestOutputBytes,
      heldBytes,
      cutForInput: cuts.totalOf('no-room-for-input'),
      cutForOutput: cuts.totalOf('slow-reader'),
      denied: parts.acl?.log.totals ?? NONE_DENIED,
    };
  }

  /**
   * Checks connections at intervals (RSE2: a connection closes if it may not stay). The timer stops without
   * connections and without cut connections to log.
   */
  #sweepLater(): void {
    if (this.#connections.size === 0 && this.endpoint.cuts.isEmpty) return;
    this.#sweeping ??= this.endpoint.parts.timers.roughlyAfter(this.limits.sweepEveryMs, () => {
      this.#sweeping = undefined;
      this.endpoint.cuts.sweep();
      for (const connection of this.#connections) connection.sweep();
      this.#sweepLater();
    });
  }

  /** Stops the timer. */
  stop(): void {
    this.#sweeping?.cancel();
  }

  /** Time of the last use of any connection. */
  usedAtMs(): number {
    let usedAtMs = Number.NEGATIVE_INFINITY;
    for (const { client } of this.#connections) usedAtMs = Math.max(usedAtMs, client.lastAtMs);
    return usedAtMs;
  }

  drain(): void {
    for (const connection of this.#connections) connection.drain();
  }

  endAll(): void {
    for (const connection of this.#connections) connection.endAfterReplies();
  }

  cutAll(): void {
    for (const connection of this.#connections) connection.cut('shutdown');
  }

  #remove(connection: RespConnection, address: string): void {
    this.#connections.delete(connection);
    this.#inputBytes += connection.bytesRead;
    this.#outputBytes += connection.bytesWritten;
    this.endpoint.clients.remove(connection.client);
    const count = (this.#countByAddress.get(address) ?? 1) - 1;
    if (count === 0) this.#countByAddress.delete(address);
    else this.#countByAddress.set(address, count);
  }
}
