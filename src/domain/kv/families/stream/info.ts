/** XINFO: descriptions of a stream, its groups and their consumers. */
import type { CommandContext, Handler, SlicedHandler } from '../../command-spec.js';
import { ERRORS, MapReply, type Reply, wrongSubcommand } from '../../reply.js';
import { mapped, SlicePace } from '../../slices.js';
import type { OrderedBlocks } from '../../types/ordered-blocks.js';
import { ALL_IDS, Stream } from '../../types/stream.js';
import { type Consumer, type ConsumerGroup, NEVER, UNKNOWN_COUNT } from '../../types/stream-group.js';
import { formatId, type StreamId } from '../../types/stream-id.js';
import { LONG_STREAM_ENTRIES } from '../../types/stream-limits.js';
import { noGroupInKey } from './errors.js';
import { entryReply } from './range.js';
import { walkInSlices } from './walking.js';

/** Entries and pending entries that FULL shows without COUNT. */
const DEFAULT_FULL_COUNT = 10;

/** XINFO STREAM key [FULL [COUNT n]] → a map. */
export const stream: SlicedHandler = function* (context) {
  const { args } = context;
  const about = streamAbout(context);
  if (args.length === 3) return new MapReply([...commonFields(context, about), ...briefFields(about)]);
  const isFull = args.option(3) === 'FULL';
  const hasCount = args.length === 6 && args.option(4) === 'COUNT';
  if (!isFull || (args.length !== 4 && !hasCount)) throw wrongSubcommand('XINFO', args.bytes(1));
  const given = hasCount ? args.offset(5) : DEFAULT_FULL_COUNT;
  const count = given < 0 ? DEFAULT_FULL_COUNT : given;
  const full = yield* fullFields(about, count === 0 ? Number.POSITIVE_INFINITY : count);
  return new MapReply([...commonFields(context, about), ...full]);
};

/** FULL of a large stream. */
export function isLongStreamInfo({ args, keyspace }: CommandContext): boolean {
  const about = args.length > 3 ? keyspace.peek(args.bytes(2)) : undefined;
  if (!(about instanceof Stream)) return false;
  return about.size > LONG_STREAM_ENTRIES || about.groupCount > MANY_GROUPS || about.groups().some(isLongGroup);
}

/** Describing more takes over a millisecond. */
const MANY_GROUPS = 50;
const MANY_CONSUMERS = 200;

function isLongGroup({ consumerCount, pending }: ConsumerGroup): boolean {
  return consumerCount > MANY_CONSUMERS || pending.size > LONG_STREAM_ENTRIES;
}

/** XINFO GROUPS key → a map for each group. */
export const groups: Handler = (context) => {
  const about = streamAbout(context);
  return about
    .groups()
    .map(
      (group) =>
        new MapReply([
          ...['name', group.name],
          ...['consumers', group.consumerCount],
          ...['pending', group.pending.size],
          ...['last-delivered-id', formatId(group.lastId)],
          ...['entries-read', entriesReadOf(group)],
          ...['lag', about.lagOf(group) ?? null],
        ]),
    );
};

/** XINFO CONSUMERS key group → a map for each consumer. NOGROUP. */
export const consumers: SlicedHandler = function* (context) {
  const { args, nowMs } = context;
  const group = streamAbout(context).group(args.bytes(3));
  if (group === undefined) throw noGroupInKey(args.bytes(2), args.bytes(3));
  return yield* mapped(
    group.consumers(),
    ({ name, pending, seenAtMs, activeAtMs }) =>
      new MapReply([
        ...['name', name],
        ...['pending', pending.size],
        // The last-seen time is unknown after a takeover. It then counts as now, so that clients do not remove the
        // consumer as idle.
        ...['idle', seenAtMs === NEVER ? 0 : Math.max(0, nowMs - seenAtMs)],
        ...['inactive', activeAtMs === NEVER ? NEVER : Math.max(0, nowMs - activeAtMs)],
      ]),
  );
};

/** Whether the group has so many consumers that the answer needs slices. */
export function hasManyConsumers({ args, keyspace }: CommandContext): boolean {
  const about = keyspace.peek(args.bytes(2));
  return about instanceof Stream && (about.group(args.bytes(3))?.consumerCount ?? 0) > MANY_CONSUMERS;
}

