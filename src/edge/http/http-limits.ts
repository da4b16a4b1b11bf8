/** Bounds that every HTTP face has, with their reasons. */
export interface HttpLimits {
  /** Time for a request's headers to arrive. */
  readonly headersTimeoutMs: number;
  /** Time for a whole request to arrive. */
  readonly requestTimeoutMs: number;
  /** How often the two above are looked at. */
  readonly connectionsCheckingIntervalMs: number;
  /** An idle connection is kept this long. */
  readonly keepAliveTimeoutMs: number;
  /** A connection with a request on it, on which nothing moves (a reader that does not read). */
  readonly stalledSocketTimeoutMs: number;
  /** Request line and headers. */
  readonly maxHeaderBytes: number;
  readonly maxHeadersCount: number;
  /** Connections that wait to be accepted. */
  readonly listenBacklog: number;
  readonly maxConnections: number;
  readonly maxConnectionsPerAddress: number;
  /** After so many requests a connection is closed, so that load spreads to new processes. 0: never. */
  readonly maxRequestsPerSocket: number;
  /** One request's body. */
  readonly maxBodyBytes: number;
}

const MIB = 1024 * 1024;

type SocketLimits = Omit<HttpLimits, 'maxHeaderBytes' | 'maxHeadersCount' | 'maxBodyBytes'>;
/** They bound the connections of a face, where it has no other reason; what a request may hold is each face's own. */
export const DEFAULT_SOCKET_LIMITS: SocketLimits = {
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 30_000,
  connectionsCheckingIntervalMs: 2_000,
  // Longer than the 60 s of common load balancers, which must be the ones to close first.
  keepAliveTimeoutMs: 75_000,
  // Far beyond the 5 s that an answer may take.
  stalledSocketTimeoutMs: 60_000,
  // Beyond it a connection is tried again by TCP a second later; a burst of a thousand is normal, and Node's own 511 is less.
  listenBacklog: 4_096,
  // Ten thousand subscribers, and as many clients again.
  maxConnections: 32_768,
  // A client package without a pool bound opens a connection a command: a thousand at once is normal; and one
  // server may hold ten thousand subscribers.
  maxConnectionsPerAddress: 16_384,
  maxRequestsPerSocket: 0,
};

/** A longer body of somebody who is refused for who they are is not read. */
export const MAX_STRANGERS_BODY_BYTES = 64 * 1024;

/** So long a client that goes on sending such a body is left to read its answer. */
export const STRANGERS_LINGER_MS = 2_000;

/** What is still read, and thrown away, of a body whose answer is already out, so that a client gets to read it. */
export const MAX_DISCARDED_BYTES = 64 * MIB;

/** Keys, accounts and indexes whose calls a second are remembered; who is forgotten begins with a full bucket. */
export const MAX_COUNTED_KEYS = 10_000;

/** Nobody writes deeper JSON than two levels here; more is an attack on whoever walks it. */
export const MAX_BODY_DEPTH = 64;
/** Values of one message of a batch: its members and headers; with all that may be configured some three hundred. */
export const MAX_ITEM_VALUES = 1024;
/** Values of any other body: the endpoints of a group are the most that one may have. */
export const MAX_BODY_VALUES = 10_000;
