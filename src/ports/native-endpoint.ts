import type { DatabaseId } from '../kernel/index.js';

/** The RESP endpoint of this process, as its clients can ask about it. */
export interface NativeEndpoint {
  readonly host: string;
  readonly port: number;
  readonly maxClients: number;
  counts(): RespCounts;
  /** Its connections to a database, in order of arrival, with their CLIENT LIST fields. */
  clientsOf(database: DatabaseId): Iterable<ConnectedClient>;
}

/** Redis's names and values. */
export type ConnectedClient = Readonly<Record<string, string | number>>;

/** The counters of one process's RESP endpoint and its clients. */
export interface RespCounts {
  readonly connections: number;
  /** All connections so far. */
  readonly accepted: number;
  /** Connections refused because there were too many. */
  readonly rejected: number;
  readonly inputBytes: number;
  readonly outputBytes: number;
  readonly subscribers: number;
  readonly trackingClients: number;
  /** Keys that a client may have cached, the number of such clients over all keys, and tracked prefixes. */
  readonly trackedKeys: number;
  readonly trackedItems: number;
  readonly trackedPrefixes: number;
  readonly watchingClients: number;
  /** Of all clients; a key that several watch counts for each. */
  readonly watchedKeys: number;
  /** The largest unparsed input and unread output of one client now. */
  readonly largestInputBytes: number;
  readonly largestOutputBytes: number;
  /** All bytes that connections hold in memory. */
  readonly heldBytes: number;
  /** Connections closed because there was no room for their input, and because they did not read. */
  readonly cutForInput: number;
  readonly cutForOutput: number;
  /** Refusals of users by kind, and failed logins to a known database. */
  readonly denied: Readonly<Record<'auth' | 'command' | 'key' | 'channel', number>>;
}
