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
   * Makes or changes a user. `change` is asked again when somebody else was quicker; what it throws ends all of it.
   * Resolves when every edge knows, or a second later.
   * @returns why the change is refused, or undefined when it is done
   * @throws MillraceError as the way to the control actor does
   */
  setUser(
    database: DatabaseId,
    name: ByteString,
    change: (before: AclUserRecord | undefined) => AclUserChange,
  ): Promise<string | undefined>;
  /** @returns was it there? @throws as `setUser` */
  deleteUser(database: DatabaseId, name: ByteString): Promise<boolean>;
  /**
   * A token that REST takes for as long as the user has that password; the same one each time.
   * @returns undefined when there is no such user with that password
   * @throws as `setUser`
   */
  restToken(database: DatabaseId, user: ByteString, password: ByteString): Promise<string | undefined>;
  /** A text that is a REST token of the user once it is a password of the user; the same for the same `secret`. */
  newToken(database: DatabaseId, user: ByteString, secret: ByteString | undefined): string;
  hashOf(password: ByteString): string;
}
