/** Who may do what, as an edge sees it: a local copy of the control state, and shares of the daily limits. */
import type { Permissions } from '../domain/kv/index.js';
import type { AccountId, DatabaseId, PartitionName } from '../kernel/index.js';

export interface KvLimits {
  /** Bytes of one command's words, and of one reply. */
  readonly maxCommandBytes: number;
  /** Commands a day (UTC); 0: no limit. */
  readonly maxRequestsPerDay: number;
  /** Beyond it commands wait; undefined or 0: no limit. */
  readonly maxCommandsPerSecond?: number | undefined;
  /** In and out, a UTC month; beyond it commands are slowed down. Undefined or 0: no limit. */
  readonly maxBytesPerMonth?: number | undefined;
  /** They are those of the native protocol, in one process; undefined or 0: the process's own bound. */
  readonly maxConnections?: number | undefined;
}

/** Addresses that may use a database. */
export interface Networks {
  /** It is what was asked for; two lists are the same when their texts are. */
  readonly text: string;
  /** @param address IPv4, or IPv6 with an IPv4 address mapped into it; every other is outside */
  has(address: string): boolean;
}

export interface KvGrant {
  readonly database: DatabaseId;
  /** In order of index; one unless the database was created with more. */
  readonly partitions: readonly PartitionName[];
  readonly role: 'standard' | 'read-only';
  /** The ACL user the token acts as: `default`, `default_ro` or one that ACL SETUSER made. */
  readonly user: string;
  /** What the user may do; left out: everything that the role may. */
  readonly permissions?: Permissions | undefined;
  /** The same as text, for the owner of a partition; there exactly when `permissions` is. */
  readonly rules?: string | undefined;
  readonly limits: KvLimits;
  /** From where the database may be used; undefined: from everywhere. */
  readonly networks?: Networks | undefined;
  /** Nobody may use it until it is activated again. */
  readonly isSuspended?: boolean | undefined;
}

export interface Access {
  /**
   * What a REST token opens; undefined for an unknown or revoked one.
   * @throws CONTROL_STALE when this process has not heard from the control stream for too long to know
   */
  grantFor(token: string): KvGrant | undefined;
  /** Another number after every change of who may do what: time to look grants up again. */
  readonly version?: number;
}

/** Does this process know who may do what? */
export interface Freshness {
  /** False when what is asked of `Access` and its kin throws CONTROL_STALE. */
  readonly isFresh: boolean;
  /** Resolves when it is fresh, or has been waited for as long as requests are held. */
  untilFresh(): Promise<void>;
}

/** Signing in over the native protocol. */
export interface RespAccess {
  /**
   * What signing in opens; undefined: no such user or password, or the user is off. Without a user, or as
   * `default`, the password finds the database; `<database-id>/<user>` names a user of any database, a bare
   * name one of the first database.
   * @throws CONTROL_STALE as `Access` does
   */
  grantForLogin(user: string | undefined, password: string): KvGrant | undefined;
  /**
   * Would signing in still open just this? Asked before each batch, so a comparison or two.
   * @throws CONTROL_STALE as `Access` does
   */
  isCurrent(grant: KvGrant): boolean;
  /** What the same user may do now that the grant is not current; undefined: nothing, the connection ends. */
  renewed?(grant: KvGrant): KvGrant | undefined;
  /** It is the one that `Access` has. */
  readonly version?: number;
}

export interface Quota {
  /**
   * Takes `commands` from what the database may still run: true if they may run, false when the day is used up.
   * Usually answers at once; a promise while another slice of the day is asked for, or while the commands wait for
   * their turn because the database is faster than its plan.
   * @param bytes of all words together, which are held while they wait
   * @throws RATE_LIMITED (by a promise) when too much waits already
   */
  take(grant: KvGrant, commands: number, bytes?: number): boolean | Promise<boolean>;
}

export interface KvUsage {
  readonly commands: number;
  readonly writes: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
  readonly durationMs: number;
  /** Commands that were answered with an error, and reads that found their key or did not; where they are known. */
  readonly errors?: number;
  readonly hits?: number;
  readonly misses?: number;
  /** The commands that ran, in order: rows of the command table, so that their names are bounded in number. */
  readonly specs?: readonly { readonly name: string }[];
}

/** What one request to a search index took; what is left out is 0, or was not done. */
export interface SearchUsage {
  readonly queries?: number;
  /** Documents upserted or deleted. */
  readonly updates?: number;
  /** Units of 100 reranked documents, each query's rounded up. */
  readonly reranks?: number;
  readonly bytesIn?: number;
  readonly bytesOut?: number;
  readonly queryMs?: number;
  readonly updateMs?: number;
  readonly embeddingMs?: number;
  readonly rerankMs?: number;
}

/** Bytes of an account's queue that no journal tells of: reads of its API. */
export interface QueueUsage {
  readonly bytesIn: number;
  readonly bytesOut: number;
}

/** How large something is now; told when it has changed. */
export interface KvGauge {
  readonly database: DatabaseId;
  /** It is that of the partition, from 0. */
  readonly index: number;
  readonly keys: number;
  readonly storageBytes: number;
  /** It is that of the owner that tells it: its successors' are larger. */
  readonly epoch: number;
}

/** What the key-value faces count. */
export interface KvMeter {
  /** Counts one request's commands; written out once a second. */
  recordKv(database: DatabaseId, usage: KvUsage): void;
  /** A connection of a database was opened, or has ended. */
  connected(database: DatabaseId, change: 1 | -1): void;
}

export interface Meter extends KvMeter {
  /** Reads that found their key, and that did not: known to the owner of the partition alone. */
  recordLookups(database: DatabaseId, hits: number, misses: number): void;
  recordSearch(index: DatabaseId, usage: SearchUsage): void;
  recordQueue(account: AccountId, usage: QueueUsage): void;
  gaugeKv(gauge: KvGauge): void;
  /** How large a search index is now; told when it has changed. */
  gaugeSearch(index: DatabaseId, documents: number, storageBytes: number): void;
}
