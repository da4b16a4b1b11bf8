/** XREADGROUP: entries that are new to the group, or this consumer's pending entries again. */
import type { ByteString } from '../../../../kernel/index.js';
import type { CommandContext, Handler, SlicedHandler } from '../../command-spec.js';
import { Blocked, ErrorReply, KeyedReply, NIL_ARRAY, type Reply } from '../../reply.js';
import { hasManyWords, SlicePace } from '../../slices.js';
import { inOneStep } from '../../steps.js';
import { Stream } from '../../types/stream.js';
import type { Consumer, ConsumerGroup } from '../../types/stream-group.js';
import { formatId, idAfter, MAX_ID, type StreamId } from '../../types/stream-id.js';
import { LONG_STREAM_ENTRIES, MAX_BACKLOG_A_CONSUMER } from '../../types/stream-limits.js';
import { ClaimRuns } from '../../types/stream-rebuild.js';
import { claimIdle, type IdleSearch, nextIdleInMs } from './claim-idle.js';
import { consumerOf, pushPosition } from './consumers.js';
import { noSuchGroup } from './errors.js';
import { readId } from './ids.js';
import { deliveredReply, entryReply } from './range.js';
import { type ReadWords, readReadWords } from './read-words.js';
import { onceMore } from './release.js';
import { walkInSlices } from './walking.js';

function meaningless(sign: string): ErrorReply {
  return new ErrorReply(
    `ERR The ${sign} ID is meaningless in the context of XREADGROUP: you want to read the history of this consumer ` +
      `by specifying a proper ID, or use the > ID to get new messages. The ${sign} ID would just return an empty result set.`,
  );
}

/** One stream of the command. `after` undefined: entries new to the group. */
interface Source {
  readonly key: ByteString;
  readonly stream: Stream;
  readonly group: ConsumerGroup;
  readonly after: StreamId | undefined;
}

/**
 * XREADGROUP GROUP group consumer [COUNT n] [MAXCOUNT n] [MAXSIZE bytes] [BLOCK ms] [CLAIM ms] [NOACK] STREAMS key … >|id … → entries by key, or
 * nil. NOGROUP when a key or its group is missing. With CLAIM a wait ends early, with nil, when an entry becomes idle.
 */
export const readGroup: Handler = (context) => {
  const words = readReadWords(context, true);
  const found = inOneStep(entriesOf(context, words));
  if (found !== undefined) return found;
  if (words.blockMs === undefined || !context.mayBlock) return NIL_ARRAY;
  return new Blocked(words.keys, waitMs(context, words, words.blockMs), NIL_ARRAY);
};

/** The longest wait: 0 for no end. */
function waitMs(context: CommandContext, words: ReadWords, blockMs: number): number {
  let waitMs = blockMs === 0 ? Number.POSITIVE_INFINITY : blockMs;
  for (const [index, key] of words.keys.entries()) {
    if (words.claimMs === undefined) break;
    const source = sourceOf(context, words, key, index);
    if (source.after !== undefined) continue;
    waitMs = Math.min(waitMs, inOneStep(nextIdleInMs(searchIn(source, words), context.nowMs)));
  }
  return waitMs === Number.POSITIVE_INFINITY ? 0 : waitMs;
}

function searchIn({ key, stream, group }: Source, { claimMs = 0, blockMs }: ReadWords): IdleSearch {
  return { key, stream, group, minIdleMs: claimMs, mayWait: blockMs !== undefined };
}

/** As `readGroup`, for a command that does not wait. */
export const readGroupSliced: SlicedHandler = function* (context) {
  return (yield* entriesOf(context, readReadWords(context, true))) ?? NIL_ARRAY;
};

/** Whether there is much to read; then there is an answer and the command need not wait. */
export function isLongGroupRead(context: CommandContext): boolean {
  const words = readReadWords(context, true);
  if (words.blockMs === undefined && hasManyWords(context)) return true;
  if (words.count <= LONG_STREAM_ENTRIES || words.keys.length > MAX_KEYS_LOOKED_AT) return false;
  return words.keys.some((key, index) => {
    const stream = context.keyspace.peek(key);
    const group = stream instanceof Stream ? stream.group(words.group as ByteString) : undefined;
    if (group === undefined) return false;
    if (words.claimMs !== undefined && words.blockMs === undefined && group.pending.size > LONG_STREAM_ENTRIES)
      return true;
    if (words.ids[index] !== '>') return (group.consumer(words.consumer)?.pending.size ?? 0) > LONG_STREAM_ENTRIES;
    return (stream as Stream).size > LONG_STREAM_ENTRIES && (stream as Stream).lastEntryId > group.lastId;
  });
}

/** Streams checked to decide whether a command is long, so that the check stays cheap. */
const MAX_KEYS_LOOKED_AT = 100;

function* entriesOf(context: CommandContext, words: ReadWords): Generator<void, Reply | undefined> {
  const sources: Source[] = [];
  const pace = new SlicePace();
  for (const [index, key] of words.keys.entries()) {
    if (pace.isDue()) yield;
    sources.push(sourceOf(context, words, key, index));
  }
  if (context.endpoint === 'rest') for (const source of sources) requireBacklog(source, words);
  const items: Reply[] = [];
  for (const source of sources) {
    if (words.budget.isSpent) break;
    const { after } = source;
    const entries = yield* after === undefined ? deliver(context, source, words) : again(context, source, words);
    // A stream whose first entry does not fit is left out; an own history may be empty.
    const isLeftOut = entries?.length === 0 && words.budget.isSpent;
    if (entries !== undefined && !isLeftOut) items.push(source.key, entries);
    if (pace.isDue()) yield;
  }
  return items.length > 0 ? new KeyedReply(items) : undefined;
}

