/** Parses the words of XREAD and XREADGROUP: options, then keys and equally many ids. */
import type { ByteString } from '../../../../kernel/index.js';
import type { Args } from '../../args.js';
import type { FoundKey } from '../../command-description.js';
import type { CommandContext } from '../../command-spec.js';
import { requireAwaitable } from '../../limits.js';
import { parseInt64 } from '../../numbers.js';
import { ERRORS, ErrorReply } from '../../reply.js';
import { ReadBudget } from './read-budget.js';

const blockOverRest = new ErrorReply('ERR BLOCK is not supported over REST');
const badTimeout = new ErrorReply('ERR timeout is not an integer or out of range');
const groupInRead = new ErrorReply('ERR The GROUP option is only supported by XREADGROUP. You called XREAD instead.');
const noAckInRead = new ErrorReply('ERR The NOACK option is only supported by XREADGROUP. You called XREAD instead.');
const claimInRead = new ErrorReply('ERR The CLAIM option is only supported by XREADGROUP. You called XREAD instead.');
const badMinIdle = new ErrorReply('ERR min-idle-time is not an integer or out of range');
const negativeMinIdle = new ErrorReply('ERR min-idle-time must be a positive integer');
const badMaxCount = new ErrorReply('ERR MAXCOUNT must be a positive integer');
const badMaxSize = new ErrorReply('ERR MAXSIZE must be a positive integer');
const lowMaxCount = new ErrorReply('ERR MAXCOUNT must not be less than COUNT');
const missingGroup = new ErrorReply('ERR Missing GROUP option for XREADGROUP');

/** Options with a word each; BLOCK is another one. */
const TAKES_A_WORD: ReadonlySet<string> = new Set(['COUNT', 'MAXCOUNT', 'MAXSIZE', 'CLAIM']);

/**
 * The error for BLOCK among the options, which end at STREAMS: commands over REST may not wait, nor those in a
 * transaction.
 */
export function blockProblem(words: readonly ByteString[]): ErrorReply | undefined {
  for (let i = 1; i < words.length; i += 1) {
    const option = (words[i] as ByteString).toUpperCase();
    if (option === 'STREAMS') return undefined;
    if (option === 'BLOCK') return blockOverRest;
    if (option === 'GROUP') i += 2;
    if (TAKES_A_WORD.has(option)) i += 1;
  }
  return undefined;
}

export interface ReadWords {
  /** Entries per stream; infinite if not given. */
  readonly count: number;
  /** Undefined: does not wait. 0: no timeout. */
  readonly blockMs: number | undefined;
  readonly group: ByteString | undefined;
  readonly consumer: ByteString;
  readonly noAck: boolean;
  /** Pending entries that have been idle for so long are claimed first; undefined: none are. */
  readonly claimMs: number | undefined;
  /** Bounds for all streams together. */
  readonly budget: ReadBudget;
  readonly keys: readonly ByteString[];
  /** One per key, as given. */
  readonly ids: readonly ByteString[];
  readonly idsAt: number;
}

export function readReadWords(context: CommandContext, isGroup: boolean): ReadWords {
  const { args } = context;
  const { maxCount, maxSize, streamsAt, ...options } = readOptions(context, isGroup);
  if (maxCount < options.count) throw lowMaxCount;
  const first = streamsAt + 1;
  const streams = args.length - first;
  if (streams % 2 === 1) throw unbalanced(isGroup);
  if (isGroup && options.group === undefined) throw missingGroup;
  if (options.blockMs !== undefined) requireAwaitable(streams / 2);
  const idsAt = first + streams / 2;
  return {
    ...options,
    count: options.count === 0 ? Number.POSITIVE_INFINITY : options.count,
    budget: new ReadBudget(maxCount, maxSize),
    keys: wordsBetween(args, first, idsAt),
    ids: wordsBetween(args, idsAt, args.length),
    idsAt,
  };
}

