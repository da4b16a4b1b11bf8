/**
 * One row of the command table: all there is to say about a Redis command. It drives arity errors,
 * routing by key, read-only tokens, what a transaction may hold, the COMMAND reply and the docs.
 * Nothing else switches on a command's name.
 */
import type { ByteString, Random } from '../../kernel/index.js';
import type { Args } from './args.js';
import type { Audience } from './audience.js';
import type { CommandTable } from './command-table.js';
import type { Effects } from './effects.js';
import type { HashRange } from './hash-slot.js';
import type { Keyspace } from './keyspace.js';
import type { Libraries } from './libraries.js';
import type { NotificationKind } from './notifications.js';
import type { Blocked, ErrorReply, Paused, Reply } from './reply.js';
import type { AtomicRun } from './run.js';
import type { Settings } from './settings.js';
import type { ServerCounters } from './statistics.js';

export type CommandFlag =
  | 'write'
  | 'readonly'
  /** Refused when the database is full. */
  | 'denyoom'
  | 'admin'
  | 'dangerous'
  | 'fast'
  /** The edge answers it alone; no partition is asked. */
  | 'edge'
  /** Same arguments, other reply: compared by shape. */
  | 'random'
  /** Waits on a connection until there is something to answer. */
  | 'blocking'
  /** Scripts may not call it. */
  | 'noscript'
  /** Concerns the connection itself: answered by the face that holds it. */
  | 'connection'
  /** It belongs to Pub/Sub, and is permitted by channel. */
  | 'pubsub'
  /** Runs a script: what it may do depends on what the script asks. */
  | 'script'
  /** May run while a script is too slow, or state is loading; shown by COMMAND alone. */
  | 'loading'
  | 'stale'
  /** It may not be queued inside MULTI. */
  | 'nomulti'
  /** It may be sent before AUTH. */
  | 'noauth'
  /** Not shown to MONITOR: it carries secrets or is of no interest. */
  | 'skip-monitor'
  | 'skip-slowlog';

/**
 * A command about every key has its answer made so in a database of several partitions. `walk`: they are asked one
 * after the other, with the partition inside the cursor. The others ask all, not in one step. `succeeded` is the first
 * that is no refusal. The others answer with the first refusal if there is one, else with the sum, all items together,
 * the first that is not null, or just the first.
 */
export type AcrossPartitions = 'walk' | 'sum' | 'items' | 'any' | 'first' | 'succeeded';

export type CommandFamily =
  | 'string'
  | 'generic'
  | 'connection'
  | 'transactions'
  | 'server'
  | 'bitmap'
  | 'hash'
  | 'list'
  | 'set'
  | 'sorted-set'
  | 'geo'
  | 'hyperloglog'
  | 'stream'
  | 'scripting'
  | 'function'
  | 'acl'
  | 'pubsub'
  | 'json'
  | 'cluster';

/** What a command does with a key: for permissions by key (`%R~`, `%W~`) and COMMAND GETKEYSANDFLAGS. */
export type KeyAccess = 'read' | 'write' | 'both';

/** Where the keys stand among the words (0 is the name). Without `access`: by the command's flags. */
export type KeySpec =
  | { readonly kind: 'none' }
  /** From `first` to `last` (negative: counted from the end) in steps. */
  | {
      readonly kind: 'span';
      readonly first: number;
      readonly last: number;
      readonly step: number;
      readonly access?: KeyAccess;
    }
  /** A count at `at`, its keys after it, every `step` words; `before`: further single keys in front, written. */
  | {
      readonly kind: 'counted';
      readonly at: number;
      readonly before: readonly number[];
      readonly step?: number;
      readonly access?: KeyAccess;
    }
  /** Several of them, in order: `COPY` reads one key and writes another. */
  | { readonly kind: 'several'; readonly parts: readonly KeySpec[] }
  /** Positions that only a look at the words can tell (`XREAD … STREAMS`, `SORT … STORE`). */
  | {
      readonly kind: 'found';
      readonly find: (words: readonly ByteString[]) => readonly FoundKey[];
      readonly searches: readonly KeySearch[];
    };

export interface FoundKey {
  readonly position: number;
  readonly access?: KeyAccess;
}

/** How clients are told to look for such keys (COMMAND INFO). Neither `at` nor `keyword`: they cannot. */
export interface KeySearch {
  /** It is worded as in `keyUse`. */
  readonly use: string;
  readonly at?: number;
  /** The keys stand behind this word, which is looked for from the word `from` on. */
  readonly keyword?: string;
  readonly from?: number;
  /** How many words behind the first key the last one is; negative: counted from the end. */
  readonly last?: number;
  /** Keys are only the first nth part of the words that are left; 0: all of them. */
  readonly limit?: number;
}

