/** The source of the connections of an endpoint's server: its own port, or a port that several processes share. */
import type { Server } from 'node:net';

export interface Listening {
  readonly port: number;
  readonly host: string;
  /** Connections that wait to be accepted. */
  readonly backlog: number;
  /** The setting with the port. */
  readonly variable: string;
  /** The bounds of connections without a first byte: their time, and their number in all and from one address. */
  readonly silent: { readonly ms: number; readonly most: number; readonly mostPerAddress: number };
  /** A later connection could not be accepted: the system has no resources for it. */
  acceptFailed(error: Error): void;
}

export interface Acceptor {
  /** How long idle connections stay open after `end`, so that clients in use get an answer that ends their connection. */
  readonly lastRequestsMs: number;
  /**
   * From now on the server gets connections, as its event `connection`.
   * @returns the actual port. @throws the error of `listen`, such as EADDRINUSE
   */
  begin(server: Server, listening: Listening): Promise<{ readonly port: number }>;
  /** Resolves when the server gets no connections any more; open ones stay. */
  end(server: Server): Promise<void>;
}