function sourceOf(
  { keyspace }: CommandContext,
  { group: groupName = '', ids }: ReadWords,
  key: ByteString,
  index: number,
): Source {
  const stream = keyspace.fetchKind(key, Stream);
  const group = stream?.group(groupName);
  if (stream === undefined || group === undefined) {
    throw noSuchGroup(key, groupName, ' in XREADGROUP with GROUP option');
  }
  const id = ids[index] as ByteString;
  if (id === '$' || id === '+') throw meaningless(id);
  if (id === '>') return { key, stream, group, after: undefined };
  const after = readId(id);
  return { key, stream, group, after: after === MAX_ID ? undefined : after };
}

/** The documented service refuses further reads of a consumer that never acknowledges. */
function requireBacklog({ key, stream, group, after }: Source, { consumer, count, noAck }: ReadWords): void {
  if (after !== undefined || noAck) return;
  const backlog = group.consumer(consumer)?.pending.size ?? 0;
  const wanted = Math.min(count, stream.size);
  if (backlog + wanted <= MAX_BACKLOG_A_CONSUMER) return;
  const start = idAfter(group.lastId);
  let reading = 0;
  if (start !== undefined) {
    stream.walk(start, MAX_ID, () => {
      reading += 1;
      return reading < wanted && backlog + reading <= MAX_BACKLOG_A_CONSUMER;
    });
  }
  if (backlog + reading <= MAX_BACKLOG_A_CONSUMER) return;
  throw new ErrorReply(
    'ERR XReadGroup is cancelled. Pending Entries List limit per consumer is about to be reached. ' +
      `Limit: ${MAX_BACKLOG_A_CONSUMER}, Current PEL size: ${backlog}, Requested Read: ${wanted}, ` +
      `Key: ${key}, Group: ${group.name}, Consumer: ${consumer}.`,
  );
}

/** Delivers entries that are new to the group; undefined if there are none. */
function* deliver(context: CommandContext, source: Source, words: ReadWords): Generator<void, Reply[] | undefined> {
  const { keyspace, effects, nowMs } = context;
  const { key, stream, group } = source;
  const before = stream.bytes;
  // As in the documented service, a NOACK read creates no consumer.
  const isAnonymous = words.noAck && context.endpoint === 'rest' && group.consumer(words.consumer) === undefined;
  const consumer =
    isAnonymous && words.claimMs === undefined ? undefined : consumerOf(context, key, group, words.consumer);
  consumer?.seen(nowMs);
  const isClaiming = words.claimMs !== undefined && consumer !== undefined;
  const entries = isClaiming ? yield* claimIdle(context, searchIn(source, words), consumer, words) : [];
  if (entries.length > 0) consumer?.active(nowMs);
  const isFull = entries.length >= words.count || words.budget.isSpent;
  const start = isFull ? undefined : idAfter(group.lastId);
  if (start === undefined || stream.lastEntryId <= group.lastId) {
    if (entries.length > 0 || stream.bytes !== before) keyspace.changed(key, stream, before);
    return entries.length > 0 ? entries : undefined;
  }
  const runs = new ClaimRuns(key, group);
  const push = (command: ByteString[] | undefined): void => {
    if (command !== undefined) effects.push(...command);
  };
  yield* walkInSlices(stream, start, MAX_ID, (id, entry) => {
    const reply = isClaiming ? deliveredReply(id, entry, 0, 0) : entryReply(id, entry);
    if (!words.budget.take(reply)) return false;
    stream.advance(group, id);
    entries.push(reply);
    if (!words.noAck && consumer !== undefined) {
      group.assign(id, consumer, nowMs, 1);
      push(runs.add(id, { consumer, deliveredAtMs: nowMs, deliveries: 1 }));
    }
    return entries.length < words.count && !words.budget.isSpent;
  });
  push(runs.end());
  pushPosition(context, key, stream, group);
  if (!words.noAck) consumer?.active(nowMs);
  keyspace.changed(key, stream, before);
  return entries;
}

/** This consumer's pending entries; the delivery count of each grows by one. */
function* again(context: CommandContext, source: Source, words: ReadWords): Generator<void, Reply[]> {
  const { keyspace, effects, nowMs } = context;
  const { key, stream, group, after } = source;
  const before = stream.bytes;
  const known = group.consumer(words.consumer);
  const consumer: Consumer | undefined =
    known ?? (words.noAck && context.endpoint === 'rest' ? undefined : consumerOf(context, key, group, words.consumer));
  consumer?.seen(nowMs);
  const entries: Reply[] = [];
  let changes = known === undefined && consumer !== undefined;
  const start = after === undefined ? undefined : idAfter(after);
  if (consumer !== undefined && start !== undefined) {
    const runs = new ClaimRuns(key, group);
    yield* walkInSlices(consumer.pending, start, MAX_ID, (id, pending) => {
      const entry = stream.entry(id);
      const reply = entry === undefined ? [formatId(id), NIL_ARRAY] : entryReply(id, entry);
      if (!words.budget.take(reply)) return false;
      entries.push(reply);
      if (entry !== undefined) {
        group.keep(id, pending);
        pending.deliveredAtMs = nowMs;
        pending.deliveries = onceMore(pending.deliveries);
        const ended = runs.add(id, pending);
        if (ended !== undefined) effects.push(...ended);
        changes = true;
      }
      return entries.length < words.count && !words.budget.isSpent;
    });
    const last = runs.end();
    if (last !== undefined) effects.push(...last);
  }
  if (changes) keyspace.changed(key, stream, before);
  return entries;
}
