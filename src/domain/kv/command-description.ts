/**
 * The description of a Redis command, without its handlers. It drives arity errors, routing by key, read-only tokens,
 * the commands allowed in a transaction, the COMMAND reply and the docs. No other code branches on a command's name.
 */
import type { ByteString } from '../../kernel/index.js';
import type { ErrorReply } from './reply.js';

export type CommandFlag =
  | 'write'
  | 'readonly'
  /** Refused when the database is full. */
  | 'denyoom'
  | 'admin'
  | 'dangerous'
  | 'fast'
  /** Answered by the edge without asking a partition. */
  | 'edge'
  /** Its replies differ from Redis's for the same arguments; tests compare their shape. */
  | 'random'
  /** May wait for a key on a connection. */
  | 'blocking'
  /** Scripts may not call it. */
  | 'noscript'
  /** Concerns the connection itself: answered by the endpoint that holds it. */
  | 'connection'
  /** Belongs to Pub/Sub; permitted by channel. */
  | 'pubsub'
  /** Runs a script: its effects depend on the commands that the script calls. */
  | 'script'
  /** May run during a slow script or while state is loading. Only COMMAND shows these flags. */
  | 'loading'
  | 'stale'
  /** May not be queued in MULTI. */
  | 'nomulti'
  /** May be sent before AUTH. */
  | 'noauth'
  /** Hidden from MONITOR, because it carries secrets or is of no interest. */
  | 'skip-monitor'
  | 'skip-slowlog';

/**
 * How a database of several partitions answers a command about all keys. `walk` asks the partitions one after the other
 * and puts the partition into the cursor. The others ask all partitions, not atomically. `succeeded` is the first
 * answer that is not an error. The others answer with the first error if there is one; otherwise with the sum, all
 * items joined, the first answer that is not null (`any`), or the first partition's answer. A command about an `index`
 * takes several steps (`families/full-text/across.ts`).
 */
export type AcrossPartitions = 'walk' | 'index' | 'sum' | 'items' | 'any' | 'first' | 'succeeded';

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
  | 'array'
  | 'queue'
  | 'vector'
  | 'vector-set'
  | 'search'
  | 'bloom'
  | 'cuckoo'
  | 'count-min'
  | 'top-k'
  | 't-digest'
  | 'cluster';

/** The access a command needs to a key: for permissions by key (`%R~`, `%W~`) and COMMAND GETKEYSANDFLAGS. */
export type KeyAccess = 'read' | 'write' | 'both';

/** The positions of the keys among the words (0 is the name). Without `access`, the command's flags decide. */
export type KeySpec =
  | { readonly kind: 'none' }
  /** From `first` to `last` (negative: counted from the end), every `step` words. */
  | {
      readonly kind: 'span';
      readonly first: number;
      readonly last: number;
      readonly step: number;
      readonly access?: KeyAccess;
    }
  /**
   * A count at position `at`, followed by that many keys, every `step` words. `before`: positions of single keys in
   * front, which are written.
   */
  | {
      readonly kind: 'counted';
      readonly at: number;
      readonly before: readonly number[];
      readonly step?: number;
      readonly access?: KeyAccess;
    }
  /** Several specs in order: `COPY` reads one key and writes another. */
  | { readonly kind: 'several'; readonly parts: readonly KeySpec[] }
  /** Positions that depend on the words (`XREAD … STREAMS`, `SORT … STORE`). */
  | {
      readonly kind: 'found';
      readonly find: (words: readonly ByteString[]) => readonly FoundKey[];
      readonly searches: readonly KeySearch[];
    };

export interface FoundKey {
  readonly position: number;
  readonly access?: KeyAccess;
}

/** How COMMAND INFO tells clients to find such keys. With neither `at` nor `keyword`, clients cannot find them. */
export interface KeySearch {
  /** In the words of `keyUse`. */
  readonly use: string;
  readonly at?: number;
  /** The keys follow this word, which is searched from position `from` on. */
  readonly keyword?: string;
  readonly from?: number;
  /** The distance of the last key from the first; negative: counted from the end. */
  readonly last?: number;
  /** Keys are only the first 1/limit of the remaining words; 0: all of them. */
  readonly limit?: number;
}

