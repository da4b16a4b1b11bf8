/** XREAD: entries above an id, immediately or when they are added. */
import type { ByteString } from '../../../../kernel/index.js';
import { AnswerSize } from '../../answer-size.js';
import type { CommandContext, Handler, SlicedHandler } from '../../command-spec.js';
import { Blocked, ErrorReply, KeyedReply, NIL_ARRAY, type Reply } from '../../reply.js';
import { hasManyWords, SlicePace } from '../../slices.js';
import { inOneStep } from '../../steps.js';
import { Stream } from '../../types/stream.js';
import { formatId, idBefore, MIN_ID, type StreamId } from '../../types/stream-id.js';
import { LONG_STREAM_ENTRIES } from '../../types/stream-limits.js';
import { readId } from './ids.js';
import { entriesAfter } from './range.js';
import { type ReadWords, readReadWords } from './read-words.js';

const newForGroups = new ErrorReply(
  'ERR The > ID can be specified only when calling XREADGROUP using the GROUP <group> <consumer> option.',
);

/**
 * The words of commands that already wait. For them a key with another type counts as unchanged; a new command gets
 * WRONGTYPE.
 */
const waiting = new WeakSet<readonly ByteString[]>();

/** XREAD [COUNT n] [MAXCOUNT n] [MAXSIZE bytes] [BLOCK ms] STREAMS key … id|$|+ … → entries by key, or nil. */
export const readSliced: SlicedHandler = function* (context) {
  const words = readReadWords(context, false);
  return (yield* news(context, words, yield* after(context, words))) ?? NIL_ARRAY;
};

export const read: Handler = (context) => {
  const words = readReadWords(context, false);
  const ids = inOneStep(after(context, words));
  const found = inOneStep(news(context, words, ids));
  if (found !== undefined) return found;
  if (words.blockMs === undefined || !context.mayBlock) return NIL_ARRAY;
  const fixed = [...context.args.words.slice(0, words.idsAt), ...ids.map(formatId)];
  waiting.add(fixed);
  return new Blocked(words.keys, words.blockMs, NIL_ARRAY, fixed);
};

/** A command that may not wait runs in slices if it has many words or reads a long stream. */
export function isLongRead(context: CommandContext): boolean {
  const words = readReadWords(context, false);
  if (words.blockMs !== undefined) return false;
  if (hasManyWords(context)) return true;
  if (words.count <= LONG_STREAM_ENTRIES) return false;
  return words.keys.some((key) => {
    const stream = context.keyspace.peek(key);
    return stream instanceof Stream && stream.size > LONG_STREAM_ENTRIES;
  });
}

/** For each stream, the id after which to read. */
function* after({ args, keyspace }: CommandContext, { keys, ids }: ReadWords): Generator<void, StreamId[]> {
  const isWaiting = waiting.has(args.words);
  const found: StreamId[] = [];
  const pace = new SlicePace();
  for (const [index, word] of ids.entries()) {
    const stream = isWaiting ? undefined : keyspace.peekKind(keys[index] as ByteString, Stream);
    if (word === '>') throw newForGroups;
    if (word === '$') found.push(stream?.lastId ?? MIN_ID);
    else found.push(word === '+' ? beforeLast(stream) : readId(word));
    if (pace.isDue()) yield;
  }
  return found;
}

/** `+` means the last entry; if there is none, the next. */
function beforeLast(stream: Stream | undefined): StreamId {
  if (stream === undefined) return MIN_ID;
  return stream.size === 0 ? stream.lastId : (idBefore(stream.lastEntryId) as StreamId);
}

function* news(
  context: CommandContext,
  { keys, count, budget }: ReadWords,
  ids: readonly StreamId[],
): Generator<void, Reply | undefined> {
  const items: Reply[] = [];
  const size = new AnswerSize(context);
  const pace = new SlicePace();
  for (const [index, key] of keys.entries()) {
    if (pace.isDue()) yield;
    const stream = context.keyspace.peek(key);
    const id = ids[index] as StreamId;
    if (!(stream instanceof Stream) || stream.lastEntryId <= id) continue;
    const entries = yield* entriesAfter(size, stream, id, Math.min(count, budget.mostEntries));
    const fitting = yield* budget.takeSome(entries);
    if (fitting.length > 0) items.push(key, fitting);
    if (budget.isSpent) break;
  }
  return items.length === 0 ? undefined : new KeyedReply(items);
}