export const NO_KEYS: KeySpec = { kind: 'none' };

export function at(position: number, access?: KeyAccess): KeySpec {
  return span(position, position, 1, access);
}

export function span(first: number, last: number, step = 1, access?: KeyAccess): KeySpec {
  return access === undefined ? { kind: 'span', first, last, step } : { kind: 'span', first, last, step, access };
}

/** A destination at each of `before` is written; the counted keys are read, unless `access` says otherwise. */
export function counted(position: number, before: readonly number[] = [], access?: KeyAccess): KeySpec {
  const spec = { kind: 'counted', at: position, before } as const;
  return access === undefined ? spec : { ...spec, access };
}

export function several(...parts: readonly KeySpec[]): KeySpec {
  return { kind: 'several', parts };
}

export function found(
  find: (words: readonly ByteString[]) => readonly FoundKey[],
  ...searches: readonly KeySearch[]
): KeySpec {
  return { kind: 'found', find, searches };
}

export interface CommandContext {
  readonly args: Args;
  /** Every command there is. */
  readonly commands: CommandTable;
  readonly keyspace: Keyspace;
  readonly effects: Effects;
  /** What the command is, or is part of, if that can be taken back. */
  readonly run: AtomicRun;
  readonly random: Random;
  /** The instant this command is judged by; 0 in replay, where every effect is absolute. */
  readonly nowMs: number;
  readonly server: ServerInfo;
  /** Effects are read back: nothing is refused for its size, nobody is told of anything. */
  readonly isReplay: boolean;
  /** Parameters of this database, as CONFIG SET left them. */
  readonly settings: Settings;
  /** What may be held of it here, `maxmemory` or less; 0: as much as it likes. */
  readonly bounds: { readonly shownBytes: number };
  /** What has been counted about this database. */
  readonly statistics: ServerCounters;
  /** Those who listen: subscribers, monitors. */
  readonly audience: Audience;
  /** Libraries of functions; part of the database. */
  readonly libraries: Libraries;
  /** Where the command came in: a few documented answers differ. */
  readonly face: KvFaceName;
  /** May the handler answer `Blocked`? Not over REST, in a transaction or in a script. */
  readonly mayBlock: boolean;
  /** May the handler answer `Paused`? */
  readonly mayPause: boolean;
  /** In RESP3 a few replies differ beyond their form. */
  readonly protocol: 2 | 3;
  /** Inside MULTI, `/multi-exec` or a script. */
  readonly isNested: boolean;
  /** The database has reached its bound, and there was nothing to evict: scripts may not let it grow. */
  readonly isFull: boolean;
  /** Bytes of the longest command, and of the longest answer over REST. */
  readonly maxCommandBytes: number;
  /** The most bytes of one answer, counted over its strings and items; see `AnswerSize`. */
  readonly maxAnswerBytes: number;
  /** What the user may do, in ACL rules; undefined: everything. Scripts ask before each of their commands. */
  readonly permissions: Permissions | undefined;
  /** Of a database of several partitions: the slots that lie here. */
  readonly slots: HashRange | undefined;
  /** A keyspace event, for those who asked for its kind: `notify('l', 'lpush', key)`. Cheap when nobody did. */
  notify(kind: NotificationKind, event: string, key: ByteString): void;
  /**
   * Runs an admitted command as part of this one. A refusal is its reply. Never blocks.
   * @param isQuiet  its keyspace events are not told: the outer command has its own
   */
  call(spec: CommandSpec, words: readonly ByteString[], isQuiet?: boolean): Reply;
  /** Should it be called in slices? */
  isLong(spec: CommandSpec, words: readonly ByteString[]): boolean;
  /** The same as `call`, in slices of its own. */
  callInSlices(spec: CommandSpec, words: readonly ByteString[], isQuiet?: boolean): Generator<void, Reply>;
  /** An empty keyspace of its own, where a value can be made before anybody sees it. */
  aside(): ReplayTarget;
}

/** What recorded effects can be applied to. */
interface ReplayTarget {
  readonly keyspace: Keyspace;
  /** @throws DEFECT when the effect does not apply */
  replay(words: readonly ByteString[]): void;
  /** The same, in slices. */
  replayInSlices(words: readonly ByteString[]): Generator<void, void>;
}

export type KvFaceName = 'rest' | 'resp';

