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
  let count = 0;
  let blockMs: number | undefined;
  let group: ByteString | undefined;
  let consumer = '';
  let noAck = false;
  let claimMs: number | undefined;
  let maxCount = Number.POSITIVE_INFINITY;
  let maxSize = Number.POSITIVE_INFINITY;
  let at = 1;
  for (; ; at += 1) {
    if (at >= args.length) throw ERRORS.syntax;
    const option = args.option(at);
    const more = args.length - at - 1;
    if (option === 'BLOCK' && more > 0) {
      at += 1;
      blockMs = readTimeout(context, args.bytes(at));
    } else if (option === 'COUNT' && more > 0) {
      at += 1;
      count = Math.max(0, args.offset(at));
    } else if (option === 'MAXCOUNT' && more > 0) {
      at += 1;
      maxCount = args.count(at, 1, badMaxCount);
    } else if (option === 'MAXSIZE' && more > 0) {
      at += 1;
      maxSize = args.count(at, 1, badMaxSize);
    } else if (option === 'STREAMS' && more > 0) {
      break;
    } else if (option === 'GROUP' && more >= 2) {
      if (!isGroup) throw groupInRead;
      group = args.bytes(at + 1);
      consumer = args.bytes(at + 2);
      at += 2;
    } else if (option === 'CLAIM' && more > 0) {
      if (!isGroup) throw claimInRead;
      at += 1;
      claimMs = readMinIdle(args.bytes(at));
    } else if (option === 'NOACK') {
      if (!isGroup) throw noAckInRead;
      noAck = true;
    } else throw ERRORS.syntax;
  }
  if (maxCount < count) throw lowMaxCount;
  const first = at + 1;
  const streams = args.length - first;
  if (streams % 2 === 1) throw unbalanced(isGroup);
  if (isGroup && group === undefined) throw missingGroup;
  if (blockMs !== undefined) requireAwaitable(streams / 2);
  const idsAt = first + streams / 2;
  return {
    count: count === 0 ? Number.POSITIVE_INFINITY : count,
    blockMs,
    group,
    consumer,
    noAck,
    claimMs,
    budget: new ReadBudget(maxCount, maxSize),
    keys: wordsBetween(args, first, idsAt),
    ids: wordsBetween(args, idsAt, args.length),
    idsAt,
  };
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

function readTimeout({ face, isNested }: CommandContext, word: ByteString): number {
  // BLOCK is allowed in a script, which never waits.
  if (face === 'rest' && !isNested) throw blockOverRest;
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
