/** The ACL users of databases: read from this process's copy of the control state, changed by its owner. */
import type { AclUserRecord } from '../domain/control/index.js';
import type { ByteString, DatabaseId } from '../kernel/index.js';

export interface AclUserChange {
  readonly rules: string;
  readonly passwords: readonly string[];
}

export interface AclAdmin {
  /** In order of name, without `default` and `default_ro`. */
  users(database: DatabaseId): readonly AclUserRecord[];
  user(database: DatabaseId, name: ByteString): AclUserRecord | undefined;
  /** SHA-256 of the password of the user `default`. */
  defaultPassword(database: DatabaseId): string | undefined;
  /**
   * Creates or changes a user. `change` is called again after a simultaneous change; an error of it ends the call.
   * Resolves when every process knows the change, or after a second.
   * @returns the reason of a refusal, or undefined when it is done
   * @throws MillraceError as the control client does
   */
  setUser(
    database: DatabaseId,
    name: ByteString,
    change: (before: AclUserRecord | undefined) => AclUserChange,
  ): Promise<string | undefined>;
  /** @returns true when the user existed. @throws as `setUser` */
  deleteUser(database: DatabaseId, name: ByteString): Promise<boolean>;
  /**
   * A REST token that is valid while the user has that password; the same one each time.
   * @returns undefined when unknown user or wrong password
   * @throws as `setUser`
   */
  restToken(database: DatabaseId, user: ByteString, password: ByteString): Promise<string | undefined>;
  /** A token that is valid once it is a password of the user; the same for the same `secret`. */
  newToken(database: DatabaseId, user: ByteString, secret: ByteString | undefined): string;
  hashOf(password: ByteString): string;
}
