/**
 * One row of the command table: all there is to say about a Redis command. It drives arity errors,
 * routing by key, read-only tokens, what a transaction may hold, the COMMAND reply and the docs.
 * Nothing else switches on a command's name.
 */
import type { ByteString, Random } from '../../kernel/index.js';
import type { Args } from './args.js';
import type { Effects } from './effects.js';
import type { Keyspace } from './keyspace.js';
import type { Reply } from './reply.js';

export type CommandFlag =
  | 'write'
  | 'readonly'
  /** Refused when the database is full. */
  | 'denyoom'
  | 'admin'
  | 'dangerous'
  | 'fast'
  /** Reads or changes every key: in a database of several partitions the edge fans it out. */
  | 'keyspace'
  /** The edge answers it alone; no partition is asked. */
  | 'edge'
  /** Same arguments, other reply: compared by shape. */
  | 'random';

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
  | 'pubsub'
  | 'json'
  | 'cluster';

/** Where the keys stand among the words (0 is the name). */
export type KeySpec =
  | { readonly kind: 'none' }
  /** From `first` to `last` (negative: counted from the end) in steps. */
  | { readonly kind: 'span'; readonly first: number; readonly last: number; readonly step: number }
  /** A count at `at`, its keys after it, every `step` words; `before`: further single keys in front. */
  | { readonly kind: 'counted'; readonly at: number; readonly before: readonly number[]; readonly step?: number };

export const NO_KEYS: KeySpec = { kind: 'none' };

export function at(position: number): KeySpec {
  return { kind: 'span', first: position, last: position, step: 1 };
}

export function span(first: number, last: number, step = 1): KeySpec {
  return { kind: 'span', first, last, step };
}

export function counted(position: number, before: readonly number[] = []): KeySpec {
  return { kind: 'counted', at: position, before };
}

export interface CommandContext {
  readonly args: Args;
  readonly keyspace: Keyspace;
  readonly effects: Effects;
  readonly random: Random;
  /** The instant this command is judged by; 0 in replay, where every effect is absolute. */
  readonly nowMs: number;
  readonly server: ServerFacts;
  /** May bigger values be written? See `denyoom`. */
  readonly isReplay: boolean;
}

/** What INFO and TIME tell that the keyspace does not know. */
export interface ServerFacts {
  /** Microseconds since the epoch, for TIME. */
  nowMicros(): number;
  /** Section → field → value, for INFO; the keyspace section is the engine's own. */
  info(): ReadonlyMap<string, ReadonlyMap<string, string>>;
}

export type Handler = (context: CommandContext) => Reply;

/**
 * A handler that takes long, in steps of well under a millisecond with others in between; for commands
 * that only read. Its keyspace may change between two steps, so it promises what SCAN promises.
 */
export type SlicedHandler = (context: CommandContext) => Iterator<void, Reply>;

export interface CommandSpec {
  /** Upper case; a subcommand is its own row: `OBJECT ENCODING`. */
  readonly name: string;
  readonly family: CommandFamily;
  /** Words including the name; negative: at least. */
  readonly arity: number;
  readonly flags: readonly CommandFlag[];
  readonly keys: KeySpec;
  readonly handler: Handler;
  /** Used instead of `handler` outside of transactions. */
  readonly sliced?: SlicedHandler;
  readonly summary: string;
  /** Redis version that brought it. */
  readonly since: string;
  /** Refused over REST, or answered by another route there. */
  readonly rest?: 'refused' | 'other-route';
  /** How its answer differs from Redis's, a sentence each, for `docs/deviations.md`. */
  readonly deviations?: readonly string[];
  /** May the built-in read-only token run it? Default: flags have `readonly` and not `dangerous`. */
  readonly readOnlyToken?: boolean;
}

/** What every row of a family shares. */
export function family(name: CommandFamily, rows: readonly Omit<CommandSpec, 'family'>[]): readonly CommandSpec[] {
  return rows.map((row) => ({ ...row, family: name }));
}

export function isWrite(spec: CommandSpec): boolean {
  return spec.flags.includes('write');
}

/** Keys among the words, in order. Words that do not fit the spec give the keys that are there. */
export function keysOf(spec: CommandSpec, words: readonly ByteString[]): ByteString[] {
  const keys: ByteString[] = [];
  const { keys: where } = spec;
  if (where.kind === 'none') return keys;
  if (where.kind === 'span') {
    const last = where.last < 0 ? words.length + where.last : where.last;
    for (let i = where.first; i <= last && i < words.length; i += where.step) keys.push(words[i] as ByteString);
    return keys;
  }
  for (const position of where.before) {
    const key = words[position];
    if (key !== undefined) keys.push(key);
  }
  const count = Number(words[where.at]);
  const step = where.step ?? 1;
  for (let i = 0; i < count; i += 1) {
    const key = words[where.at + 1 + i * step];
    if (key === undefined) break;
    keys.push(key);
  }
  return keys;
}