export const XINFO_HELP = [
  'CONSUMERS <key> <groupname>',
  '    Consumers of a group: what is pending for each and how long it has been idle.',
  'GROUPS <key>',
  '    Groups of a stream: how far each has read.',
  'STREAM <key> [FULL [COUNT <count>]]',
  '    A stream, and with FULL its entries, groups and consumers too.',
];

function streamAbout({ args, keyspace }: CommandContext): Stream {
  const about = keyspace.peekKind(args.bytes(2), Stream);
  if (about === undefined) throw ERRORS.noSuchKey;
  return about;
}

function commonFields({ nowMs }: CommandContext, about: Stream): Reply[] {
  const { producers } = about;
  const tracked = producers?.tracked(nowMs);
  return [
    ...['length', about.size],
    ...['radix-tree-keys', about.blockCount],
    ...['radix-tree-nodes', about.blockCount + 1],
    ...['last-generated-id', formatId(about.lastId)],
    ...['max-deleted-entry-id', formatId(about.maxDeletedId)],
    ...['entries-added', about.entriesAdded],
    ...['recorded-first-entry-id', formatId(about.firstId)],
    ...(producers === undefined || tracked === undefined
      ? []
      : [
          ...['idmp-duration', producers.settings.seconds],
          ...['idmp-maxsize', producers.settings.maxIds],
          ...['pids-tracked', tracked.producers],
          ...['iids-tracked', tracked.ids],
          ...['iids-added', producers.added],
          ...['iids-duplicates', producers.duplicates],
        ]),
  ];
}

function briefFields(about: Stream): Reply[] {
  let first: Reply = null;
  let last: Reply = null;
  about.walk(...ALL_IDS, (id, entry) => {
    first = entryReply(id, entry);
    return false;
  });
  about.walkBack(...ALL_IDS, (id, entry) => {
    last = entryReply(id, entry);
    return false;
  });
  return ['groups', about.groupCount, 'first-entry', first, 'last-entry', last];
}

function* fullFields(about: Stream, count: number): Generator<void, Reply[]> {
  const entries = yield* firstOf(about, count, entryReply);
  const described: Reply[] = [];
  for (const group of about.groups()) {
    const pending = yield* firstOf(group.pending, count, (id, { consumer, deliveredAtMs, deliveries }) => [
      ...[formatId(id), consumer.name, deliveredAtMs, deliveries],
    ]);
    const consumersOf: Reply[] = [];
    const pace = new SlicePace();
    for (const consumer of group.consumers()) {
      consumersOf.push(yield* fullConsumer(consumer, count));
      if (pace.isDue(1 + Math.min(count, consumer.pending.size))) yield;
    }
    described.push(
      new MapReply([
        ...['name', group.name],
        ...['last-delivered-id', formatId(group.lastId)],
        ...['entries-read', entriesReadOf(group)],
        ...['lag', about.lagOf(group) ?? null],
        ...['pel-count', group.pending.size],
        ...['pending', pending],
        ...['consumers', consumersOf],
      ]),
    );
    if (described.length % MANY_GROUPS === 0) yield;
  }
  return ['entries', entries, 'groups', described];
}

function* fullConsumer({ name, seenAtMs, activeAtMs, pending }: Consumer, count: number): Generator<void, Reply> {
  const shown = yield* firstOf(pending, count, (id, { deliveredAtMs, deliveries }) => [
    ...[formatId(id), deliveredAtMs, deliveries],
  ]);
  return new MapReply([
    ...['name', name],
    ...['seen-time', seenAtMs],
    ...['active-time', activeAtMs],
    ...['pel-count', pending.size],
    ...['pending', shown],
  ]);
}

function* firstOf<V>(
  order: Pick<OrderedBlocks<V>, 'walk'>,
  count: number,
  describe: (id: StreamId, value: V) => Reply,
): Generator<void, Reply[]> {
  const first: Reply[] = [];
  yield* walkInSlices(order, ...ALL_IDS, (id, value) => {
    first.push(describe(id, value));
    return first.length < count;
  });
  return first;
}

function entriesReadOf({ entriesRead }: ConsumerGroup): number | null {
  return entriesRead === UNKNOWN_COUNT ? null : entriesRead;
}
