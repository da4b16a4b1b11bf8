/** A request to the owner of a partition, and its response. */
import type { Reply } from '../domain/kv/index.js';
import type { ByteString, DatabaseId, PartitionName, SessionId } from '../kernel/index.js';
import {
  absent,
  flag,
  integer,
  listOf,
  namedRecord,
  nullable,
  openFields,
  openRecord,
  orElse,
  orNil,
  type RecordType,
  type Shape,
  type TypeOf,
  text,
  tuple,
  union,
  wordOf,
} from '../kernel/schema/index.js';
import type { Span } from './trace.js';

/** Characters below 256, which any text encoding holds. */
const byteString = text<ByteString>();
const message = openFields({ channel: byteString, payload: byteString });

const kvEvent = union('type', {
  message: ['message', message],
  pmessage: ['pmessage', openFields({ pattern: byteString, channel: byteString, payload: byteString })],
  smessage: ['smessage', message],
  /** A line of MONITOR, without the leading plus. */
  monitor: ['monitor', openFields({ line: byteString })],
  /** Changed keys that clients may have cached; null: all keys. `by`: the connection that changed them. */
  invalidate: ['invalidate', openFields({ keys: nullable(listOf(byteString)), by: orNil(text()) })],
});
export type KvEvent = TypeOf<typeof kvEvent>;

/** The events of one partition for one process, in order. */
export const kvDelivery = openRecord({
  partition: text<PartitionName>(),
  /** The activation of the sending owner; after a takeover, events of an older one are ignored. */
  activation: text(),
  events: listOf(kvEvent),
});
export type KvDelivery = TypeOf<typeof kvDelivery>;

/** Characters below 256, which any text encoding holds. */
const session = text<SessionId>();

/**
 * `single` and `pipeline`: each command separately and in order; commands of others may run in between.
 * `transaction`: all in one turn and one entry.
 * `watch`: one `WATCH key …`; its reply is the mark that a later transaction returns.
 * `reads-only`: the beginnings of script commands, name and script; 1 for each script or function that declares that it
 * writes nothing, otherwise 0.
 * `unblock`: one `[waiter, 'TIMEOUT' | 'ERROR' | 'GONE']`; 1 if that command was waiting, otherwise 0.
 * `listen`: no commands; see `listen`.
 * `replace`: one `[manifest]`, the name of a kept state, which replaces all data of the partition. It takes as long as
 * loading that state, so it is sent with a `waiter`.
 * `transfer`: one step of copying the keys to other partitions (actors/kv-shard/partition-transfer.ts).
 */
const mode = wordOf(
  'single',
  'pipeline',
  'transaction',
  'watch',
  'reads-only',
  'unblock',
  'listen',
  'replace',
  'transfer',
);
export type KvMode = TypeOf<typeof mode>;

/** The sender, as far as the owner needs it. */
const client = namedRecord({
  face: wordOf('rest', 'resp'),
  protocol: integer as Shape<2 | 3>,
  /** The id of the connection, unique among all processes: `<session>:<number>`. */
  id: text(),
  /** For MONITOR and ACL LOG: `127.0.0.1:50432`. */
  address: text(),
  user: text(),
  /** Set by CLIENT SETNAME. */
  name: absent(text()),
  /** The user's ACL rules, when the owner needs them: for scripts of restricted users. */
  rules: absent(text()),
});
export type KvClient = TypeOf<typeof client>;

/** A mark of WATCH, with its keys. */
const watch = namedRecord({
  keys: listOf(byteString),
  /** The owner's activation and its count of changes; opaque. */
  mark: text(),
});
export type KvWatch = TypeOf<typeof watch>;

/** `pause` is no subscription to events: the name '' pauses commands that write, `held` marks each client held back. */
const listenKind = wordOf('channel', 'pattern', 'shard-channel', 'monitor', 'invalidation', 'pause');
export type KvListenKind = TypeOf<typeof listenKind>;

