/**
 * The native protocol's face as a server: sockets, their bounds, and an orderly end.
 *
 * Invariants
 *  RSE1 one address has a bounded share of a bounded number of connections; who is one too many is told so
 *  RSE2 nobody stays who has not signed in, whose password or user is gone, or who does not read
 *  RSE3 after `close` began no connection is accepted, and what is under way is answered as its connection's last; one
 *       that is in use ends with its next answer, where its client has nothing under way that would be lost
 */
import net, { type AddressInfo, type Socket } from 'node:net';
import tls from 'node:tls';
import { type DatabaseId, describeError } from '../../kernel/index.js';
import type { ConnectedClient, RespCounts, Timer } from '../../ports/index.js';
import { listen, stopAccepting, untilSilent } from '../http/listening.js';
import { clientFields } from './commands/client-line.js';
import { readInPlace } from './read-in-place.js';
import { RespConnection } from './resp-connection.js';
import { RespFace, type RespFaceParts } from './resp-face.js';
import { DEFAULT_RESP_FACE_LIMITS, type RespFaceLimits } from './resp-limits.js';

export interface RespServerParts extends Omit<RespFaceParts, 'limits'> {
  /** Those not given have their defaults. */
  readonly limits?: Partial<RespFaceLimits>;
  /** PEM texts; without them the face speaks in the clear. */
  readonly tls?: { readonly cert: string | Buffer; readonly key: string | Buffer };
}

export interface RespServer {
  /** @returns the address that is listened on, with the real port. @throws what `listen` reports: EADDRINUSE … */
  listen(port: number, host: string): Promise<AddressInfo>;
  /** Resolves when every connection has ended: after what is under way, or once `deadline` is aborted. */
  close(deadline?: AbortSignal): Promise<void>;
  /** Open connections. */
  readonly connections: number;
  /** INFO shows them: this looks at every connection. */
  counts(): RespCounts;
  /** In order of arrival. */
  clientsOf(database: DatabaseId): Iterable<ConnectedClient>;
}

const TOO_MANY = '-ERR max number of clients reached\r\n';

export function createRespServer(parts: RespServerParts): RespServer {
  const limits = { ...DEFAULT_RESP_FACE_LIMITS, ...parts.limits };
  const face = new RespFace({ ...parts, limits });
  const connections = new ConnectionRegister(face, limits);
  parts.metrics?.gauge('millrace_connections', () => connections.size, 'resp');
  const options = { allowHalfOpen: true, noDelay: true, keepAlive: true, keepAliveInitialDelay: limits.keepaliveMs };
  const server =
    parts.tls === undefined
      ? net.createServer({ ...options, pauseOnConnect: true }, (socket) => connections.accept(socket, true))
      : tls.createServer({ ...options, ...parts.tls }, (socket) => connections.accept(socket, false));
  // A TLS handshake has failed: its socket is gone already.
  server.on('tlsClientError', () => undefined);

  return {
    get connections() {
      return connections.size;
    },
    counts: () => connections.counts(),
    clientsOf: function* (database) {
      for (const client of face.clients.ofDatabase(database)) yield Object.fromEntries(clientFields(client));
    },
    listen: async (port, host) => {
      const acceptFailed = (error: Error) => parts.log.warn('resp.accept-failed', { error: describeError(error) });
      return listen(server, { port, host, backlog: limits.listenBacklog, acceptFailed });
    },
    close: async (deadline) => {
      const { timers, clock } = parts;
      const closed = await stopAccepting(server, { timers, cut: () => connections.cutAll(), deadline });
      face.isDraining = true;
      face.pauses.close();
      connections.drain();
      await untilSilent(() => clock.monotonicMs() - connections.usedAtMs(), { timers, closed });
      connections.endAll();
      await closed.promise;
      connections.stop();
    },
  };
}

class ConnectionRegister {
  readonly #connections = new Set<RespConnection>();
  readonly #countByAddress = new Map<string, number>();

  constructor(
    private readonly face: RespFace,
    private readonly limits: RespFaceLimits,
  ) {}

  #accepted = 0;
  #rejected = 0;
  #sweeping: Timer | undefined;
  /** Bytes of connections that have ended. */
  #inputBytes = 0;
  #outputBytes = 0;

  get size(): number {
    return this.#connections.size;
  }

  /** @param isUnread it has not begun to read */
  accept(accepted: Socket, isUnread: boolean): void {
    const { face, limits } = this;
    const address = accepted.remoteAddress ?? '';
    const count = this.#countByAddress.get(address) ?? 0;
    if (this.#connections.size >= limits.maxConnections || count >= limits.maxConnectionsPerAddress) {
      this.#rejected += 1;
      accepted.on('error', () => undefined);
      accepted.end(TOO_MANY, () => accepted.destroy());
      // Closed with something unread, the client would read a reset.
      accepted.resume();
      return;
    }
    const socket = isUnread ? readInPlace(accepted, (bytes) => connection.receiveLent(bytes)) : accepted;
    const connection = new RespConnection(face, socket, face.clients.nextId());
    if (!isUnread) socket.on('data', (chunk: Buffer) => connection.receive(chunk));
    this.#countByAddress.set(address, count + 1);
    this.#connections.add(connection);
    this.#accepted += 1;
    face.clients.add(connection.client);
    connection.onEnd = () => this.#remove(connection, address);
    this.#sweepLater();
  }

  counts(): RespCounts {
    let inputBytes = this.#inputBytes;
    let outputBytes = this.#outputBytes;
    let subscribers = 0;
    let watchingClients = 0;
    let watchedKeys = 0;
    for (const connection of this.#connections) {
      const { client } = connection;
      inputBytes += connection.bytesRead;
      outputBytes += connection.bytesWritten;
      if (client.isSubscriber) subscribers += 1;
      if (client.watches.length > 0) watchingClients += 1;
      for (const { keys } of client.watches) watchedKeys += keys.length;
    }
    return {
      connections: this.size,
      accepted: this.#accepted,
      rejected: this.#rejected,
      inputBytes,
      outputBytes,
      subscribers,
      ...this.face.tracking.counts(),
      watchingClients,
      watchedKeys,
    };
  }

  /** RSE2. Where nobody is connected, and nobody was lately of whom something is to be told, nothing wakes up the process. */
  #sweepLater(): void {
    if (this.#connections.size === 0 && this.face.cuts.isEmpty) return;
    this.#sweeping ??= this.face.parts.timers.roughlyAfter(this.limits.sweepEveryMs, () => {
      this.#sweeping = undefined;
      this.face.cuts.sweep();
      for (const connection of this.#connections) connection.sweep();
      this.#sweepLater();
    });
  }

  /** Nobody is connected any more. */
  stop(): void {
    this.#sweeping?.cancel();
  }

  /** When any of them was used last. */
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
    this.face.clients.remove(connection.client);
    const count = (this.#countByAddress.get(address) ?? 1) - 1;
    if (count === 0) this.#countByAddress.delete(address);
    else this.#countByAddress.set(address, count);
  }
}
