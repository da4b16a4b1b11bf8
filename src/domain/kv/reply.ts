/**
 * What a command answers, before it has a form on the wire. Strings are byte strings (kernel/bytes.ts).
 * A reply says what it is (a map, pairs, a double); the codecs give each protocol its form. REST and RESP2
 * show maps as flat lists, doubles as strings, booleans as integers.
 */
import { asciiUpperCase, type ByteString } from '../../kernel/index.js';
import { formatDouble } from './numbers.js';

/** A status such as `OK`; told apart from a bulk string that happens to hold the same bytes. */
export class SimpleString {
  constructor(readonly text: ByteString) {}
}

/** An error a client sees. `text` begins with its class: `ERR …`, `WRONGTYPE …`. Thrown or returned by handlers. */
export class ErrorReply {
  constructor(
    /** Redis words it so; connections and scripts see this. */
    readonly text: ByteString,
    /** The documented REST API words it so, where that differs. */
    readonly restText: ByteString = text,
  ) {}
}

/** RESP2's null array (`*-1`), where Redis answers that instead of a null bulk string. */
export class NilArray {
  private constructor() {}
  static readonly VALUE = new NilArray();
}

/** A map. `items`: name, value, name, value … RESP3: a map; elsewhere that flat list. */
export class MapReply {
  constructor(readonly items: readonly Reply[]) {}
}

/** A set. RESP3: a set; elsewhere a list. */
export class SetReply {
  constructor(readonly items: readonly Reply[]) {}
}

/** Pairs, as a flat list. RESP3: a list of pairs; elsewhere flat (WITHSCORES, HRANDFIELD WITHVALUES). */
export class PairsReply {
  constructor(readonly items: readonly Reply[]) {}
}

/** Values by name, as a flat list. RESP3: a map; elsewhere a list of pairs (XREAD). */
export class KeyedReply {
  constructor(readonly items: readonly Reply[]) {}
}

/** A score, a distance. RESP3: a double; elsewhere its text. */
export class DoubleReply {
  constructor(readonly value: number) {}

  get text(): ByteString {
    return formatDouble(this.value);
  }
}

/** RESP3: a boolean; elsewhere 1 or 0. */
export class BooleanReply {
  constructor(readonly value: boolean) {}
}

/** A text to be shown as it stands. RESP3: a verbatim string; elsewhere a bulk string. */
export class VerbatimReply {
  constructor(
    readonly text: ByteString,
    readonly format: 'txt' | 'mkd' = 'txt',
  ) {}
}

/** An integer of any size, from scripts. RESP3: a big number; elsewhere its text. */
export class BigNumberReply {
  constructor(readonly text: ByteString) {}
}

export type Aggregate = MapReply | SetReply | PairsReply | KeyedReply;

export type Reply =
  | ByteString
  | number
  | bigint
  | null
  | SimpleString
  | ErrorReply
  | NilArray
  | Aggregate
  | DoubleReply
  | BooleanReply
  | VerbatimReply
  | BigNumberReply
  | readonly Reply[];

/** The forms of RESP2 and REST: no maps, no doubles; lists, strings, integers, statuses, errors, null. */
export type FlatReply = ByteString | number | bigint | null | SimpleString | ErrorReply | NilArray | readonly Reply[];

/** One level of a reply in RESP2's terms. */
export function flatten(reply: Reply): FlatReply {
  if (typeof reply !== 'object' || reply === null) return reply;
  if (reply instanceof MapReply || reply instanceof SetReply || reply instanceof PairsReply) return reply.items;
  if (reply instanceof KeyedReply) return pairsOf(reply.items);
  if (reply instanceof DoubleReply || reply instanceof VerbatimReply || reply instanceof BigNumberReply) {
    return reply.text;
  }
  if (reply instanceof BooleanReply) return reply.value ? 1 : 0;
  return reply;
}

/** What an item of a list costs beside its bytes: its place in memory, and its header on the wire. */
export const ITEM_BYTES = 16;

/** About what it holds in memory: its strings, and something for each item. */
export function replyBytes(given: Reply): number {
  if (typeof given === 'string') return given.length;
  // What most writes answer is not looked at more closely.
  if (given === OK || typeof given !== 'object') return ITEM_BYTES;
  const reply = flatten(given);
  if (!Array.isArray(reply)) return ITEM_BYTES;
  let bytes = reply.length * ITEM_BYTES;
  for (const item of reply as readonly Reply[]) bytes += typeof item === 'string' ? item.length : replyBytes(item);
  return bytes;
}

/** Answered for a command that was not run, because the answers before it in the same request are large enough. */
export function answerTooLarge(maxBytes: number): ErrorReply {
  return new ErrorReply(`ERR answer too large: one request is answered with ${maxBytes} bytes at most, ask for less`);
}

