/** CLIENT subcommands about other connections to the same database: LIST, KILL, PAUSE, UNPAUSE, UNBLOCK. */
import { ERRORS, ErrorReply, OK, type Reply, VerbatimReply } from '../../../domain/kv/index.js';
import type { ByteString, DatabaseId } from '../../../kernel/index.js';
import type { KvGrant } from '../../../ports/index.js';
import type { ClientState } from '../client-state.js';
import { unblock } from '../partition-calls.js';
import type { RespClient } from '../resp-client.js';
import { clientLine } from './client-line.js';
import type { ConnectionCommand } from './connection-command.js';
import { clientId } from './words.js';

const TYPES: ReadonlySet<string> = new Set(['normal', 'master', 'slave', 'replica', 'pubsub']);
const NO_SUCH_CLIENT = new ErrorReply('ERR No such client');

function databaseOf(client: RespClient): DatabaseId {
  // Only signed-in clients get here.
  return client.grant?.database as DatabaseId;
}

function typeOf(client: ClientState): string {
  return client.isSubscriber ? 'pubsub' : 'normal';
}

function unknownType(word: ByteString): ErrorReply {
  return new ErrorReply(`ERR Unknown client type '${word}'`);
}

/** CLIENT LIST [TYPE type | ID id …] → one line per client. */
function list(client: RespClient, words: readonly ByteString[]): Reply {
  let clients = client.endpoint.clients.ofDatabase(databaseOf(client));
  const option = words[2]?.toUpperCase();
  if (option === 'TYPE' && words.length === 4) {
    const type = (words[3] as ByteString).toLowerCase();
    if (!TYPES.has(type)) return unknownType(words[3] as ByteString);
    clients = clients.filter((other) => typeOf(other) === type);
  } else if (option === 'ID' && words.length > 3) {
    const ids = words.slice(3).map(clientId);
    if (ids.includes(undefined)) return new ErrorReply('ERR Invalid client ID');
    clients = clients.filter(({ id }) => ids.includes(id));
  } else if (option !== undefined) return ERRORS.syntax;
  return new VerbatimReply(clients.map((other) => `${clientLine(other)}\n`).join(''));
}

interface KillFilter {
  readonly matches: ((client: ClientState) => boolean)[];
  skipsMe: boolean;
}

/** CLIENT KILL address → OK; CLIENT KILL option value … → the number of clients. */
function kill(client: RespClient, words: readonly ByteString[]): Reply {
  const clients = client.endpoint.clients.ofDatabase(databaseOf(client));
  if (words.length === 3) {
    const victim = clients.find(({ address }) => address === words[2]);
    if (victim === undefined) return NO_SUCH_CLIENT;
    end(victim, client);
    return OK;
  }
  if (words.length % 2 !== 0) return ERRORS.syntax;
  const filter: KillFilter = { matches: [], skipsMe: true };
  for (let at = 2; at < words.length; at += 2) {
    const problem = addFilter(filter, (words[at] as ByteString).toUpperCase(), words[at + 1] as ByteString, client);
    if (problem !== undefined) return problem;
  }
  let killed = 0;
  for (const other of clients) {
    if (other === client && filter.skipsMe) continue;
    if (!filter.matches.every((matches) => matches(other))) continue;
    killed += 1;
    end(other, client);
  }
  return killed;
}

function addFilter(filter: KillFilter, option: string, value: ByteString, me: RespClient): ErrorReply | undefined {
  const { matches } = filter;
  switch (option) {
    case 'ID': {
      const id = clientId(value);
      if (id === undefined || id < 1) return new ErrorReply('ERR client-id should be greater than 0');
      matches.push((client) => client.id === id);
      return undefined;
    }
    case 'MAXAGE': {
      const seconds = clientId(value);
      if (seconds === undefined) return new ErrorReply('ERR maxage is not an integer or out of range');
      if (seconds < 1) return new ErrorReply('ERR maxage should be greater than 0');
      const bornBeforeMs = me.endpoint.parts.clock.monotonicMs() - seconds * 1000;
      matches.push((client) => client.createdAtMs <= bornBeforeMs);
      return undefined;
    }
    case 'TYPE': {
      const type = value.toLowerCase();
      if (!TYPES.has(type)) return unknownType(value);
      matches.push((client) => typeOf(client) === type);
      return undefined;
    }
    case 'ADDR':
      matches.push((client) => client.address === value);
      return undefined;
    case 'LADDR':
      matches.push((client) => client.localAddress === value);
      return undefined;
    case 'USER':
      if (me.endpoint.parts.acl?.hasUser(databaseOf(me), value) === false) {
        return new ErrorReply(`ERR No such user '${value}'`);
      }
      matches.push((client) => client.user === value);
      return undefined;
    case 'SKIPME': {
      const how = value.toLowerCase();
      if (how !== 'yes' && how !== 'no') return ERRORS.syntax;
      filter.skipsMe = how === 'yes';
      return undefined;
    }
    default:
      return ERRORS.syntax;
  }
}

function end(victim: ClientState, killer: ClientState): void {
  // A client that kills itself still reads its answer.
  if (victim === killer) victim.link.endAfterReplies();
  else victim.link.cut('killed');
}

/** The longest pause, a year. */
const MAX_PAUSE_MS = 365 * 24 * 3600 * 1000;

/** CLIENT PAUSE milliseconds [WRITE | ALL] → OK. */
function pause(client: RespClient, words: readonly ByteString[]): Reply | Promise<Reply> {
  if (words.length > 4) return ERRORS.syntax;
  const mode = words[3]?.toUpperCase() ?? 'ALL';
  if (mode !== 'ALL' && mode !== 'WRITE') return new ErrorReply('ERR CLIENT PAUSE mode must be WRITE or ALL');
  const durationMs = clientId(words[2] as ByteString);
  if (durationMs === undefined) return new ErrorReply('ERR timeout is not an integer or out of range');
  if (durationMs < 0) return new ErrorReply('ERR timeout is negative');
  const grant = client.grant as KvGrant;
  return client.endpoint.pauses.begin(grant, Math.min(durationMs, MAX_PAUSE_MS), mode === 'WRITE').then(() => OK);
}

/** CLIENT UNBLOCK id [TIMEOUT | ERROR] → 1 if it was waiting, else 0. */
function unblockOther(client: RespClient, words: readonly ByteString[]): Reply | Promise<Reply> {
  if (words.length > 4) return ERRORS.syntax;
  const how = words[3]?.toUpperCase() ?? 'TIMEOUT';
  if (how !== 'TIMEOUT' && how !== 'ERROR') {
    return new ErrorReply('ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR');
  }
  const id = clientId(words[2] as ByteString);
  if (id === undefined) return ERRORS.notAnInteger;
  const blocked = client.endpoint.clients.find(id, databaseOf(client))?.blocked;
  if (blocked === undefined) return 0;
  return unblock(client.endpoint, blocked, how).then((wasWaiting) => (wasWaiting ? 1 : 0));
}

function unpause(client: RespClient): Reply {
  client.endpoint.pauses.end(databaseOf(client));
  return OK;
}

export const CLIENT_OTHERS: Readonly<Record<string, ConnectionCommand>> = {
  'CLIENT LIST': { run: list, isQueueable: true },
  'CLIENT KILL': { run: kill, isQueueable: true },
  'CLIENT PAUSE': { run: pause, isQueueable: true },
  'CLIENT UNPAUSE': { run: unpause, isQueueable: true },
  'CLIENT UNBLOCK': { run: unblockOther },
};
