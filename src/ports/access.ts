/** Who may do what, as an edge sees it: a local copy of the control state, and shares of the daily limits. */
import type { Permissions } from '../domain/kv/index.js';
import type { DatabaseId, PartitionName } from '../kernel/index.js';

export interface KvLimits {
  /** Bytes of one command's words, and of one reply. */
  readonly maxCommandBytes: number;
  /** Commands a day (UTC); 0: no limit. */
  readonly maxRequestsPerDay: number;
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
}

export interface Quota {
  /**
   * Takes `commands` from the database's daily limit: true if they may run. Usually answers at once from
   * a slice this process holds; a promise while it asks for another.
   */
  take(grant: KvGrant, commands: number): boolean | Promise<boolean>;
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
}

export interface Meter {
  /** Counts one request's commands; written out once a second. */
  recordKv(database: DatabaseId, usage: KvUsage): void;
}