export const NO_KEYS: KeySpec = { kind: 'none' };

export function at(position: number, access?: KeyAccess): KeySpec {
  return span(position, position, 1, access);
}

export function span(first: number, last: number, step = 1, access?: KeyAccess): KeySpec {
  return access === undefined ? { kind: 'span', first, last, step } : { kind: 'span', first, last, step, access };
}

/** The keys at `before` are written; the counted keys are read, unless `access` says otherwise. */
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

export type KvEndpointName = 'rest' | 'resp';

/** The permissions of a user. @see src/domain/kv/acl */
export interface Permissions {
  readonly user: string;
  /** The error for a command that is not permitted; undefined when it may run. */
  refusal(spec: CommandDescription, words: readonly ByteString[]): ErrorReply | undefined;
  mayReach(channel: ByteString, isPattern: boolean): boolean;
  /** The key patterns of all rule sets, as written: `~a*`, `%R~b`; `~*` means all keys. */
  readonly keyPatterns: readonly ByteString[];
}

/** A row of the command table without its handlers. */
export interface CommandDescription {
  /** Upper case; a subcommand has its own row: `OBJECT ENCODING`. */
  readonly name: string;
  readonly family: CommandFamily;
  /** Words including the name; negative: the minimum. */
  readonly arity: number;
  readonly flags: readonly CommandFlag[];
  readonly keys: KeySpec;
  /**
   * The use of the keys in Redis's words, one text for each part of `keys`: `RO`, `RW`, `OW` (overwritten whatever the
   * key holds) or `RM`, then `access`, `update`, `insert`, `delete`. Default: derived from `access`.
   */
  readonly keyUse?: readonly string[];
  /** The access a user needs to every key, where it does not follow from `keyUse`; a function where options decide. */
  readonly keyNeeds?: KeyAccess | ((words: readonly ByteString[]) => KeyAccess);
  /** Channels a user needs access to: the first word after the name, all of them, or all of them as patterns. */
  readonly channels?: 'first' | 'all' | 'patterns';
  /** Hints of COMMAND INFO for proxies and cluster clients, in Redis's words. */
  readonly tips?: readonly string[];
  /** O(1) or O(log n) for all arguments. Default: the flag `fast`; the table fills it in. */
  readonly isQuick?: boolean;
  /** Quick, read-only, never sliced and never waiting; the table fills it in. */
  readonly isQuickRead?: boolean;
  /** Whether a script may call it; the table fills it in. */
  readonly isForScripts?: boolean;
  /**
   * Flags that are checked for every command, as booleans: `write`, `denyoom`, `blocking`, `script`, `noauth`; the
   * table fills them in.
   */
  readonly isWriting?: boolean;
  readonly mayGrow?: boolean;
  readonly isBlocking?: boolean;
  readonly runsScript?: boolean;
  readonly isBeforeAuth?: boolean;
  /** ACL categories without the `@`, in place of its family's; flags add theirs. */
  readonly categories?: readonly string[];
  /** All its ACL categories, where they do not follow from its flags. */
  readonly allCategories?: readonly string[];
  /** ACL rules may name it with any subcommand, because some Redis version has or had subcommands. */
  readonly rulesMayNameParts?: boolean;
  readonly summary: string;
  /** The Redis version that introduced it. */
  readonly since: string;
  /** Refused over REST, or answered by another REST route. */
  readonly rest?: 'refused' | 'other-route';
  /** The error for words that REST refuses before the command is queued; undefined if they may run. */
  readonly restProblem?: (words: readonly ByteString[]) => ErrorReply | undefined;
  /** Differences from Redis's answer, one sentence each, for `docs/deviations.md`. */
  readonly deviations?: readonly string[];
  /** Reads or changes keys of all partitions; how their answers are combined. */
  readonly acrossPartitions?: AcrossPartitions;
  /**
   * The format level that its effects need, because programs of lower levels cannot replay them. Below it the command
   * is refused. Default: the first level.
   */
  readonly formatLevel?: number;
  /**
   * Counts as a write although it stores no change here, as in Redis: CLIENT PAUSE holds it up, and read-only scripts
   * may not call it.
   */
  readonly countsAsWrite?: boolean;
  /** Its values belong to a list of fields that the connection holds: the endpoint sends the owner both. */
  readonly takesFieldSet?: boolean;
  /** Allowed on a RESP2 connection with subscriptions. */
  readonly mayFollowSubscribe?: boolean;
  /** Clients send it after connecting to check whether the server is loading. */
  readonly asksReadiness?: boolean;
  /** Stops the running script, so it does not wait for it. */
  readonly endsScript?: boolean;
  /** Its answer shows keys that it does not name, so it waits for every change that is not stored. */
  readonly readsUnnamedKeys?: boolean;
  /** Waits for the index that its first key names: to be built, or to have all earlier changes. */
  readonly waitsForIndex?: 'built' | 'changes';
  /** Waits for a consumer group: also woken when the key is deleted. */
  readonly waitsForGroup?: boolean;
  /** Whether the built-in read-only token may run it. Default: the flags have `readonly` and not `dangerous`. */
  readonly readOnlyToken?: boolean;
  /** Changes no data, but is refused to the built-in read-only token, which is made for public web pages. */
  readonly isLook?: boolean;
}

