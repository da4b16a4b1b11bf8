/** Grants and daily limits as an edge uses them: from a local copy of the control state and slices of the limits. */
import type { Permissions } from '../domain/kv/index.js';
import type { DatabaseId, PartitionName } from '../kernel/index.js';
import type { JournalFollower, Subscription } from './journal.js';

export interface KvLimits {
  /** Bytes of one command's words, and of one reply. */
  readonly maxCommandBytes: number;
  /** Commands per day (UTC); 0: no limit. */
  readonly maxRequestsPerDay: number;
  /** Faster commands wait; undefined or 0: no limit. */
  readonly maxCommandsPerSecond?: number | undefined;
  /** In and out per UTC month; above it commands are slowed down. Undefined or 0: no limit. */
  readonly maxBytesPerMonth?: number | undefined;
  /** RESP connections in one process; undefined or 0: the process's bound. */
  readonly maxConnections?: number | undefined;
}

/** Addresses that may use a database. */
export interface Networks {
  /** The given list; equal texts are equal lists. */
  readonly text: string;
  /** @param address  IPv4, or IPv4 mapped into IPv6; all others are not allowed */
  has(address: string): boolean;
}

export interface KvGrant {
  readonly database: DatabaseId;
  /** In order of their slots. */
  readonly partitions: readonly PartitionName[];
  /** The number of the first partition; undefined: 0. */
  readonly firstPartition?: number | undefined;
  /** RESP clients are sent to the owners of its slots. */
  readonly isCluster?: boolean | undefined;
  readonly role: 'standard' | 'read-only';
  /** The ACL user of the token: `default`, `default_ro` or one made by ACL SETUSER. */
  readonly user: string;
  /** The rights of the user; undefined: all rights of the role. */
  readonly permissions?: Permissions | undefined;
  /** The same as text, for the owner of a partition; set exactly when `permissions` is. */
  readonly rules?: string | undefined;
  readonly limits: KvLimits;
  /** The addresses that may use the database; undefined: all. */
  readonly networks?: Networks | undefined;
  /** True while the database is suspended. */
  readonly isSuspended?: boolean | undefined;
}

export interface Access {
  /**
   * The grant of a REST token; undefined for an unknown or revoked one.
   * @throws CONTROL_STALE when this process has not heard from the control stream for too long
   */
  grantFor(token: string): KvGrant | undefined;
  /** Changes with every change of grants, which must then be looked up again. */
  readonly version?: number;
  /** Undefined: layouts never change, as in a replay. */
  layoutOf?(database: DatabaseId): KvLayout | undefined;
}

/** The present partitions of a database. */
export type KvLayout = Pick<KvGrant, 'partitions' | 'firstPartition'>;

/** Whether this process's copy of the grants is current. */
export interface Freshness {
  /** False when the methods of `Access` and similar ports throw CONTROL_STALE. */
  readonly isFresh: boolean;
  /** Resolves when the copy is fresh, or after the time for which requests are held. */
  untilFresh(): Promise<void>;
}

/** Authentication over RESP. */
export interface RespAccess {
  /**
   * The grant of a login; undefined: no such user or password, or the user is off. Without a user, or as `default`, the
   * password finds the database; `<database-id>/<user>` names a user of any database, a bare name one of the first
   * database.
   * @throws CONTROL_STALE as `Access` does
   */
  grantForLogin(user: string | undefined, password: string): KvGrant | undefined;
  /**
   * True when a login would still give exactly this grant. Called before each batch, so it takes a comparison or two.
   * @throws CONTROL_STALE as `Access` does
   */
  isCurrent(grant: KvGrant): boolean;
  /** The present grant of the same user, when the old one is not current; undefined: none, and the connection ends. */
  renewed?(grant: KvGrant): KvGrant | undefined;
  /** The same number as in `Access`. */
  readonly version?: number;
  /** The same as in `Access`. */
  layoutOf?(database: DatabaseId): KvLayout | undefined;
}

export interface Quota {
  /**
   * Takes `commands` from the database's remaining ones: true if they may run, false when the day's limit is used up.
   * Usually the answer is immediate; it is a promise while another slice is requested, or while the commands wait for
   * their turn because the database exceeds its plan's rate.
   * @param bytes  of all words together, which are held while they wait
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
  /** Commands answered with an error, and reads that found their key or did not; where they are known. */
  readonly errors?: number;
  readonly hits?: number;
  readonly misses?: number;
  /**
   * The executed commands, in order, as specifications of the command table, so that the number of names is bounded.
   */
  readonly specs?: readonly { readonly name: string }[];
}

/** The use of one request to a search index; missing numbers are 0. */
export interface SearchUsage {
  readonly queries?: number;
  /** Documents upserted or deleted. */
  readonly updates?: number;
  /** Units of 100 reranked documents, rounded up for each query. */
  readonly reranks?: number;
  readonly bytesIn?: number;
  readonly bytesOut?: number;
  readonly queryMs?: number;
  readonly updateMs?: number;
  readonly embeddingMs?: number;
  readonly rerankMs?: number;
}

/** The present size of a partition, told when it has changed. */
export interface KvGauge {
  readonly database: DatabaseId;
  /** The index of the partition, from 0. */
  readonly index: number;
  readonly keys: number;
  readonly storageBytes: number;
  /** The epoch of the reporting owner; those of its successors are higher. */
  readonly epoch: number;
}

/** The counters of the key-value endpoints. */
export interface KvMeter {
  /** Counts one request's commands; written out once a second. */
  recordKv(database: DatabaseId, usage: KvUsage): void;
  /** A connection of a database was opened or closed. */
  connected(database: DatabaseId, change: 1 | -1): void;
}

export interface Meter extends KvMeter {
  /** Reads that found their key, and that did not; only the owner of the partition knows them. */
  recordLookups(database: DatabaseId, hits: number, misses: number): void;
  recordSearch(index: DatabaseId, usage: SearchUsage): void;
  gaugeKv(gauge: KvGauge): void;
  /** The present size of a search index, told when it has changed. */
  gaugeSearch(index: DatabaseId, documents: number, storageBytes: number): void;
}

/**
 * The log to which every process writes its use. It has many writers, and so no expected position, owner or chain; its
 * readers identify records by their contents. Promises of every adapter:
 *
 *  MLO1 a record with a resolved append is stored as durably as one of a journal
 *  MLO2 a rejected append may be stored all the same, even twice when it is repeated
 *  MLO3 positions grow by one with every stored record, and the record at a position never changes
 */
export interface MeterLog {
  /** One try. @throws JOURNAL_UNAVAILABLE: not stored, or unknown; send the same bytes again */
  append(bytes: Uint8Array): Promise<void>;
  /** All records from `from` on, while the subscription lives; reconnects automatically. */
  follow(from: number, follower: JournalFollower): Subscription;
}
