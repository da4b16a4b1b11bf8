/** The owner of the database or account that a new connection is for: it can answer without forwarding. */
import { RequestParser } from '../codec/resp/index.js';
import {
  type AccountId,
  isMillraceError,
  type PartitionName,
  type SessionId,
  type ShardName,
  textOfHeader,
} from '../kernel/index.js';
import type { Access, KvGrant, QueueAccess, RespAccess } from '../ports/index.js';
import { grantOfToken } from './kv/authentication.js';
import { DEFAULT_RESP_ENDPOINT_LIMITS } from './resp/resp-limits.js';

export interface OwnerParts {
  readonly access: Access & RespAccess;
  readonly accounts: Pick<QueueAccess, 'grantForQueueToken'>;
  readonly databases: { shardOf(partition: PartitionName): ShardName };
  readonly queues: { shardOf(account: AccountId): ShardName };
  /** Undefined: not known at present. */
  ownerOf(shard: ShardName): SessionId | undefined;
}

/** The beginning of a connection. */
export interface ConnectionBeginning {
  readonly endpoint: 'kv' | 'queue' | 'resp';
  /** The `Authorization` header, or the command that signs in. */
  readonly credential: string;
}

const BEARER = /^bearer /i;
const { maxWords, maxWordBytes } = DEFAULT_RESP_ENDPOINT_LIMITS;

/** @returns undefined for an unknown credential, and for a database whose partitions have several owners */
export function ownerOfConnection(parts: OwnerParts, { endpoint, credential }: ConnectionBeginning) {
  try {
    if (endpoint === 'queue') return ownerOfQueue(parts, credential);
    const { access } = parts;
    const grant = endpoint === 'kv' ? grantOfToken(access, undefined, credential) : grantOfSignIn(access, credential);
    const owners = new Set(grant?.partitions.map((partition) => parts.ownerOf(parts.databases.shardOf(partition))));
    const [owner] = owners;
    return owners.size === 1 ? owner : undefined;
  } catch (error) {
    // Any process answers a connection, when its copy of the grants is current again.
    if (isMillraceError(error, 'CONTROL_STALE')) return undefined;
    throw error;
  }
}

function ownerOfQueue(parts: OwnerParts, authorization: string): SessionId | undefined {
  const token = textOfHeader(authorization.replace(BEARER, '')).trim();
  const grant = parts.accounts.grantForQueueToken(token);
  return grant && parts.ownerOf(parts.queues.shardOf(grant.account));
}

/** `AUTH [user] password`, or `HELLO protocol AUTH user password`. */
function grantOfSignIn(access: RespAccess, command: string): KvGrant | undefined {
  const parser = new RequestParser({
    maxWords,
    maxWordBytes,
    maxCommandBytes: command.length,
    isUnauthenticated: true,
  });
  parser.feed(Buffer.from(command, 'latin1'));
  const words = parser.next();
  if (!Array.isArray(words)) return undefined;
  const isHello = words[0]?.toLowerCase() === 'hello';
  const at = isHello ? words.findIndex((word) => word.toLowerCase() === 'auth') : 0;
  const [first, second] = at < 0 ? [] : words.slice(at + 1);
  if (first === undefined) return undefined;
  return second === undefined ? access.grantForLogin(undefined, first) : access.grantForLogin(first, second);
}
