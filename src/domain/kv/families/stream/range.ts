/** XLEN, XRANGE and XREVRANGE: the entries of a stream. */
import type { ByteString } from '../../../../kernel/index.js';
import { AnswerSize } from '../../answer-size.js';
import type { CommandContext, Handler, SlicedHandler } from '../../command-spec.js';
import { ERRORS, ITEM_BYTES, NIL_ARRAY, type Reply } from '../../reply.js';
import { Stream } from '../../types/stream.js';
import { formatId, idAfter, idBefore, MAX_ID, type StreamId } from '../../types/stream-id.js';
import { ENTRIES_A_SLICE, LONG_STREAM_ENTRIES } from '../../types/stream-limits.js';
import type { StreamEntry } from '../../types/stream-rebuild.js';
import { readStart, readStop } from './ids.js';

/** XLEN key → integer. */
export const length: Handler = ({ args, keyspace }) => keyspace.peekKind(args.bytes(1), Stream)?.size ?? 0;

/** XRANGE key start end [COUNT n], XREVRANGE key end start [COUNT n] → entries. */
export function range(isReverse: boolean): SlicedHandler {
  return function* (context) {
    const { args, keyspace } = context;
    const start = readStart(args.bytes(isReverse ? 3 : 2));
    const stop = readStop(args.bytes(isReverse ? 2 : 3));
    let count = Number.POSITIVE_INFINITY;
    for (let i = 4; i < args.length; i += 2) {
      if (args.option(i) !== 'COUNT' || i + 1 >= args.length) throw ERRORS.syntax;
      count = Math.max(0, args.offset(i + 1));
    }
    const stream = keyspace.peekKind(args.bytes(1), Stream);
    if (stream === undefined) return [];
    if (count === 0) return NIL_ARRAY;
    const size = new AnswerSize(context);
    return yield* entriesBetween(size, stream, [start, stop], count, isReverse);
  };
}

export function isLongRange({ args, keyspace }: CommandContext): boolean {
  const stream = keyspace.peek(args.bytes(1));
  return stream instanceof Stream && stream.size > LONG_STREAM_ENTRIES;
}

/** At most `count` entries with ids from `start` to `stop`; descending if `isReverse`. */
function* entriesBetween(
  size: AnswerSize,
  stream: Stream,
  [start, stop]: readonly [StreamId, StreamId],
  count: number,
  isReverse = false,
): Generator<void, Reply[]> {
  const entries: Reply[] = [];
  let from: StreamId | undefined = isReverse ? stop : start;
  while (from !== undefined) {
    const end: number = Math.min(count, entries.length + ENTRIES_A_SLICE);
    let next: StreamId | undefined;
    const visit = (id: StreamId, entry: StreamEntry): boolean => {
      if (entries.length < end) entries.push(sized(size, id, entry));
      else if (end < count) next = id;
      return next === undefined && entries.length < count;
    };
    if (isReverse) stream.walkBack(start, from, visit);
    else stream.walk(from, stop, visit);
    from = next;
    if (from !== undefined) yield;
  }
  return entries;
}

function sized(size: AnswerSize, id: StreamId, entry: StreamEntry): Reply {
  // The id.
  size.add(ITEM_BYTES);
  for (const name of entry.names) size.add(name.length);
  for (const value of entry.values) size.add(value.length);
  return entryReply(id, entry);
}

/** [id, [name, value, …]] */
export function entryReply(id: StreamId, entry: StreamEntry): Reply {
  return [formatId(id), fieldsOf(entry)];
}

/** [id, [name, value, …], milliseconds since the last delivery, deliveries], as XREADGROUP … CLAIM answers. */
export function deliveredReply(id: StreamId, entry: StreamEntry, idleMs: number, deliveries: number): Reply {
  return [formatId(id), fieldsOf(entry), idleMs, deliveries];
}

function fieldsOf({ names, values }: StreamEntry): ByteString[] {
  const fields: ByteString[] = new Array(names.length * 2);
  for (let i = 0; i < names.length; i += 1) {
    fields[i * 2] = names[i] as ByteString;
    fields[i * 2 + 1] = values[i] as ByteString;
  }
  return fields;
}

export function entriesAfter(size: AnswerSize, stream: Stream, id: StreamId, count: number): Generator<void, Reply[]> {
  // No id is above the maximum; a range from it to the id below it is empty.
  const last = id === MAX_ID ? (idBefore(MAX_ID) as StreamId) : MAX_ID;
  return entriesBetween(size, stream, [idAfter(id) ?? MAX_ID, last], count);
}
