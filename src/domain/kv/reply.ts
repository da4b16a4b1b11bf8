/**
 * The answer of a command before it is encoded. Strings are byte strings (kernel/bytes.ts). A reply states its type (a
 * map, pairs, a double) and the codecs choose the encoding for each protocol. REST and RESP2 show maps as flat lists,
 * doubles as strings, booleans as integers.
 */
import { asciiUpperCase, type ByteString } from '../../kernel/index.js';
import { formatDouble } from './numbers.js';

/** A status such as `OK`; distinct from a bulk string with the same bytes. */
export class SimpleString {
  constructor(readonly text: ByteString) {}
}

/** An error for the client. `text` begins with its class: `ERR …`, `WRONGTYPE …`. Thrown or returned by handlers. */
export class ErrorReply {
  constructor(
    /** Redis's wording, for RESP connections and scripts. */
    readonly text: ByteString,
    /** The documented REST API's wording, where it differs. */
    readonly restText: ByteString = text,
  ) {}
}

/** RESP2's null array (`*-1`), where Redis answers that instead of a null bulk string. */
export class NilArray {
  private constructor() {}
  static readonly VALUE = new NilArray();
}

/** A map. `items`: name, value, name, value … RESP3: a map; otherwise a flat list. */
export class MapReply {
  constructor(readonly items: readonly Reply[]) {}
}

/** A set. RESP3: a set; otherwise a list. */
export class SetReply {
  constructor(readonly items: readonly Reply[]) {}
}

/** Pairs, given as a flat list. RESP3: a list of pairs; otherwise flat (WITHSCORES, HRANDFIELD WITHVALUES). */
export class PairsReply {
  constructor(readonly items: readonly Reply[]) {}
}

/** Values by name, given as a flat list. RESP3: a map; otherwise a list of pairs (XREAD). */
export class KeyedReply {
  constructor(readonly items: readonly Reply[]) {}
}

/** A score or distance. RESP3: a double; otherwise its text. */
export class DoubleReply {
  constructor(readonly value: number) {}

  get text(): ByteString {
    return formatDouble(this.value);
  }
}

/** RESP3: a boolean; otherwise 1 or 0. */
export class BooleanReply {
  constructor(readonly value: boolean) {}
}

/** A text for display. RESP3: a verbatim string; otherwise a bulk string. */
export class VerbatimReply {
  constructor(
    readonly text: ByteString,
    readonly format: 'txt' | 'mkd' = 'txt',
  ) {}
}

/** An integer of any size, from scripts. RESP3: a big number; otherwise its text. */
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

/** The forms of RESP2 and REST: lists, strings, integers, statuses, errors, null; no maps or doubles. */
export type FlatReply = ByteString | number | bigint | null | SimpleString | ErrorReply | NilArray | readonly Reply[];

/** Converts one level of a reply to RESP2's forms. */
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

/** The overhead of a list item: its slot in memory and its header on the wire. */
export const ITEM_BYTES = 16;

/** The approximate size of a reply in memory: its strings, plus an overhead per item. */
export function replyBytes(given: Reply): number {
  if (typeof given === 'string') return given.length;
  // Shortcut for the answers of most writes.
  if (given === OK || typeof given !== 'object') return ITEM_BYTES;
  const reply = flatten(given);
  if (!Array.isArray(reply)) return ITEM_BYTES;
  let bytes = reply.length * ITEM_BYTES;
  for (const item of reply as readonly Reply[]) bytes += typeof item === 'string' ? item.length : replyBytes(item);
  return bytes;
}

/** The error for a command that was not run, because earlier answers of the same request have reached the bound. */
export function answerTooLarge(maxBytes: number): ErrorReply {
  return new ErrorReply(`ERR answer too large: one request is answered with ${maxBytes} bytes at most, ask for less`);
}

/** Converts a flat list of pairs to a list of pairs. */
export function pairsOf(items: readonly Reply[]): Reply[][] {
  const pairs: Reply[][] = [];
  for (let i = 0; i + 1 < items.length; i += 2) pairs.push([items[i] as Reply, items[i + 1] as Reply]);
  return pairs;
}

/**
 * The result of a blocking command that must wait. It stays in the owner, which runs the command again whenever one of
 * `keys` changes, until it gives another result or `timeoutMs` has passed.
 */
export class Blocked {
  constructor(
    readonly keys: readonly ByteString[],
    /** 0: no timeout. */
    readonly timeoutMs: number,
    readonly onTimeout: Reply,
    /** The command to run again, if different from the original (`XREAD … $` fixes its ids). */
    readonly words?: readonly ByteString[],
  ) {}
}

/** The result of a pausable handler that has worked for one time slice. It stays in the owner. */
export class Paused {
  /** @param rest the remaining work; each step is one time slice */
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
  /** For SELECT and COPY … DB. It names the alternative, because job systems use database numbers by default. */
  noSuchDatabase: new ErrorReply(
    'ERR DB index is out of range: only database 0 exists here. In place of a number make a separate database, ' +
      'which has its own URL and password (millrace db create, the console, or the management API), and use database 0 of it',
    'ERR DB index is out of range',
  ),
  recordTooLarge: new ErrorReply('ERR max single record size exceeded'),
} as const;

export function wrongArity(commandName: string): ErrorReply {
  return new ErrorReply(`ERR wrong number of arguments for '${commandName.toLowerCase()}' command`);
}

/**
 * For connection, transaction and subscription commands sent as plain REST commands; names the container of a
 * subcommand.
 */
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

/** The most bytes that Redis shows in an error, for the name and for all arguments together. */
const MAX_SHOWN = 128;

/** @param words a command with an unknown name */
export function unknownCommand(words: readonly ByteString[]): ErrorReply {
  const [name = ''] = words;
  let shown = '';
  for (let i = 1; i < words.length && shown.length < MAX_SHOWN; i += 1) {
    shown += `'${(words[i] as ByteString).slice(0, MAX_SHOWN - shown.length)}' `;
  }
  const text = `ERR unknown command '${name.slice(0, MAX_SHOWN)}', with args beginning with: ${shown}`;
  return new ErrorReply(text, notAvailable(name).text);
}

/** @param words a container and an unknown subcommand */
export function unknownSubcommand(words: readonly ByteString[]): ErrorReply {
  const [container = '', name = ''] = words;
  const text = `ERR unknown subcommand '${name.slice(0, MAX_SHOWN)}'. Try ${container.toUpperCase()} HELP.`;
  return new ErrorReply(text, notAvailable(`${container} ${name}`).text);
}

/** For subcommands of which Redis also checks the number of words during lookup. */
export function wrongSubcommand(container: string, name: ByteString): ErrorReply {
  return new ErrorReply(`ERR unknown subcommand or wrong number of arguments for '${name}'. Try ${container} HELP.`);
}