/** The options before the word STREAMS. */
interface ReadOptions {
  /** 0: no bound. */
  count: number;
  maxCount: number;
  maxSize: number;
  blockMs: number | undefined;
  claimMs: number | undefined;
  group: ByteString | undefined;
  consumer: ByteString;
  noAck: boolean;
  streamsAt: number;
}

function readOptions(context: CommandContext, isGroup: boolean): ReadOptions {
  const { args } = context;
  const options: ReadOptions = {
    count: 0,
    maxCount: Number.POSITIVE_INFINITY,
    maxSize: Number.POSITIVE_INFINITY,
    blockMs: undefined,
    claimMs: undefined,
    group: undefined,
    consumer: '',
    noAck: false,
    streamsAt: 0,
  };
  for (let at = 1; at < args.length; at += 1) {
    const option = args.option(at);
    const more = args.length - at - 1;
    if (option === 'STREAMS' && more > 0) return { ...options, streamsAt: at };
    if (option === 'GROUP' && more >= 2) {
      if (!isGroup) throw groupInRead;
      options.group = args.bytes(at + 1);
      options.consumer = args.bytes(at + 2);
      at += 2;
    } else if (option === 'NOACK') {
      if (!isGroup) throw noAckInRead;
      options.noAck = true;
    } else if (more > 0 && (option === 'BLOCK' || TAKES_A_WORD.has(option))) {
      if (option === 'CLAIM' && !isGroup) throw claimInRead;
      at += 1;
      readNumber(context, option, at, options);
    } else throw ERRORS.syntax;
  }
  throw ERRORS.syntax;
}

function readNumber(context: CommandContext, option: string, at: number, into: ReadOptions): void {
  const { args } = context;
  if (option === 'BLOCK') into.blockMs = readTimeout(context, args.bytes(at));
  else if (option === 'CLAIM') into.claimMs = readMinIdle(args.bytes(at));
  else if (option === 'MAXCOUNT') into.maxCount = args.count(at, 1, badMaxCount);
  else if (option === 'MAXSIZE') into.maxSize = args.count(at, 1, badMaxSize);
  else into.count = Math.max(0, args.offset(at));
}

/** The keys of XREAD and XREADGROUP: the first half of the words after STREAMS. */
export function keysOfRead(from: number): (words: readonly ByteString[]) => readonly FoundKey[] {
  return (words) => {
    for (let at = from; at < words.length; at += 1) {
      const option = (words[at] as ByteString).toUpperCase();
      if (option === 'STREAMS') {
        const count = (words.length - at - 1) >>> 1;
        return Array.from({ length: count }, (_, index) => ({ position: at + 1 + index }));
      }
      if (option === 'BLOCK' || TAKES_A_WORD.has(option)) at += 1;
      else if (option === 'GROUP') at += 2;
    }
    return [];
  };
}

function readTimeout({ endpoint, isNested }: CommandContext, word: ByteString): number {
  // BLOCK is allowed in a script, which never waits.
  if (endpoint === 'rest' && !isNested) throw blockOverRest;
  const timeoutMs = parseInt64(word);
  if (timeoutMs === undefined) throw badTimeout;
  if (timeoutMs < 0) throw ERRORS.negativeTimeout;
  return Number(timeoutMs);
}

function readMinIdle(word: ByteString): number {
  const minIdleMs = parseInt64(word);
  if (minIdleMs === undefined) throw badMinIdle;
  if (minIdleMs < 0) throw negativeMinIdle;
  return Number(minIdleMs);
}

function unbalanced(isGroup: boolean): ErrorReply {
  return isGroup
    ? new ErrorReply("ERR Unbalanced 'xreadgroup' list of streams: for each stream key an ID or '>' must be specified.")
    : new ErrorReply(
        "ERR Unbalanced 'xread' list of streams: for each stream key an ID, '+', or '$' must be specified.",
      );
}

function wordsBetween(args: Args, from: number, to: number): ByteString[] {
  return args.words.slice(from, to);
}
