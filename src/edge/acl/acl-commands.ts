/**
 * ACL commands for both endpoints. They are answered without a partition: users are in the control state, of which
 * every process has a copy. A change is answered when all copies have it (src/actors/control/revocations.ts).
 */
import {
  ACL_HELP,
  aclCategories,
  aclGeneratePassword,
  aclWrongWords,
  allCommands,
  type CommandSpec,
  DEFAULT_ACL_LOG,
  ERRORS,
  ErrorReply,
  MapReply,
  OK,
  type Reply,
  SimpleString,
} from '../../domain/kv/index.js';
import type { ByteString, DatabaseId, Random } from '../../kernel/index.js';
import type { AclAdmin, Clock, KvGateway, KvGrant } from '../../ports/index.js';
import type { ScriptDenial } from '../../protocol/index.js';
import { type AclDenial, AclLog } from './acl-log.js';
import { AclUsers } from './acl-users.js';

export interface AclCommandsPorts {
  readonly admin: AclAdmin;
  readonly clock: Clock;
  readonly random: Random;
  /** Reads the parameters of a database. Default: their default values. */
  readonly gateway?: KvGateway;
  /** Minimum length of a password in clear text. Default: no minimum. */
  readonly minSecretCharacters?: number;
}

/** The client. Default: a REST request. */
export interface AclClient {
  readonly address: string;
}

const DEFAULT_LOG_COUNT = 10;
/** A shorter secret could be guessed. */
const MIN_TOKEN_SECRET_BYTES = 12;

const weakSecret = new ErrorReply(
  `ERR The password is too weak: at least ${MIN_TOKEN_SECRET_BYTES} characters of more than one kind are needed`,
);

export class AclCommands {
  readonly log: AclLog;
  readonly #users: AclUsers;

  constructor(private readonly ports: AclCommandsPorts) {
    this.log = new AclLog(ports.clock);
    this.#users = new AclUsers(ports.admin, ports.minSecretCharacters);
  }

  /**
   * Runs an admitted and permitted command.
   * @returns undefined for a command of another family
   * @throws MillraceError as AclAdmin does
   */
  run(
    grant: KvGrant,
    spec: CommandSpec,
    words: readonly ByteString[],
    client?: AclClient,
  ): Promise<Reply> | Reply | undefined {
    if (spec.family !== 'acl') return undefined;
    try {
      return this.#run(grant, spec, words, client);
    } catch (failure) {
      if (failure instanceof ErrorReply) return failure;
      throw failure;
    }
  }

  #run(
    grant: KvGrant,
    spec: CommandSpec,
    words: readonly ByteString[],
    client: AclClient | undefined,
  ): Promise<Reply> | Reply | undefined {
    const { database } = grant;
    const [, , name = '', ...more] = words;
    switch (spec.name) {
      case 'ACL CAT':
        return aclCategories(words, allCommands());
      case 'ACL GENPASS':
        return aclGeneratePassword(words, this.ports.random);
      case 'ACL HELP':
        return ACL_HELP.map((line) => new SimpleString(line));
      case 'ACL LOAD':
      case 'ACL SAVE':
        return OK;
      case 'ACL WHOAMI':
        return grant.user;
      case 'ACL USERS':
        return this.#users.all(database).map((each) => each.name);
      case 'ACL LIST':
        return this.#users.all(database).map((each) => each.user.describe(each.name));
      case 'ACL GETUSER':
        return this.#users.describe(database, name, client !== undefined);
      case 'ACL DRYRUN':
        return this.#users.dryRun(database, name, more);
      case 'ACL SETUSER':
        return this.#users.set(database, words);
      case 'ACL DELUSER':
        return this.#users.delete(database, [name, ...more]);
      case 'ACL RESTTOKEN':
        return this.#restToken(database, name, more[0] ?? '');
      case 'ACL GENTOKEN':
        return this.#newToken(database, words);
      case 'ACL LOG':
        return this.#readLog(grant, words, client !== undefined);
      default:
        return undefined;
    }
  }

  /** Records a refused command. */
  noteDenied(
    database: DatabaseId,
    { user, reason, object }: ScriptDenial,
    clientInfo = '',
    context: AclDenial['context'] = 'toplevel',
  ): void {
    this.log.note(database, { user, reason, object, context, clientInfo });
  }

  hasUser(database: DatabaseId, name: ByteString): boolean {
    return this.#users.find(database, name) !== undefined;
  }

  /** Records a failed sign-in. @param command as it was sent: `AUTH`, `HELLO` */
  noteFailedLogin(database: DatabaseId, user: ByteString, command: ByteString, clientInfo = ''): void {
    this.log.note(database, { user, reason: 'auth', object: command, context: 'toplevel', clientInfo });
  }

  async #restToken(database: DatabaseId, user: ByteString, password: ByteString): Promise<Reply> {
    const token = await this.ports.admin.restToken(database, user, password);
    return token ?? new ErrorReply(`ERR Wrong password or user "${user.slice(0, 128)}" does not exist`);
  }

  /** ACL GENTOKEN user [password] → a token; after SETUSER with `>` and this token, REST accepts it. */
  #newToken(database: DatabaseId, words: readonly ByteString[]): Reply {
    const [, , user = '', secret] = words;
    if (words.length > 4) return aclWrongWords(words);
    if (secret !== undefined && isWeak(secret)) return weakSecret;
    return this.ports.admin.newToken(database, user, secret);
  }

  #readLog(grant: KvGrant, words: readonly ByteString[], isConnection: boolean): Promise<Reply> | Reply {
    const { database } = grant;
    if (words.length > 3) return aclWrongWords(words);
    const [, , wanted] = words;
    if (wanted?.toUpperCase() === 'RESET') {
      this.log.clear(database);
      return OK;
    }
    if (wanted !== undefined && !/^[+-]?[0-9]{1,15}$/.test(wanted)) return ERRORS.notAnInteger;
    // The documented answer over REST.
    if (!isConnection) return [];
    const count = Math.max(0, Number(wanted ?? DEFAULT_LOG_COUNT));
    return this.#logLength(grant).then((length) => {
      this.log.trim(database, length);
      return this.log.latest(database, count);
    });
  }

  /** The value of `acllog-max-len`. @throws MillraceError as the gateway does */
  async #logLength({ database, partitions }: KvGrant): Promise<number> {
    const [partition] = partitions;
    if (this.ports.gateway === undefined || partition === undefined) return DEFAULT_ACL_LOG;
    const command = ['CONFIG', 'GET', 'acllog-max-len'];
    const { replies } = await this.ports.gateway.execute({
      database,
      partition,
      mode: 'single',
      commands: [command],
      bytes: command.join('').length,
    });
    const [found] = replies;
    return found instanceof MapReply ? Number(found.items[1]) : DEFAULT_ACL_LOG;
  }
}

function isWeak(secret: ByteString): boolean {
  const kinds = [/[a-z]/, /[A-Z]/, /[0-9]/, /[^a-zA-Z0-9]/].filter((kind) => kind.test(secret));
  return secret.length < MIN_TOKEN_SECRET_BYTES || kinds.length < 2;
}
