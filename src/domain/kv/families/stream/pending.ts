/** XACK and XPENDING: entries that were delivered and not acknowledged. */
import type { CommandContext, SlicedHandler } from '../../command-spec.js';
import { ERRORS, NIL_ARRAY, type Reply } from '../../reply.js';
import { filtered } from '../../slices.js';
import { Stream } from '../../types/stream.js';
import type { ConsumerGroup, PendingEntry } from '../../types/stream-group.js';
import { formatId, type StreamId } from '../../types/stream-id.js';
import { LONG_STREAM_ENTRIES } from '../../types/stream-limits.js';
import { noSuchGroup } from './errors.js';
import { readIds, readStart, readStop } from './ids.js';
import { pushIds } from './references.js';
import { walkInSlices } from './walking.js';

/** XACK key group id … → the number of acknowledged entries. */
export const acknowledge: SlicedHandler = function* (context): Generator<void, Reply> {
  const { args, keyspace } = context;
  const key = args.bytes(1);
  const stream = keyspace.fetchKind(key, Stream);
  const group = stream?.group(args.bytes(2));
  if (stream === undefined || group === undefined) return 0;
  const ids = yield* readIds(args, 3);
  const before = stream.bytes;
  const acknowledged = yield* filtered(ids, (id) => group.acknowledge(id));
  if (acknowledged.length === 0) return 0;
  yield* pushIds(context, ['XACK', key, group.name], acknowledged);
  keyspace.changed(key, stream, before);
  return acknowledged.length;
};

interface PendingQuery {
  readonly minIdleMs: number;
  readonly start: StreamId;
  readonly stop: StreamId;
  readonly count: number;
  readonly consumer: string | undefined;
}

/**
 * XPENDING key group [[IDLE ms] start end count [consumer]] → a summary (count, first, last, consumers), or pending
 * entries with consumer, idle milliseconds and deliveries.
 */
export const pending: SlicedHandler = function* (context) {
  const { args, keyspace, nowMs } = context;
  const query = readQuery(context);
  const group = keyspace.peekKind(args.bytes(1), Stream)?.group(args.bytes(2));
  if (group === undefined) throw noSuchGroup(args.bytes(1), args.bytes(2));
  return query === undefined ? summaryOf(group) : yield* detailsOf(group, query, nowMs);
};

/** Whether the group has so many pending entries that the answer needs slices. */
export function isLongPending({ args, keyspace }: CommandContext): boolean {
  const stream = args.length > 3 ? keyspace.peek(args.bytes(1)) : undefined;
  return stream instanceof Stream && (stream.group(args.bytes(2))?.pending.size ?? 0) > LONG_STREAM_ENTRIES;
}

function readQuery({ args }: CommandContext): PendingQuery | undefined {
  if (args.length === 3) return undefined;
  if (args.length < 6 || args.length > 9) throw ERRORS.syntax;
  const hasIdle = args.option(3) === 'IDLE';
  const minIdleMs = hasIdle ? args.offset(4) : 0;
  if (hasIdle && args.length < 8) throw ERRORS.syntax;
  const at = hasIdle ? 5 : 3;
  const count = Math.max(0, args.offset(at + 2));
  const start = readStart(args.bytes(at));
  const stop = readStop(args.bytes(at + 1));
  return { minIdleMs, start, stop, count, consumer: args.words[at + 3] };
}

function summaryOf(group: ConsumerGroup): Reply {
  const { firstId, lastId, size } = group.pending;
  if (firstId === undefined || lastId === undefined) return [0, null, null, NIL_ARRAY];
  const backlogs = group.consumers().filter((consumer) => consumer.pending.size > 0);
  const counts = backlogs.map((consumer) => [consumer.name, String(consumer.pending.size)]);
  return [size, formatId(firstId), formatId(lastId), counts];
}

function* detailsOf(group: ConsumerGroup, query: PendingQuery, nowMs: number): Generator<void, Reply> {
  const { consumer, minIdleMs, count } = query;
  const order = consumer === undefined ? group.pending : group.consumer(consumer)?.pending;
  const found: Reply[] = [];
  if (order === undefined || count === 0) return found;
  yield* walkInSlices(order, query.start, query.stop, (id, item) => {
    const idleMs = idleOf(item, nowMs);
    if (minIdleMs <= 0 || idleMs >= minIdleMs) {
      found.push([formatId(id), item.consumer.name, idleMs, item.deliveries]);
    }
    return found.length < count;
  });
  return found;
}

/** Not negative, even if the clock was set back. */
export function idleOf({ deliveredAtMs }: PendingEntry, nowMs: number): number {
  return Math.max(0, nowMs - deliveredAtMs);
}
