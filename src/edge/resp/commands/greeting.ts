/** Sign-in and protocol of a client: AUTH, HELLO, RESET, QUIT, SELECT, PING, ECHO. */
import { encodePush } from '../../../codec/resp/index.js';
import {
  ERRORS,
  ErrorReply,
  MapReply,
  OK,
  type Reply,
  SimpleString,
  servedModules,
  wrongArity,
} from '../../../domain/kv/index.js';
import type { ByteString, DatabaseId } from '../../../kernel/index.js';
import type { KvGrant } from '../../../ports/index.js';
import { closureOf } from '../../commands/admission.js';
import { DATABASE_LOADING } from '../../error-map.js';
import { NO_MEMORY } from '../memory-refusals.js';
import type { RespClient } from '../resp-client.js';
import { clientLine } from './client-line.js';
import { type CommandAnswer, type ConnectionCommand, Several } from './connection-command.js';
import { INTEGER, isPlainName, NAME_PROBLEM } from './words.js';

/** `<database-id>/<user>`. */
const NAMED_DATABASE = /^(db-[a-z2-7]{16})\//;

const LOADING = new ErrorReply(DATABASE_LOADING.text);
const PONG = new SimpleString('PONG');
const WRONG_PASSWORD = new ErrorReply('WRONGPASS invalid username-password pair or user is disabled.');
const TOO_MANY = new ErrorReply('ERR max number of clients reached');
const NOT_SIGNED_IN = new ErrorReply(
  'NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO <proto> AUTH <user> <pass> option can be used to authenticate the client and select the RESP protocol version at the same time',
);
const NO_VERSION = new ErrorReply('ERR Protocol version is not an integer or out of range');
const UNKNOWN_VERSION = new ErrorReply('NOPROTO unsupported protocol version');

/** AUTH [user] password → OK. */
function auth(client: RespClient, words: readonly ByteString[]): Reply {
  if (words.length > 3) return ERRORS.syntax;
  const user = words.length === 3 ? words[1] : undefined;
  return signIn(client, user, words.at(-1) as ByteString, 'AUTH') ?? OK;
}

/** @returns the error, if it failed. @throws CONTROL_STALE as the port does */
function signIn(
  client: RespClient,
  user: ByteString | undefined,
  password: ByteString,
  command: 'AUTH' | 'HELLO',
): ErrorReply | undefined {
  const { parts, signIns } = client.endpoint;
  const name = user ?? 'default';
  const { remoteAddress } = client.link;
  const asked = signIns.waitOf(remoteAddress, password, name);
  if (asked !== undefined) return tooManyFailures(client, asked);
  const grant = parts.access.grantForLogin(user, password);
  if (grant === undefined) {
    noteFailure(client, name, command);
    const wait = signIns.failed(remoteAddress, name);
    return wait === undefined ? WRONG_PASSWORD : tooManyFailures(client, wait);
  }
  const closure = closureOf(grant, () => client.link.remoteAddress);
  if (closure !== undefined) return new ErrorReply(closure.text);
  if (!hasRoomFor(client, grant)) return TOO_MANY;
  client.grant = grant;
  return undefined;
}

/** Answers and then closes the connection. */
function tooManyFailures(client: RespClient, waitSeconds: number): ErrorReply {
  client.link.endAfterReplies();
  return new ErrorReply(`ERR too many failed sign-ins from this address, try again in ${waitSeconds} s`);
}

/**
 * Has the plan room for one more connection in this process? A client that is signed in to the database already
 * counts.
 */
function hasRoomFor({ endpoint, grant: current }: RespClient, { database, limits }: KvGrant): boolean {
  const { maxConnections = 0 } = limits;
  if (maxConnections === 0 || current?.database === database) return true;
  return endpoint.clients.countOf(database) < maxConnections;
}

/** Records the failure in ACL LOG, if its database is known. */
function noteFailure(client: RespClient, user: ByteString, command: string): void {
  const { acl } = client.endpoint.parts;
  const database = client.grant?.database ?? (NAMED_DATABASE.exec(user)?.[1] as DatabaseId | undefined);
  if (acl === undefined || database === undefined) return;
  acl.noteFailedLogin(database, user, command, clientLine(client));
}

