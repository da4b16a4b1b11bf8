/** Limits of every HTTP endpoint, with their reasons. */
export interface HttpLimits {
  /** Time for a request's headers to arrive. */
  readonly headersTimeoutMs: number;
  /** Time for a whole request to arrive. */
  readonly requestTimeoutMs: number;
  /** Interval at which the two limits above are checked. */
  readonly connectionsCheckingIntervalMs: number;
  /** Time that an idle connection stays open. */
  readonly keepAliveTimeoutMs: number;
  /** Time after which a connection with a request and no traffic closes (a client that does not read). */
  readonly stalledSocketTimeoutMs: number;
  /** Request line and headers together. */
  readonly maxHeaderBytes: number;
  readonly maxHeadersCount: number;
  /** Connections that wait to be accepted. */
  readonly listenBacklog: number;
  readonly maxConnections: number;
  readonly maxConnectionsPerAddress: number;
  /** Requests after which a connection closes, to spread the load to new processes. 0: never. */
  readonly maxRequestsPerSocket: number;
  /** Body of one request. */
  readonly maxBodyBytes: number;
}

const MIB = 1024 * 1024;

type SocketLimits = Omit<HttpLimits, 'maxHeaderBytes' | 'maxHeadersCount' | 'maxBodyBytes'>;
/** Connection limits of an endpoint that has no reason for others; each endpoint sets its own request limits. */
export const DEFAULT_SOCKET_LIMITS: SocketLimits = {
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 30_000,
  connectionsCheckingIntervalMs: 2_000,
  // Longer than the 60 s of common load balancers, which must close first.
  keepAliveTimeoutMs: 75_000,
  // Far longer than the 5 s that an answer may take.
  stalledSocketTimeoutMs: 60_000,
  // TCP retries a connection above the backlog only a second later. A burst of a thousand is normal, and Node's
  // default is 511.
  listenBacklog: 4_096,
  // Ten thousand subscribers, and twice as many other clients.
  maxConnections: 32_768,
  // A client library without a pool limit opens a connection per command, a thousand at a time is normal; and one
  // server may hold ten thousand subscribers.
  maxConnectionsPerAddress: 16_384,
  maxRequestsPerSocket: 0,
};

/** A longer body of a client with invalid credentials is not read. */
export const MAX_STRANGERS_BODY_BYTES = 64 * 1024;

/** Time that a client which goes on sending such a body has to read its answer. */
export const STRANGERS_LINGER_MS = 2_000;

/** Bytes of a body that are read and discarded after its answer, so that the client can read the answer. */
export const MAX_DISCARDED_BYTES = 64 * MIB;

/** Keys, accounts and indexes with a remembered rate; a forgotten one starts with a full bucket. */
export const MAX_COUNTED_KEYS = 10_000;

/** Valid bodies have at most two levels; deep nesting is an attack on recursive readers. */
export const MAX_BODY_DEPTH = 64;
/** Values in one message of a batch, with its headers; about three hundred are possible if every option is set. */
export const MAX_ITEM_VALUES = 1024;
/** Values in any other body; the largest valid one lists the endpoints of a group. */
export const MAX_BODY_VALUES = 10_000;