/** What a user may do. @see src/domain/kv/acl */
export interface Permissions {
  readonly user: string;
  /** The error a client gets instead, or undefined when the command may run. */
  refusal(spec: CommandSpec, words: readonly ByteString[]): ErrorReply | undefined;
  mayReach(channel: ByteString, isPattern: boolean): boolean;
  /** The key patterns of all sets of rules together, as they are written: `~a*`, `%R~b`; `~*`: all keys. */
  readonly keyPatterns: readonly ByteString[];
}

/** What one run may use up, in milliseconds of work. */
export interface ScriptLimits {
  readonly totalMs: number;
  /** What it may take while nobody else runs: where it cannot be interrupted, or is part of a transaction. */
  readonly holdMs: number;
}

/** What INFO and TIME tell that the keyspace does not know. */
export interface ServerInfo {
  /** Microseconds since the epoch, for TIME. */
  nowMicros(): number;
  /** Processor time of the process, in microseconds; left out: all time is taken for work. */
  workedMicros?(): number;
  /** What scripts may take at most; left out: as the bounds of the domain have it. */
  readonly scriptLimits?: ScriptLimits;
  /** What a command or a transaction may take, in milliseconds of work; left out: `MAX_COMMAND_MS`. */
  readonly commandMs?: number;
  /** Section → field → value, for INFO; the keyspace section is the engine's own. */
  info(): ReadonlyMap<string, ReadonlyMap<string, string>>;
}

/** `Blocked` only where `mayBlock`, `Paused` only where `mayPause`. */
export type Handler = (context: CommandContext) => Reply | Blocked | Paused;

/**
 * A handler that takes long, in steps of about a millisecond. Nothing else of the same database runs between
 * two steps, so it sees and leaves one state; other databases and the event loop go on.
 */
export type SlicedHandler = (context: CommandContext) => Generator<void, Reply>;

export interface CommandSpec {
  /** Upper case; a subcommand is its own row: `OBJECT ENCODING`. */
  readonly name: string;
  readonly family: CommandFamily;
  /** Words including the name; negative: at least. */
  readonly arity: number;
  readonly flags: readonly CommandFlag[];
  readonly keys: KeySpec;
  /**
   * What is done with the keys, in Redis's words, one for each part of `keys`: `RO`, `RW`, `OW` (overwritten whatever
   * it holds) or `RM`, then `access`, `update`, `insert`, `delete`. Left out: what `access` says.
   */
  readonly keyUse?: readonly string[];
  /** What a user needs of every key, where it does not follow from `keyUse`; a function where options decide. */
  readonly keyNeeds?: KeyAccess | ((words: readonly ByteString[]) => KeyAccess);
  /** Channels that a user needs: the first word behind the name, all of them, or all of them as patterns. */
  readonly channels?: 'first' | 'all' | 'patterns';
  /** They tell proxies and clients of clusters, in Redis's words (COMMAND INFO). */
  readonly tips?: readonly string[];
  readonly handler: Handler;
  /** Used instead of `handler` where whoever runs it can be left; of `isLong`, only when that says so. */
  readonly sliced?: SlicedHandler;
  /**
   * Is there so much to do that it should be sliced? Asked before; a few lookups at most. Default: always.
   * @throws ErrorReply for words that the handler will refuse: then there is nothing to do
   */
  readonly isLong?: (context: CommandContext) => boolean;
  /** O(1) or O(log n), whatever its arguments. Left out: when it is flagged `fast`; the table fills it in. */
  readonly isQuick?: boolean;
  /** Is it quick, and does it only look, in one go and without waiting? The table fills it in. */
  readonly isQuickRead?: boolean;
  /** May a script call it? The table fills it in. */
  readonly isForScripts?: boolean;
  /** What is asked of flags with every command: `write`, `denyoom`, `blocking`, `script`, `noauth`; the table fills it in. */
  readonly isWriting?: boolean;
  readonly mayGrow?: boolean;
  readonly isBlocking?: boolean;
  readonly runsScript?: boolean;
  readonly isBeforeAuth?: boolean;
  /** Categories of ACL rules, without the `@`, instead of its family's; flags add theirs. */
  readonly categories?: readonly string[];
  /** All its categories, where they do not follow from its flags here. */
  readonly allCategories?: readonly string[];
  /** ACL rules may name it with any subcommand: Redis has some, or had. */
  readonly rulesMayNameParts?: boolean;
  readonly summary: string;
  /** Redis version that brought it. */
  readonly since: string;
  /** Refused over REST, or answered by another route there. */
  readonly rest?: 'refused' | 'other-route';
  /** What REST refuses of it before it is queued; undefined for words that may run there. */
  readonly restProblem?: (words: readonly ByteString[]) => ErrorReply | undefined;
  /** How its answer differs from Redis's, a sentence each, for `docs/deviations.md`. */
  readonly deviations?: readonly string[];
  /** Reads or changes every key, wherever it is. */
  readonly acrossPartitions?: AcrossPartitions;
  /** Writes nothing here and counts as what does, as in Redis: CLIENT PAUSE holds it up, scripts that only read may not. */
  readonly countsAsWrite?: boolean;
  /** May be sent by a connection in RESP2 that has subscribed to something. */
  readonly mayFollowSubscribe?: boolean;
  /** Ends what runs, so it does not wait behind it. */
  readonly endsScript?: boolean;
  /** Waits for a consumer group: woken when the key is gone too. */
  readonly waitsForGroup?: boolean;
  /** It is asked of a command that runs a script: does the named script or function declare that it writes nothing? */
  readonly readsOnly?: (context: CommandContext) => boolean;
  /** May the built-in read-only token run it? Default: flags have `readonly` and not `dangerous`. */
  readonly readOnlyToken?: boolean;
  /** Changes nothing, though the built-in read-only token, which is made for pages of strangers, may not run it. */
  readonly isLook?: boolean;
}