/** The subscriptions of a process's clients, sent to the owner of the partition. */
const listen = namedRecord({
  edge: session,
  /** Replaces all earlier subscriptions of this process. */
  isWhole: flag,
  /** The number of clients that listen to each name now; 0: none any more. */
  counts: listOf(tuple<[kind: KvListenKind, name: ByteString, count: number]>(listenKind, byteString, integer)),
});
export type KvListen = TypeOf<typeof listen>;

const asked = {
  database: text<DatabaseId>(),
  partition: text<PartitionName>(),
  mode,
  /** Admitted commands: known, with a valid number of arguments, permitted. */
  commands: listOf(listOf(byteString)),
  /** Bytes of all words, for the bounds of mailbox and turn. */
  bytes: integer,
};

const details = {
  /** Undefined: a plain REST request of an unrestricted user. */
  client: absent(client),
  /** The command may wait for a key; `unblock` finds it by this name. One command only. */
  waiter: absent(text()),
  /** The transaction runs only if none of these keys has changed since. */
  watches: absent(listOf(watch)),
  /** This process is told when a key that the request reads changes next. */
  trackFor: absent(session),
  listen: absent(listen),
  /**
   * After this many bytes of replies no more is run: the rest of a pipeline has no replies, and reads of a transaction
   * are answered with an error. Undefined: everything is run.
   */
  maxAnswerBytes: absent(integer),
  /** The author of its writes, `<user>@<address>`, which the journal keeps; undefined: the server itself. */
  by: absent(text()),
  /** The number of partitions of the database; undefined: one. Scripts are refused keys of other partitions. */
  partitions: absent(integer),
  /** The number of the layout's first partition; undefined: 0. */
  firstPartition: absent(integer),
};

/**
 * The place of a request in its connection's order, when it is sent before earlier ones are answered. Only an owner in
 * the same process keeps to it.
 */
export interface RequestPlace {
  /** The owner has received it, after the earlier ones. */
  handedOn(): void;
  /** False when it must not begin; it is then answered without replies. */
  mayRun(): boolean;
  /** It was executed completely. */
  hasRun(): void;
  /**
   * It was certainly not executed. @returns true when it may be tried again immediately; otherwise it is answered
   * without replies
   */
  hasFailed(): boolean;
}

export interface KvRequest extends RecordType<typeof asked & typeof details> {
  /**
   * True when the caller has left: half-done work then ends, and reads are not begun. Checked in the caller's process.
   */
  readonly isGone?: (() => boolean) | undefined;
  readonly place?: RequestPlace | undefined;
  /** Undefined: it is not traced. */
  readonly trace?: Span | undefined;
}

/** The sent form; a process of an earlier version sends no details. */
export const kvRequest = openRecord({ ...asked, details: orElse(namedRecord(details), {}) });

/** A refusal of a script: the command, the key or the channel that was not permitted. */
const scriptDenial = namedRecord({ user: byteString, reason: wordOf('command', 'key', 'channel'), object: byteString });
export type ScriptDenial = TypeOf<typeof scriptDenial>;

/** @param reply  the shape of one reply (codec/remote) */
export const kvResponseOf = (reply: Shape<Reply>) =>
  openRecord({
    /** Grows with every write to the partition; opaque to clients. `<position>-<ordinal>`. */
    syncToken: text(),
    /** One for each command, in order; fewer after `maxAnswerBytes`. */
    replies: listOf(reply),
    /** The transaction did not run, because a watched key has changed or for the single reason among the replies. */
    isAborted: absent(flag),
    /** The database has reached its bound without evictable keys: commands that grow it are refused for now. */
    isFull: absent(flag),
    /** For `trackFor`: keys that the scripts have read, named ones and others. */
    scriptReads: absent(listOf(byteString)),
    /** Refusals of its scripts and functions, for ACL LOG. */
    denials: absent(listOf(scriptDenial)),
    /** Its messages have listeners: the caller waits while too many events are undelivered. */
    hasSaid: absent(flag),
    /** The SLOWLOG threshold of the database; only set below a millisecond. */
    slowerThanMicros: absent(integer),
    /** Changes that the asked indexes of keys do not have yet; only set after a question to one. */
    indexLag: absent(integer),
  });
export type KvResponse = TypeOf<ReturnType<typeof kvResponseOf>>;
