/** What an edge asks of the owner of a partition, and what comes back. */
import type { Reply } from '../domain/kv/index.js';
import type { ByteString, DatabaseId, PartitionName, SessionId } from '../kernel/index.js';
import {
  absent,
  flag,
  integer,
  listOf,
  namedRecord,
  openRecord,
  orElse,
  type RecordType,
  type Shape,
  type TypeOf,
  text,
  tuple,
  wordOf,
} from '../kernel/schema/index.js';
import type { Span } from './trace.js';

/** Its characters are below 256, so that any encoding of texts holds it. */
const byteString = text<ByteString>();
const session = text<SessionId>();

/**
 * `single` and `pipeline`: each command on its own, in order, others may come between.
 * `transaction`: all in one turn and one entry.
 * `watch`: one `WATCH key …`; its reply is the mark that a later transaction gives back.
 * `reads-only`: the beginnings of commands that run scripts, name and script; 1 for each whose script or function says
 * of itself that it writes nothing, else 0.
 * `unblock`: one `[waiter, 'TIMEOUT' | 'ERROR' | 'GONE']`; 1 if that command was waiting, else 0.
 * `listen`: no commands; see `listen`.
 * `replace`: one `[manifest]`, the name of a kept state, which takes the place of all that the partition has. Takes as
 * long as loading it: to be sent with a `waiter`. */
const mode = wordOf('single', 'pipeline', 'transaction', 'watch', 'reads-only', 'unblock', 'listen', 'replace');
export type KvMode = TypeOf<typeof mode>;

/** Who sent it, as far as the owner has to know. */
const client = namedRecord({
  face: wordOf('rest', 'resp'),
  protocol: integer as Shape<2 | 3>,
  /** It is the connection's, unique among all processes: `<session>:<number>`. */
  id: text(),
  /** MONITOR and ACL LOG show it: `127.0.0.1:50432`. */
  address: text(),
  user: text(),
  /** It is what CLIENT SETNAME gave. */
  name: absent(text()),
  /** The user's ACL rules, where they matter to the owner: for scripts of users who may not do everything. */
  rules: absent(text()),
});
export type KvClient = TypeOf<typeof client>;

/** A mark that WATCH gave, with the keys it stands for. */
const watch = namedRecord({
  keys: listOf(byteString),
  /** It is made of the owner's activation and its count of changes; opaque. */
  mark: text(),
});
export type KvWatch = TypeOf<typeof watch>;

/** `pause`: as '' that commands which write are held up, as `held` each client that is: nobody is told of anything. */
const listenKind = wordOf('channel', 'pattern', 'shard-channel', 'monitor', 'invalidation', 'pause');
export type KvListenKind = TypeOf<typeof listenKind>;

/** What a process's clients listen to; told to the owner of the partition. */
const listen = namedRecord({
  edge: session,
  /** Forget everything that this process said before. */
  isWhole: flag,
  /** How many of its clients listen to that now; 0: none any more. */
  counts: listOf(tuple<[kind: KvListenKind, name: ByteString, count: number]>(listenKind, byteString, integer)),
});
export type KvListen = TypeOf<typeof listen>;

const asked = {
  database: text<DatabaseId>(),
  partition: text<PartitionName>(),
  mode,
  /** Admitted commands: known, of right arity, permitted. */
  commands: listOf(listOf(byteString)),
  /** Bytes of all words, for the bounds of mailbox and turn. */
  bytes: integer,
};

const details = {
  /** Left out: a plain REST request of a user who may do everything. */
  client: absent(client),
  /** May wait until there is something to answer; the name by which `unblock` finds it. One command only. */
  waiter: absent(text()),
  /** The transaction runs only if none of these keys has changed since. */
  watches: absent(listOf(watch)),
  /** Tell this process when a key that is read here changes next. */
  trackFor: absent(session),
  listen: absent(listen),
  /**
   * Behind replies of so many bytes nothing more is run: of a pipeline the rest, which then has no replies; of a
   * transaction what only reads, which is answered with an error. Left out: everything is run.
   */
  maxAnswerBytes: absent(integer),
  /** Of how many partitions this is one; left out: of one. Scripts are refused what lies in another. */
  partitions: absent(integer),
};

/**
 * The place of a request among those of its connection, of which it may be asked for before those in front of it are
 * answered. An owner in the same process keeps to it, and nobody else is told.
 */
export interface RequestPlace {
  /** The owner has it, behind those in front of it. */
  handedOn(): void;
  /** May it be begun? If not it is answered without replies. */
  mayRun(): boolean;
  /** All of it was executed. */
  hasRun(): void;
  /** It was surely not executed. @returns may it be tried again at once? If not it is answered without replies */
  hasFailed(): boolean;
}

export interface KvRequest extends RecordType<typeof asked & typeof details> {
  /** Has whoever asked left? What is half done ends then, what only reads is not begun. Asked where the asker is. */
  readonly isGone?: (() => boolean) | undefined;
  readonly place?: RequestPlace | undefined;
  /** Undefined: it is not traced. */
  readonly trace?: Span | undefined;
}

/** It travels so: a process of an earlier version sends no details. */
export const kvRequest = openRecord({ ...asked, details: orElse(namedRecord(details), {}) });

/** A command that a script was refused: the command, the key or the channel that was in the way. */
const scriptDenial = namedRecord({ user: byteString, reason: wordOf('command', 'key', 'channel'), object: byteString });
export type ScriptDenial = TypeOf<typeof scriptDenial>;

/** @param reply the shape of one (codec/remote) */
export const kvResponseOf = (reply: Shape<Reply>) =>
  openRecord({
    /** Grows with every write to the partition; opaque to clients. `<position>-<ordinal>`. */
    syncToken: text(),
    /** One for each command, in order; fewer where `maxAnswerBytes` came first. */
    replies: listOf(reply),
    /** The transaction did not run: because a watched key has changed, or for the one reason among the replies. */
    isAborted: absent(flag),
    /** The database has reached its bound, and nothing may be evicted: commands that let it grow are refused for now. */
    isFull: absent(flag),
    /** They answer a request with `trackFor`: keys that its scripts have read, of those that were named and of others. */
    scriptReads: absent(listOf(byteString)),
    /** What scripts and functions of it were refused, for ACL LOG. */
    denials: absent(listOf(scriptDenial)),
    /** Somebody listens to what it has published or done: whoever asked waits while too much of that is still to be handed on. */
    hasSaid: absent(flag),
  });
export type KvResponse = TypeOf<ReturnType<typeof kvResponseOf>>;