/** Commands about the connection, and those that start scripts, have no place in one. */
export function isForScripts({ flags, family }: CommandSpec): boolean {
  if (flags.includes('noscript') || flags.includes('connection') || flags.includes('admin')) return false;
  return family !== 'scripting' && family !== 'function' && family !== 'transactions';
}

export function isWrite(spec: CommandSpec): boolean {
  return spec.isWriting ?? spec.flags.includes('write');
}

/** Does CLIENT PAUSE WRITE hold it up? Of what runs a script, unless that says that it writes nothing. */
export function isHeldWithWrites(spec: CommandSpec): boolean {
  return isWrite(spec) || spec.countsAsWrite === true || mayRunWrites(spec);
}

/** Does it run a script that may write? */
export function mayRunWrites({ flags }: CommandSpec): boolean {
  return flags.includes('script') && !flags.includes('readonly');
}

/** Keys among the words, in order. Words that do not fit the spec give the keys that are there. */
export function keysOf(spec: CommandSpec, words: readonly ByteString[]): ByteString[] {
  const keys: ByteString[] = [];
  eachKey(spec.keys, words, undefined, (position) => keys.push(words[position] as ByteString));
  return keys;
}

export interface AccessedKey {
  readonly key: ByteString;
  readonly position: number;
  readonly access: KeyAccess;
  /** The part of the row's `keys` that names it; 0 where `keys` has no parts. */
  readonly part: number;
}

/** The same, with what is done to each. */
export function accessedKeysOf(spec: CommandSpec, words: readonly ByteString[]): AccessedKey[] {
  const keys: AccessedKey[] = [];
  const fallback: KeyAccess = isWrite(spec) ? 'both' : 'read';
  eachKey(spec.keys, words, fallback, (position, access, part) => {
    keys.push({ key: words[position] as ByteString, position, access: access ?? fallback, part });
  });
  return keys;
}

type KeyVisitor = (position: number, access: KeyAccess | undefined, part: number) => void;

function eachKey(
  where: KeySpec,
  words: readonly ByteString[],
  fallback: KeyAccess | undefined,
  visit: KeyVisitor,
  part = 0,
): void {
  switch (where.kind) {
    case 'none':
      return;
    case 'span': {
      const last = where.last < 0 ? words.length + where.last : where.last;
      for (let i = where.first; i <= last && i < words.length; i += where.step)
        visit(i, where.access ?? fallback, part);
      return;
    }
    case 'counted': {
      for (const position of where.before) if (position < words.length) visit(position, 'write', part);
      const count = Number(words[where.at]);
      const step = where.step ?? 1;
      const access = where.access ?? (where.before.length > 0 ? 'read' : fallback);
      const ofCounted = where.before.length > 0 ? part + 1 : part;
      for (let i = 0; i < count; i += 1) {
        const position = where.at + 1 + i * step;
        if (position >= words.length) break;
        visit(position, access, ofCounted);
      }
      return;
    }
    case 'several':
      for (const [index, inner] of where.parts.entries()) eachKey(inner, words, fallback, visit, index);
      return;
    case 'found':
      for (const { position, access } of where.find(words)) {
        if (position < words.length) visit(position, access ?? fallback, part);
      }
  }
}
