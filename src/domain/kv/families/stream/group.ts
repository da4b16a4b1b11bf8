/** XGROUP: creating, moving and removing groups and their consumers. */
import type { CommandContext, Handler, SlicedHandler } from '../../command-spec.js';
import { ErrorReply, OK, wrongSubcommand } from '../../reply.js';
import { Stream } from '../../types/stream.js';
import { type ConsumerGroup, UNKNOWN_COUNT } from '../../types/stream-group.js';
import { formatId, MAX_ID, MIN_ID, type StreamId } from '../../types/stream-id.js';
import { LONG_STREAM_ENTRIES } from '../../types/stream-limits.js';
import { consumerOf } from './consumers.js';
import { noGroupInKey } from './errors.js';
import { readId } from './ids.js';

const keyNeeded = new ErrorReply(
  'ERR The XGROUP subcommand requires the key to exist. Note that for CREATE you may want to use the MKSTREAM option ' +
    'to create an empty stream automatically.',
);
const badEntriesRead = new ErrorReply('ERR value for ENTRIESREAD must be positive or -1');
const busyGroup = new ErrorReply('BUSYGROUP Consumer Group name already exists');

/** XGROUP CREATE key group id|$ [MKSTREAM] [ENTRIESREAD n] → OK. BUSYGROUP. */
export const create: Handler = (context) => {
  const { args, keyspace, effects, notify } = context;
  const options = readPositionOptions(context, true);
  const key = args.bytes(2);
  const name = args.bytes(3);
  const known = keyspace.fetchKind(key, Stream);
  if (known === undefined && !options.makesStream) throw keyNeeded;
  const id = readPosition(context, known);
  if (known?.group(name) !== undefined) throw busyGroup;
  const stream = known ?? new Stream();
  const entriesRead = within(context, stream, options.entriesRead);
  const before = stream.bytes;
  stream.addGroup(name, id, entriesRead);
  if (known === undefined) keyspace.set(key, stream);
  else keyspace.changed(key, stream, before);
  const made = known === undefined ? ['MKSTREAM'] : [];
  effects.push('XGROUP', 'CREATE', key, name, formatId(id), ...made, 'ENTRIESREAD', String(entriesRead));
  notify('t', 'xgroup-create', key);
  return OK;
};

/** XGROUP SETID key group id|$ [ENTRIESREAD n] → OK. NOGROUP. */
export const setPosition: Handler = (context) => {
  const { args, keyspace, effects, notify } = context;
  const options = readPositionOptions(context, false);
  const { stream, group } = groupInKey(context);
  const entriesRead = within(context, stream, options.entriesRead);
  group.lastId = readPosition(context, stream, true);
  group.entriesRead = entriesRead;
  const key = args.bytes(2);
  keyspace.changed(key, stream, stream.bytes);
  effects.push('XGROUP', 'SETID', key, group.name, formatId(group.lastId), 'ENTRIESREAD', String(entriesRead));
  notify('t', 'xgroup-setid', key);
  return OK;
};

/** XGROUP DESTROY key group → 1, or 0 if it is missing. */
export const destroy: Handler = (context) => {
  const { args, keyspace, effects, notify } = context;
  const key = args.bytes(2);
  const stream = streamInKey(context);
  const group = stream.group(args.bytes(3));
  if (group === undefined) return 0;
  const before = stream.bytes;
  stream.removeGroup(group);
  keyspace.changed(key, stream, before);
  effects.push('XGROUP', 'DESTROY', key, group.name);
  notify('t', 'xgroup-destroy', key);
  return 1;
};

/** XGROUP CREATECONSUMER key group consumer → 1, or 0 if it exists. NOGROUP. */
export const createConsumer: Handler = (context) => {
  const { args, keyspace, nowMs } = context;
  const { stream, group } = groupInKey(context);
  if (group.consumer(args.bytes(4)) !== undefined) return 0;
  const before = stream.bytes;
  const consumer = consumerOf(context, args.bytes(2), group, args.bytes(4));
  if (!context.isReplay) consumer.seen(nowMs);
  keyspace.changed(args.bytes(2), stream, before);
  return 1;
};

