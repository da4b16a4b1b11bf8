/** What an edge asks of the owner of a partition, and what comes back. */
import type { KvFaceName, Reply } from '../domain/kv/index.js';
import type { ByteString, DatabaseId, PartitionName, SessionId } from '../kernel/index.js';

/**
 * `single` and `pipeline`: each command on its own, in order, others may come between.
 * `transaction`: all in one turn and one entry.
 * `watch`: one `WATCH key …`; its reply is the mark that a later transaction gives back.
 * `reads-only`: the beginnings of commands that run scripts, name and script; 1 for each whose script or function says
 * of itself that it writes nothing, else 0.
 * `unblock`: one `[waiter, 'TIMEOUT' | 'ERROR' | 'GONE']`; 1 if that command was waiting, else 0.
 * `listen`: no commands; see `listen`.
 * `replace`: one `[manifest]`, the name of a kept state, which takes the place of all that the partition has. Takes as
 * long as loading it: to be sent with a `waiter`.
 */
export type KvMode = 'single' | 'pipeline' | 'transaction' | 'watch' | 'reads-only' | 'unblock' | 'listen' | 'replace';

/** Who sent it, as far as the owner has to know. */
export interface KvClient {
  readonly face: KvFaceName;
  readonly protocol: 2 | 3;
  /** Of the connection, unique among all processes: `<session>:<number>`. */
  readonly id: string;
  /** For MONITOR and ACL LOG: `127.0.0.1:50432`. */
  readonly address: string;
  readonly user: string;
  /** As CLIENT SETNAME gave it. */
  readonly name?: string | undefined;
  /** The user's ACL rules, where they matter to the owner: for scripts of users who may not do everything. */
  readonly rules?: string | undefined;
}

/** A mark that WATCH gave, with the keys it stands for. */
export interface KvWatch {
  readonly keys: readonly ByteString[];
  /** Of the owner's activation and its count of changes; opaque. */
  readonly mark: string;
}

/** What a process's clients listen to; told to the owner of the partition. */
export interface KvListen {
  readonly edge: SessionId;
  /** Forget everything that this process said before. */
  readonly isWhole: boolean;
  /** How many of its clients listen to that now; 0: none any more. */
  readonly counts: readonly (readonly [kind: KvListenKind, name: ByteString, count: number])[];
}

/** `pause`: as '' that commands which write are held up, as `held` each client that is: nobody is told of anything. */
export type KvListenKind = 'channel' | 'pattern' | 'shard-channel' | 'monitor' | 'invalidation' | 'pause';

export interface KvRequest {
  readonly database: DatabaseId;
  readonly partition: PartitionName;
  readonly mode: KvMode;
  /** Admitted commands: known, of right arity, permitted. */
  readonly commands: readonly (readonly ByteString[])[];
  /** Bytes of all words, for the bounds of mailbox and turn. */
  readonly bytes: number;
  /** Left out: a plain REST request of a user who may do everything. */
  readonly client?: KvClient | undefined;
  /** May wait until there is something to answer; the name by which `unblock` finds it. One command only. */
  readonly waiter?: string | undefined;
  /** The transaction runs only if none of these keys has changed since. */
  readonly watches?: readonly KvWatch[] | undefined;
  /** Tell this process when a key that is read here changes next. */
  readonly trackFor?: SessionId | undefined;
  readonly listen?: KvListen | undefined;
  /**
   * Behind replies of so many bytes nothing more is run: of a pipeline the rest, which then has no replies; of a
   * transaction what only reads, which is answered with an error. Left out: everything is run.
   */
  readonly maxAnswerBytes?: number | undefined;
  /** Has whoever asked left? What is half done ends then, what only reads is not begun. Asked where the asker is. */
  readonly isGone?: (() => boolean) | undefined;
}

/** A command that a script was refused: the command, the key or the channel that was in the way. */
export interface ScriptDenial {
  readonly user: ByteString;
  readonly reason: 'command' | 'key' | 'channel';
  readonly object: ByteString;
}

export interface KvResponse {
  /** One for each command, in order; fewer where `maxAnswerBytes` came first. */
  readonly replies: readonly Reply[];
  /** Grows with every write to the partition; opaque to clients. `<position>-<ordinal>`. */
  readonly syncToken: string;
  /** The transaction did not run: because a watched key has changed, or for the one reason among the replies. */
  readonly isAborted?: boolean | undefined;
  /** The database has reached its bound, and nothing may be evicted: commands that let it grow are refused for now. */
  readonly isFull?: boolean | undefined;
  /** What scripts and functions of it were refused, for ACL LOG. */
  readonly denials?: readonly ScriptDenial[] | undefined;
  /** Of a request with `trackFor`: keys that its scripts have read, of those that were named and of others. */
  readonly scriptReads?: readonly ByteString[] | undefined;
  /** Somebody listens to what it has published or done: whoever asked waits while too much of that is still to be handed on. */
  readonly hasSaid?: boolean | undefined;
}