/** Commands about the connection, and commands that start scripts, may not run in a script. */
export function isForScripts({ flags, family }: CommandDescription): boolean {
  if (flags.includes('noscript') || flags.includes('connection') || flags.includes('admin')) return false;
  return family !== 'scripting' && family !== 'function' && family !== 'transactions';
}

export function isWrite(spec: CommandDescription): boolean {
  return spec.isWriting ?? spec.flags.includes('write');
}

/** Whether CLIENT PAUSE WRITE holds it up. A command that runs a script is held up unless it is a read-only variant. */
export function isHeldWithWrites(spec: CommandDescription): boolean {
  return isWrite(spec) || spec.countsAsWrite === true || mayRunWrites(spec);
}

/** Whether it runs a script that may write. */
export function mayRunWrites({ flags }: CommandDescription): boolean {
  return flags.includes('script') && !flags.includes('readonly');
}

/** The keys among the words, in order. Words that do not fit the spec give the keys that are present. */
export function keysOf(spec: CommandDescription, words: readonly ByteString[]): ByteString[] {
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

/** As `keysOf`, with the access to each key. */
export function accessedKeysOf(spec: CommandDescription, words: readonly ByteString[]): AccessedKey[] {
  const keys: AccessedKey[] = [];
  const fallback: KeyAccess = isWrite(spec) ? 'both' : 'read';
  eachKey(spec.keys, words, fallback, (position, access, part) => {
    keys.push({ key: words[position] as ByteString, position, access: access ?? fallback, part });
  });
  return keys;
}

type KeyVisitor = (position: number, access: KeyAccess | undefined, part: number) => void;

function eachKey(
  spec: KeySpec,
  words: readonly ByteString[],
  fallback: KeyAccess | undefined,
  visit: KeyVisitor,
  part = 0,
): void {
  switch (spec.kind) {
    case 'none':
      return;
    case 'span': {
      const last = spec.last < 0 ? words.length + spec.last : spec.last;
      for (let i = spec.first; i <= last && i < words.length; i += spec.step) visit(i, spec.access ?? fallback, part);
      return;
    }
    case 'counted': {
      for (const position of spec.before) if (position < words.length) visit(position, 'write', part);
      const count = Number(words[spec.at]);
      const step = spec.step ?? 1;
      const access = spec.access ?? (spec.before.length > 0 ? 'read' : fallback);
      const ofCounted = spec.before.length > 0 ? part + 1 : part;
      for (let i = 0; i < count; i += 1) {
        const position = spec.at + 1 + i * step;
        if (position >= words.length) break;
        visit(position, access, ofCounted);
      }
      return;
    }
    case 'several':
      for (const [index, inner] of spec.parts.entries()) eachKey(inner, words, fallback, visit, index);
      return;
    case 'found':
      for (const { position, access } of spec.find(words)) {
        if (position < words.length) visit(position, access ?? fallback, part);
      }
  }
}