/** XGROUP DELCONSUMER key group consumer → the number of its pending entries. NOGROUP. */
export const deleteConsumer: SlicedHandler = function* (context) {
  const { args, keyspace, effects, notify } = context;
  const key = args.bytes(2);
  const { stream, group } = groupInKey(context);
  const consumer = group.consumer(args.bytes(4));
  if (consumer === undefined) return 0;
  const before = stream.bytes;
  const count = yield* group.removeConsumer(consumer);
  keyspace.changed(key, stream, before);
  effects.push('XGROUP', 'DELCONSUMER', key, group.name, consumer.name);
  notify('t', 'xgroup-delconsumer', key);
  return count;
};

/** Whether the consumer has so many pending entries that removing it needs slices. */
export function isLongDeletion({ args, keyspace }: CommandContext): boolean {
  const stream = keyspace.peek(args.bytes(2));
  if (!(stream instanceof Stream)) return false;
  return (stream.group(args.bytes(3))?.consumer(args.bytes(4))?.pending.size ?? 0) > LONG_STREAM_ENTRIES;
}

export const XGROUP_HELP = [
  'CREATE <key> <groupname> <id|$> [MKSTREAM] [ENTRIESREAD <n>]',
  '    Make a consumer group that reads after <id>, or after the last entry.',
  'CREATECONSUMER <key> <groupname> <consumer>',
  '    Make a consumer of a group.',
  'DELCONSUMER <key> <groupname> <consumer>',
  '    Remove a consumer, and what is pending for it.',
  'DESTROY <key> <groupname>',
  '    Remove a group.',
  'SETID <key> <groupname> <id|$> [ENTRIESREAD <n>]',
  '    Let a group go on after <id>, or after the last entry.',
];

function readPositionOptions(
  { args }: CommandContext,
  creates: boolean,
): { readonly makesStream: boolean; readonly entriesRead: number } {
  let makesStream = false;
  let entriesRead = UNKNOWN_COUNT;
  for (let i = 5; i < args.length; i += 1) {
    const option = args.option(i);
    if (creates && option === 'MKSTREAM') {
      makesStream = true;
    } else if (option === 'ENTRIESREAD' && i + 1 < args.length) {
      i += 1;
      entriesRead = args.integer(i);
      if (entriesRead < 0 && entriesRead !== UNKNOWN_COUNT) throw badEntriesRead;
    } else throw wrongSubcommand('XGROUP', args.bytes(1));
  }
  return { makesStream, entriesRead };
}

/** A client's entries-read is capped at the number of entries ever added; a journaled one is taken as it is. */
function within({ isReplay }: CommandContext, { entriesAdded }: Stream, entriesRead: number): number {
  return isReplay ? entriesRead : Math.min(entriesRead, entriesAdded);
}

function readPosition({ args }: CommandContext, stream: Stream | undefined, takesEnds = false): StreamId {
  const word = args.bytes(4);
  if (word === '$') return stream?.lastId ?? MIN_ID;
  if (takesEnds && word === '-') return MIN_ID;
  return takesEnds && word === '+' ? MAX_ID : readId(word);
}

function streamInKey({ args, keyspace }: CommandContext): Stream {
  const stream = keyspace.fetchKind(args.bytes(2), Stream);
  if (stream === undefined) throw keyNeeded;
  return stream;
}

function groupInKey(context: CommandContext): { readonly stream: Stream; readonly group: ConsumerGroup } {
  const stream = streamInKey(context);
  const group = stream.group(context.args.bytes(3));
  if (group === undefined) throw noGroupInKey(context.args.bytes(2), context.args.bytes(3));
  return { stream, group };
}