/** HELLO [2 | 3 [AUTH user password] [SETNAME name]] → a description of the server. */
function hello(client: RespClient, words: readonly ByteString[]): Reply {
  let version = client.protocol;
  if (words.length > 1) {
    const word = words[1] as ByteString;
    if (!INTEGER.test(word)) return NO_VERSION;
    if (word !== '2' && word !== '3') return UNKNOWN_VERSION;
    version = word === '2' ? 2 : 3;
  }
  let credentials: readonly ByteString[] | undefined;
  let name: ByteString | undefined;
  for (let at = 2; at < words.length; ) {
    const option = (words[at] as ByteString).toUpperCase();
    const left = words.length - at - 1;
    if (option === 'AUTH' && left >= 2) {
      credentials = words.slice(at + 1, at + 3);
      at += 3;
    } else if (option === 'SETNAME' && left >= 1) {
      name = words[at + 1] as ByteString;
      if (!isPlainName(name)) return NAME_PROBLEM;
      at += 2;
    } else return new ErrorReply(`ERR Syntax error in HELLO option '${words[at]}'`);
  }
  const refusal =
    credentials === undefined ? undefined : signIn(client, credentials[0], credentials[1] as ByteString, 'HELLO');
  if (refusal !== undefined) return refusal;
  if (client.grant === undefined) return NOT_SIGNED_IN;
  if (name !== undefined) {
    if (!client.link.mayHold(name.length)) return NO_MEMORY;
    client.name = name;
  }
  client.protocol = version;
  return new MapReply([
    'server',
    'redis',
    'version',
    client.endpoint.parts.redisVersion,
    'proto',
    version,
    'id',
    client.id,
    'mode',
    client.grant.isCluster === true ? 'cluster' : 'standalone',
    'role',
    'master',
    'modules',
    servedModules(),
  ]);
}

/** PING [message] → PONG, or the message; as in Redis an error while the database is loading at a start. */
function ping(client: RespClient, words: readonly ByteString[]): CommandAnswer {
  if (words.length > 2) return wrongArity('ping');
  if (client.endpoint.isLoading(client.grant as KvGrant)) return LOADING;
  if (client.protocol === 2 && client.isSubscriber) return new Several(encodePush(['pong', words[1] ?? ''], 2));
  return words[1] ?? PONG;
}

/** Some clients ignore the error of SELECT and go on; their later commands are then refused, too. */
function select(client: RespClient, word: ByteString): Reply {
  if (!INTEGER.test(word)) return ERRORS.notAnInteger;
  client.astray = word === '0' ? undefined : astray(word);
  return client.astray === undefined ? OK : ERRORS.noSuchDatabase;
}

function astray(index: ByteString): ErrorReply {
  return new ErrorReply(`${ERRORS.noSuchDatabase.text} (this connection selected database ${index})`);
}

function reset(client: RespClient): Reply {
  client.reset();
  return new SimpleString('RESET');
}

function quit(client: RespClient): Reply {
  client.link.endAfterReplies();
  return OK;
}

export const GREETING: Readonly<Record<string, ConnectionCommand>> = {
  AUTH: { run: refusing(auth), isQueueable: true },
  HELLO: { run: refusing(hello) },
  PING: { run: ping, isIndependent: true, isQueueable: true },
  ECHO: { run: (_client, words) => words[1] as ByteString, isIndependent: true, isQueueable: true },
  SELECT: { run: (client, words) => select(client, words[1] as ByteString), isIndependent: true, isQueueable: true },
  RESET: { run: reset, isDoneInTransaction: true },
  QUIT: { run: quit, isDoneInTransaction: true },
};

/** An error of the grant lookup becomes a reply. */
function refusing(run: (client: RespClient, words: readonly ByteString[]) => Reply): ConnectionCommand['run'] {
  return (client, words) => {
    try {
      return run(client, words);
    } catch (failure) {
      return new ErrorReply(client.endpoint.failureText(failure));
    }
  };
}