/** A flat list of pairs as a list of pairs. */
export function pairsOf(items: readonly Reply[]): Reply[][] {
  const pairs: Reply[][] = [];
  for (let i = 0; i + 1 < items.length; i += 2) pairs.push([items[i] as Reply, items[i + 1] as Reply]);
  return pairs;
}

/**
 * What a blocking command answers when it has nothing to answer yet. Never leaves the owner: the command
 * is run again whenever one of `keys` changes, until it answers something else or `timeoutMs` is over.
 */
export class Blocked {
  constructor(
    readonly keys: readonly ByteString[],
    /** 0: for ever. */
    readonly timeoutMs: number,
    /** What the client hears when the time is over. */
    readonly onTimeout: Reply,
    /** The command to run again, where it is not the one that was given (`XREAD … $` fixes its ids). */
    readonly words?: readonly ByteString[],
  ) {}
}

/** What a handler answers that may pause and has worked for as long as one may at a time. Never leaves the owner. */
export class Paused {
  /** @param rest what is left of it: each step is as long again */
  constructor(readonly rest: Generator<void, Reply>) {}
}

export const OK = new SimpleString('OK');
export const NIL_ARRAY = NilArray.VALUE;

export const ERRORS = {
  wrongType: new ErrorReply('WRONGTYPE Operation against a key holding the wrong kind of value'),
  syntax: new ErrorReply('ERR syntax error'),
  notAnInteger: new ErrorReply(
    'ERR value is not an integer or out of range',
    'ERR value is not an int or out of range',
  ),
  notAFloat: new ErrorReply('ERR value is not a valid float'),
  noSuchKey: new ErrorReply('ERR no such key'),
  indexOutOfRange: new ErrorReply('ERR index out of range'),
  notPositive: new ErrorReply('ERR value is out of range, must be positive'),
  noKeysCounted: new ErrorReply('ERR numkeys should be greater than 0'),
  noCount: new ErrorReply('ERR count should be greater than 0'),
  negativeLimit: new ErrorReply("ERR LIMIT can't be negative"),
  negativeTimeout: new ErrorReply('ERR timeout is negative'),
  overflow: new ErrorReply('ERR increment or decrement would overflow'),
  crossSlot: new ErrorReply("CROSSSLOT Keys in request don't hash to the same slot"),
  emptyCommand: new ErrorReply('ERR empty command'),
  databaseFull: new ErrorReply(
    "OOM command not allowed when used memory > 'maxmemory'.",
    'ERR DB capacity quota exceeded',
  ),
  recordTooLarge: new ErrorReply('ERR max single record size exceeded'),
} as const;

export function wrongArity(commandName: string): ErrorReply {
  return new ErrorReply(`ERR wrong number of arguments for '${commandName.toLowerCase()}' command`);
}

/** Connection, transaction and subscription commands sent as plain ones over REST; a subcommand by its container. */
export function notOverRest(commandName: string): ErrorReply {
  const [container = ''] = asciiUpperCase(commandName).split(' ');
  return new ErrorReply(`ERR Command "${container}" is not allowed in REST or it has a special context path`);
}

export function invalidExpireTime(commandName: string): ErrorReply {
  return new ErrorReply(`ERR invalid expire time in '${commandName.toLowerCase()}' command`);
}

export function notAvailable(commandName: string): ErrorReply {
  return new ErrorReply(`ERR Command is not available: '${asciiUpperCase(commandName)}'`);
}

/** Bytes that Redis shows in an error of a name, and of all the words behind it. */
const MAX_SHOWN = 128;

/** @param words with the name of no command in front */
export function unknownCommand(words: readonly ByteString[]): ErrorReply {
  const [name = ''] = words;
  let shown = '';
  for (let i = 1; i < words.length && shown.length < MAX_SHOWN; i += 1) {
    shown += `'${(words[i] as ByteString).slice(0, MAX_SHOWN - shown.length)}' `;
  }
  const text = `ERR unknown command '${name.slice(0, MAX_SHOWN)}', with args beginning with: ${shown}`;
  return new ErrorReply(text, notAvailable(name).text);
}

/** @param words a container, and what is none of its subcommands */
export function unknownSubcommand(words: readonly ByteString[]): ErrorReply {
  const [container = '', name = ''] = words;
  const text = `ERR unknown subcommand '${name.slice(0, MAX_SHOWN)}'. Try ${container.toUpperCase()} HELP.`;
  return new ErrorReply(text, notAvailable(`${container} ${name}`).text);
}

/** Redis counts the words of some subcommands as it looks for them. */
export function wrongSubcommand(container: string, name: ByteString): ErrorReply {
  return new ErrorReply(`ERR unknown subcommand or wrong number of arguments for '${name}'. Try ${container} HELP.`);
}
