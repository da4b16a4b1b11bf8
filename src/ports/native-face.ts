import type { DatabaseId } from '../kernel/index.js';

/** The face of the native protocol of this process, as its clients can ask about it. */
export interface NativeFace {
  readonly host: string;
  readonly port: number;
  readonly maxClients: number;
  counts(): RespCounts;
  /** Its connections to a database, in order of arrival, each with what CLIENT LIST says of it. */
  clientsOf(database: DatabaseId): Iterable<ConnectedClient>;
}

/** Redis's names and values. */
export type ConnectedClient = Readonly<Record<string, string | number>>;

/** They are those of one process: what its native protocol's face has done, and what its clients have begun. */
export interface RespCounts {
  readonly connections: number;
  /** Connections there have been. */
  readonly accepted: number;
  /** Connections there were too many of. */
  readonly rejected: number;
  readonly inputBytes: number;
  readonly outputBytes: number;
  readonly subscribers: number;
  readonly trackingClients: number;
  /** Keys that somebody may have cached, the sum of those who may, and prefixes that are told of. */
  readonly trackedKeys: number;
  readonly trackedItems: number;
  readonly trackedPrefixes: number;
  readonly watchingClients: number;
  /** They are those of all clients; one that several watch counts for each. */
  readonly watchedKeys: number;
}
