/** ACL users for ACL SETUSER, GETUSER, LIST and DRYRUN: the stored ones and the two built-in ones. */
import type { AclUserRecord } from '../../domain/control/index.js';
import {
  AclUser,
  admit,
  DEFAULT_USER,
  ErrorReply,
  joinSelectors,
  MapReply,
  OK,
  PermissionDenied,
  permissionsOf,
  READ_ONLY_USER,
  type Reply,
  RULES_OF_DEFAULT,
  RULES_OF_READ_ONLY,
  RuleError,
  SetReply,
} from '../../domain/kv/index.js';
import type { ByteString, DatabaseId } from '../../kernel/index.js';
import type { AclAdmin } from '../../ports/index.js';

const BUILT_IN: ReadonlySet<ByteString> = new Set([DEFAULT_USER, READ_ONLY_USER]);
const BLANK_OR_NUL = /[ \t\n\v\f\r\0]/;
/** Characters of a client's text shown in an error. */
const MAX_SHOWN = 128;

interface NamedUser {
  readonly name: ByteString;
  readonly user: AclUser;
}

export class AclUsers {
  /** @param minSecretCharacters for passwords in clear text; hashes are not checked */
  constructor(
    private readonly admin: AclAdmin,
    private readonly minSecretCharacters = 0,
  ) {}

  /** In order of name. */
  all(database: DatabaseId): NamedUser[] {
    const records = this.admin.users(database).map(({ name }) => name);
    return [...BUILT_IN, ...records].sort().flatMap((name) => {
      const user = this.find(database, name);
      return user === undefined ? [] : [{ name, user }];
    });
  }

  find(database: DatabaseId, name: ByteString): AclUser | undefined {
    if (name === READ_ONLY_USER) return AclUser.of(RULES_OF_READ_ONLY);
    if (name === DEFAULT_USER) {
      const password = this.admin.defaultPassword(database);
      return AclUser.of(RULES_OF_DEFAULT, password === undefined ? [] : [password]);
    }
    const record = this.admin.user(database, name);
    return record === undefined ? undefined : userOf(record);
  }

  /** ACL SETUSER name [rule …] → OK. Applies all rules or none. */
  async set(database: DatabaseId, words: readonly ByteString[]): Promise<Reply> {
    const [, , name = '', ...given] = words;
    if (BLANK_OR_NUL.test(name)) return new ErrorReply("ERR Usernames can't contain spaces or null characters");
    if (BUILT_IN.has(name)) return new ErrorReply(`ERR The '${name}' user cannot be changed`);
    const { minSecretCharacters: min } = this;
    if (given.some((rule) => rule.startsWith('>') && rule.length <= min)) {
      return new ErrorReply(
        `ERR A password must not be shorter than ${min} characters (MILLRACE_SECRET_MIN_CHARACTERS)`,
      );
    }
    const { rules, openAt } = joinSelectors(given);
    if (openAt !== undefined) {
      return new ErrorReply(`ERR Unmatched parenthesis in acl selector starting at '${openAt.slice(0, MAX_SHOWN)}'.`);
    }
    try {
      const problem = await this.admin.setUser(database, name, (before) => {
        const user = before === undefined ? new AclUser() : userOf(before);
        for (const rule of rules) this.#apply(user, rule);
        return { rules: user.rules, passwords: [...user.passwords] };
      });
      return problem === undefined ? OK : new ErrorReply(`ERR ${problem}`);
    } catch (failure) {
      if (failure instanceof ErrorReply) return failure;
      throw failure;
    }
  }

  /** ACL DELUSER name [name …] → the number of deleted users. */
  async delete(database: DatabaseId, names: readonly ByteString[]): Promise<Reply> {
    let deleted = 0;
    for (const name of names) {
      if (BUILT_IN.has(name)) return new ErrorReply(`ERR The '${name}' user cannot be removed`);
    }
    for (const name of names) if (await this.admin.deleteUser(database, name)) deleted += 1;
    return deleted;
  }

  /** ACL GETUSER name → a description as a map, or null. */
  describe(database: DatabaseId, name: ByteString, withSelectors: boolean): Reply {
    const user = this.find(database, name);
    if (user === undefined) return null;
    const [root, ...more] = user.selectors.map(({ commandText, keyText, channelText }) => [
      ...['commands', commandText, 'keys', keyText, 'channels', channelText],
    ]);
    const items: Reply[] = ['flags', new SetReply(user.flags), 'passwords', [...user.passwords], ...(root ?? [])];
    if (withSelectors)
      items.push(
        'selectors',
        more.map((selector) => new MapReply(selector)),
      );
    return new MapReply(items);
  }

  /** ACL DRYRUN name command [word …] → OK, or the denial. */
  dryRun(database: DatabaseId, name: ByteString, words: readonly ByteString[]): Reply {
    const user = this.find(database, name);
    if (user === undefined) return new ErrorReply(`ERR User '${name.slice(0, MAX_SHOWN)}' not found`);
    const spec = admit(words);
    if (spec instanceof ErrorReply) {
      const [command = ''] = words;
      return spec.text.startsWith('ERR unknown')
        ? new ErrorReply(`ERR Command '${command.slice(0, MAX_SHOWN)}' not found`)
        : spec;
    }
    const denial = permissionsOf(user.rules, name)?.refusal(spec, words);
    if (denial === undefined) return OK;
    return denial instanceof PermissionDenied ? denial.explanation : denial.text;
  }

  /** @throws ErrorReply */
  #apply(user: AclUser, rule: ByteString): void {
    try {
      user.apply(rule, (password) => this.admin.hashOf(password));
    } catch (error) {
      if (!(error instanceof RuleError)) throw error;
      throw new ErrorReply(`ERR Error in ACL SETUSER modifier '${rule.slice(0, MAX_SHOWN)}': ${error.message}`);
    }
  }
}

/** @throws ErrorReply */
function userOf({ name, rules, passwords }: AclUserRecord): AclUser {
  try {
    return AclUser.of(rules, passwords);
  } catch (error) {
    if (!(error instanceof RuleError)) throw error;
    throw new ErrorReply(`ERR The rules of the user '${name}' are of another release`);
  }
}
