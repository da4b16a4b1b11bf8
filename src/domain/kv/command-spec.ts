/**
 * A row of the command table with its handlers, and the context that a handler receives. This file imports no command,
 * so that every command can import it.
 */
import type { ByteString, Random } from '../../kernel/index.js';
import type { Args } from './args.js';
import type { Audience } from './audience.js';
import type { Closure } from './closure.js';
import type { CommandDescription, KvEndpointName, Permissions } from './command-description.js';
import type { Effects } from './effects.js';
import type { HashRange } from './hash-slot.js';
import type { Keyspace } from './keyspace.js';
import type { Libraries } from './libraries.js';
import type { NotificationKind } from './notifications.js';
import type { Outbox } from './outbox.js';
import type { Blocked, ErrorReply, Paused, Reply } from './reply.js';
import type { SearchRegistry } from './search-registry.js';
import type { ServerInfo } from './server-info.js';
import type { Settings } from './settings.js';
import type { ServerCounters } from './statistics.js';
import type { UndoableExecution } from './undoable-execution.js';

/** The command table as handlers see it. */
export interface CommandLookup {
  readonly rows: readonly CommandSpec[];
  /** The row of exactly that name, in upper or lower case. */
  rowOf(name: string): CommandSpec | undefined;
  /** The row for a command as typed, in any case; for a container, its subcommand's row. */
  find(words: readonly ByteString[]): CommandSpec | undefined;
  /** The row of a command that may be queued, or the error for an unknown command or a wrong arity. */
  admit(words: readonly ByteString[]): CommandSpec | ErrorReply;
}

export interface CommandContext {
  readonly args: Args;
  readonly commands: CommandLookup;
  readonly keyspace: Keyspace;
  readonly effects: Effects;
  /** The atomic run of this command, if its changes can be undone. */
  readonly run: UndoableExecution;
  readonly random: Random;
  /** The time that this command uses; 0 in replay, where every effect is absolute. */
  readonly nowMs: number;
  readonly server: ServerInfo;
  /** The command is a replayed effect: sizes are not checked and no client is notified. */
  readonly isReplay: boolean;
  /** The database's parameters, as CONFIG SET left them. */
  readonly settings: Settings;
  /** The memory bound to show to clients, `maxmemory` or less; 0: none. */
  readonly bounds: { readonly shownBytes: number };
  /** Counters of this database. */
  readonly statistics: ServerCounters;
  /** Subscribers and monitors. */
  readonly audience: Audience;
  readonly libraries: Libraries;
  /** Messages for the queue. */
  readonly outbox: Outbox;
  readonly closure: Closure;
  /** The full-text indexes of this database. */
  readonly searches: SearchRegistry;
  /** The endpoint that received the command; a few documented answers differ. */
  readonly endpoint: KvEndpointName;
  /** Whether the handler may answer `Blocked`. Not over REST, in a transaction or in a script. */
  readonly mayBlock: boolean;
  readonly mayPause: boolean;
  /** A few replies differ in RESP3 beyond their encoding. */
  readonly protocol: 2 | 3;
  /** Inside MULTI, `/multi-exec` or a script. */
  readonly isNested: boolean;
  /** The database has reached its bound and no key can be evicted: scripts may not make it grow. */
  readonly isFull: boolean;
  /** Bytes of the longest command, and of the longest answer over REST. */
  readonly maxCommandBytes: number;
  /** The most bytes of one answer, counted over its strings and items; see `AnswerSize`. */
  readonly maxAnswerBytes: number;
  /** The user's ACL permissions; undefined: all. Scripts check them before each command. */
  readonly permissions: Permissions | undefined;
  /** The hash slots of this partition, in a database of several partitions or of another layout than its first. */
  readonly slots: HashRange | undefined;
  /** Publishes a keyspace event if its kind is enabled: `notify('l', 'lpush', key)`. Cheap when it is not. */
  notify(kind: NotificationKind, event: string, key: ByteString): void;
  /**
   * Runs an admitted command as part of this one. Never blocks; a refusal is returned as the reply. @param isQuiet
   * suppresses its keyspace events, because the outer command publishes its own
   */
  call(spec: CommandSpec, words: readonly ByteString[], isQuiet?: boolean): Reply;
  isLong(spec: CommandSpec, words: readonly ByteString[]): boolean;
  callInSlices(spec: CommandSpec, words: readonly ByteString[], isQuiet?: boolean): Generator<void, Reply>;
  /** A separate empty keyspace, to build a value before other commands can see it. */
  aside(): ReplayTarget;
}

/** A keyspace to which recorded effects can be applied. */
interface ReplayTarget {
  readonly keyspace: Keyspace;
  /** @throws DEFECT when the effect does not apply */
  replay(words: readonly ByteString[]): void;
  replayInSlices(words: readonly ByteString[]): Generator<void, void>;
}

/** Answers `Blocked` only if `mayBlock`, `Paused` only if `mayPause`. */
export type Handler = (context: CommandContext) => Reply | Blocked | Paused;

/**
 * A handler of a long command, in slices of about a millisecond. No other command of the same database runs between two
 * slices, so it sees and leaves one consistent state; other databases and the event loop continue.
 */
export type SlicedHandler = (context: CommandContext) => Generator<void, Reply>;

/** A row of the command table: the description of a command and its handlers. */
export interface CommandSpec extends CommandDescription {
  readonly handler: Handler;
  /** Used instead of `handler` where the command can be interrupted; with `isLong`, only when that is true. */
  readonly sliced?: SlicedHandler;
  /**
   * Whether there is so much work that it needs slices. Asked before the command runs; costs a few lookups at most.
   * Default: always. @throws ErrorReply for words that the handler will refuse, so there is no work
   */
  readonly isLong?: (context: CommandContext) => boolean;
  /**
   * Judges the command before its transaction runs any command; a refusal discards the transaction. @throws ErrorReply
   */
  readonly judge?: (context: CommandContext) => void;
  /** For a command that runs a script: whether the script or function declares that it writes no keys. */
  readonly readsOnly?: (context: CommandContext) => boolean;
}
