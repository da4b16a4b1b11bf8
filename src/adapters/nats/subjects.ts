/**
 * Every name of this system on a NATS server. Names are built and parsed only here.
 *
 *  SU1 no name contains data of a tenant: names consist of shards, sessions and fixed words
 *  SU2 two installations with different prefixes share no stream and no subject
 *  SU3 no two names of one installation overlap; a bucket `x` is the stream `KV_x`, so buckets have
 *      words for names and journals have numbers (`KV_0`)
 */
import { bufferOver, MillraceError, type ShardName } from '../../kernel/index.js';
import type { Topic } from '../../ports/index.js';

/** Names inside the server's own key-value and object layouts, so that standard clients can read them. */
const KEY_VALUE_ROOT = '$KV';
const OBJECT_ROOT = '$O';
const INBOXES = '_INBOX.millrace';

const TOKEN = /^[A-Za-z0-9_-]{1,128}$/;
const PREFIX = /^[A-Za-z0-9-]{0,32}$/;
const LEASE_KEY = /^[A-Za-z0-9_=/-]+(\.[A-Za-z0-9_=/-]+)*$/;

export type BucketName = 'leases' | 'layout';

/** Kinds with one topic for the installation. */
const ONE_TOPIC = new Set<Topic['kind']>(['heartbeat', 'query', 'search', 'access']);

/**
 * The users of the server: one for each role, `process` for a process with several roles, `operator` for commands,
 * and `system` of the system account. `rights.ts` has their rights.
 */
export const NATS_USERS = ['edge', 'owner', 'projection', 'process', 'operator', 'system'] as const;
export type NatsUser = (typeof NATS_USERS)[number];

export class Names {
  readonly #streamPrefix: string;
  readonly #root: string;

  /** @param prefix letters, digits and `-`, at most 32; empty for the only installation on a server */
  constructor(readonly prefix: string) {
    if (!PREFIX.test(prefix)) {
      throw new MillraceError('BAD_CONFIG', `a NATS name prefix is at most 32 letters, digits and dashes`, { prefix });
    }
    this.#streamPrefix = prefix === '' ? '' : `${prefix}_`;
    this.#root = prefix === '' ? 'millrace' : `${prefix}.millrace`;
  }

  journalStream(shard: ShardName): string {
    return `${this.#streamPrefix}${token(shard)}`;
  }

  journalSubject(shard: ShardName): string {
    return `${this.#root}.log.${token(shard)}`;
  }

  /** Matches the subjects of all journals of this installation. */
  allJournalSubjects(): string {
    return `${this.#root}.log.>`;
  }

  bucket(name: BucketName): string {
    return `${this.#streamPrefix}${name}`;
  }

  bucketStream(name: BucketName): string {
    return `KV_${this.bucket(name)}`;
  }

  bucketSubjects(name: BucketName): string {
    return `${KEY_VALUE_ROOT}.${this.bucket(name)}.>`;
  }

  bucketKeySubject(name: BucketName, key: string): string {
    if (!LEASE_KEY.test(key)) throw new MillraceError('DEFECT', 'a key that a bucket cannot hold', { key });
    return `${KEY_VALUE_ROOT}.${this.bucket(name)}.${key}`;
  }

  keyOfBucketSubject(name: BucketName, subject: string): string {
    return subject.slice(`${KEY_VALUE_ROOT}.${this.bucket(name)}.`.length);
  }

  /** Matches all keys that begin with `word.`. */
  bucketKeysOf(name: BucketName, word: string): string {
    return `${KEY_VALUE_ROOT}.${this.bucket(name)}.${token(word)}.>`;
  }

  /** The one object store: snapshots and backups. */
  objectStore(): string {
    return `${this.#streamPrefix}snapshots`;
  }

  objectStream(): string {
    return `OBJ_${this.objectStore()}`;
  }

  /** Subjects of the pieces of all objects, and of their descriptions. */
  objectSubjects(): { chunks: string; descriptions: string } {
    const root = `${OBJECT_ROOT}.${this.objectStore()}`;
    return { chunks: `${root}.C.>`, descriptions: `${root}.M.>` };
  }

  /** @param id of one try to store an object */
  objectChunkSubject(id: string): string {
    return `${OBJECT_ROOT}.${this.objectStore()}.C.${token(id)}`;
  }

  objectDescriptionSubject(object: string): string {
    if (object === '') throw new MillraceError('DEFECT', 'an object without a name');
    return `${OBJECT_ROOT}.${this.objectStore()}.M.${encodeObjectName(object)}`;
  }

  nameOfDescriptionSubject(subject: string): string {
    const encoded = subject.slice(`${OBJECT_ROOT}.${this.objectStore()}.M.`.length);
    return Buffer.from(encoded, 'base64url').toString('utf8');
  }

  topic(topic: Topic): string {
    switch (topic.kind) {
      case 'command':
        return `${this.#root}.command.${token(topic.shard)}`;
      case 'session':
        return `${this.#root}.session.${token(topic.session)}`;
      case 'edge':
        return `${this.#root}.edge.${token(topic.session)}`;
      case 'heartbeat':
      case 'query':
      case 'search':
      case 'access':
        return `${this.#root}.${topic.kind}`;
      case 'notice':
        return `${this.#root}.notice.${token(topic.shard)}`;
    }
  }

  /** Matches every topic of a kind, and the subjects of its batches. */
  allTopics(kind: Topic['kind']): string {
    return ONE_TOPIC.has(kind) ? `${this.#root}.${kind}` : `${this.#root}.${kind}.>`;
  }

  /** The subject where a process serves the pieces of a message that was too large. */
  bulkSubject(user: NatsUser, exchange: string): string {
    return `${this.#root}.bulk.${user}.${token(exchange)}`;
  }

  /** Matches the subjects of one user, or of all. */
  allBulkSubjects(user?: NatsUser): string {
    return user === undefined ? `${this.#root}.bulk.>` : `${this.#root}.bulk.${user}.>`;
  }
}

/** The inboxes of a connection of a user; permissions separate the users. */
export function inboxPrefix(user: NatsUser, connection: string): string {
  return `${INBOXES}.${user}.${token(connection)}`;
}

/** Matches the inboxes of one user, or of all. */
export function allInboxes(user?: NatsUser): string {
  return user === undefined ? `${INBOXES}.>` : `${INBOXES}.${user}.>`;
}

export function jetStreamApiSubject(operation: string): string {
  return `$JS.API.${operation}`;
}

/** The subject where a consumer asks whether its earlier messages were processed. */
export const ALL_FLOW_CONTROL = '$JS.FC.>';

/** Every server answers it to the system account, with its version and settings. */
export const ALL_SERVERS_STATUS = '$SYS.REQ.SERVER.PING.VARZ';
/** Requests to servers that read and change no state. */
export const ALL_SERVERS_QUESTIONS = '$SYS.REQ.SERVER.PING.*';

export interface Delivery {
  /** Counted by the consumer, from 1. */
  readonly number: number;
  readonly position: number;
  readonly storedAtMs: number;
  /** The number of messages that wait for the consumer after this one. */
  readonly pending: number;
}

/**
 * `$JS.ACK.<stream>.<consumer>.<times>.<position>.<number>.<stored at, ns>.<pending>`, or with
 * `<domain>.<account>` before the stream and further tokens at the end.
 */
export function parseDelivery(reply: string): Delivery | undefined {
  const tokens = reply.split('.');
  if (tokens[0] !== '$JS' || tokens[1] !== 'ACK' || tokens.length < 9) return undefined;
  const at = tokens.length === 9 ? 5 : 7;
  return {
    position: Number(tokens[at]),
    number: Number(tokens[at + 1]),
    storedAtMs: Math.floor(Number(tokens[at + 2]) / 1_000_000),
    pending: Number(tokens[at + 3]),
  };
}

/** With padding, as in the server's object layout. */
function encodeObjectName(object: string): string {
  return base64Url(Buffer.from(object, 'utf8'));
}

/** Base64 with the alphabet for URLs and with padding, the spelling of the object layout. */
export function base64Url(bytes: Uint8Array): string {
  return bufferOver(bytes).toString('base64').replaceAll('+', '-').replaceAll('/', '_');
}

function token(text: string): string {
  if (!TOKEN.test(text)) throw new MillraceError('DEFECT', 'not a token of a subject', { text });
  return text;
}
