/** XDEL, XDELEX and XACKDEL: deleting entries by id. */
import type { CommandContext, SlicedHandler } from '../../command-spec.js';
import { parseInt64 } from '../../numbers.js';
import { ERRORS, ErrorReply, type Reply } from '../../reply.js';
import { filtered, mapped } from '../../slices.js';
import { Stream } from '../../types/stream.js';
import type { StreamId } from '../../types/stream-id.js';
import { readIds } from './ids.js';
import { dropReferences, pushIds, type References, readReferences } from './references.js';

export const badCount = new ErrorReply('ERR Number of IDs must be a positive integer');
export const countMismatch = new ErrorReply('ERR The `numids` parameter must match the number of arguments');

/** The result codes for an id. */
const NO_SUCH_ID = -1;
const DELETED = 1;
const STILL_REFERENCED = 2;

/** XDEL key id … → the number of deleted entries. */
export const remove: SlicedHandler = function* (context): Generator<void, Reply> {
  const { args, keyspace } = context;
  const key = args.bytes(1);
  const stream = keyspace.fetchKind(key, Stream);
  if (stream === undefined) return 0;
  const ids = yield* readIds(args, 2);
  const before = stream.bytes;
  const deleted = yield* filtered(ids, (id) => stream.delete(id));
  if (deleted.length === 0) return 0;
  yield* pushIds(context, ['XDEL', key], deleted);
  keyspace.changed(key, stream, before);
  context.notify('t', 'xdel', key);
  return deleted.length;
};

/** XDELEX key [KEEPREF|DELREF|ACKED] IDS n id … → a code for each id. */
export const removeByReference: SlicedHandler = function* (context): Generator<void, Reply> {
  const { args, keyspace } = context;
  const key = args.bytes(1);
  const stream = keyspace.fetchKind(key, Stream);
  const { ids, references } = yield* readDeletion(context, 2);
  if (stream === undefined) return yield* mapped(ids, () => NO_SUCH_ID);
  const before = stream.bytes;
  const deleted: StreamId[] = [];
  const codes = yield* mapped(ids, (id) => {
    // A group that has not read this far counts as referring to every higher id, even one without an entry.
    if (references === 'ACKED' && stream.isReferenced(id)) return STILL_REFERENCED;
    if (!stream.delete(id)) return NO_SUCH_ID;
    deleted.push(id);
    return DELETED;
  });
  yield* finish(context, { stream, before, deleted, unreferenced: ids, references, changes: false });
  return codes;
};

/** XACKDEL key group [KEEPREF|DELREF|ACKED] IDS n id … → a code for each id. */
export const acknowledgeAndRemove: SlicedHandler = function* (context): Generator<void, Reply> {
  const { args, keyspace } = context;
  const key = args.bytes(1);
  const stream = keyspace.fetchKind(key, Stream);
  const { ids, references } = yield* readDeletion(context, 3);
  const group = stream?.group(args.bytes(2));
  if (stream === undefined || group === undefined) return yield* mapped(ids, () => NO_SUCH_ID);
  const before = stream.bytes;
  const acknowledged: StreamId[] = [];
  const deleted: StreamId[] = [];
  const codes = yield* mapped(ids, (id) => {
    if (!group.acknowledge(id)) return NO_SUCH_ID;
    acknowledged.push(id);
    if (references === 'ACKED' && stream.isReferenced(id)) return STILL_REFERENCED;
    if (stream.delete(id)) deleted.push(id);
    return DELETED;
  });
  yield* pushIds(context, ['XACK', key, group.name], acknowledged);
  const changes = acknowledged.length > 0;
  yield* finish(context, { stream, before, deleted, unreferenced: acknowledged, references, changes });
  return codes;
};

interface Deletion {
  readonly stream: Stream;
  readonly before: number;
  readonly deleted: readonly StreamId[];
  /** With DELREF, these ids are no longer pending anywhere, whether or not they have entries. */
  readonly unreferenced: readonly StreamId[];
  readonly references: References;
  /** Whether there were other changes than the deletions. */
  readonly changes: boolean;
}

function* finish(context: CommandContext, deletion: Deletion): Generator<void, void> {
  const { stream, before, deleted, unreferenced, references, changes } = deletion;
  const key = context.args.bytes(1);
  yield* pushIds(context, ['XDEL', key], deleted);
  const dropped = references === 'DELREF' ? yield* dropReferences(context, key, stream, unreferenced) : 0;
  if (deleted.length === 0 && dropped === 0 && !changes) return;
  context.keyspace.changed(key, stream, before);
  if (deleted.length > 0) context.notify('t', 'xdel', key);
}

function* readDeletion(
  { args }: CommandContext,
  from: number,
): Generator<void, { readonly ids: readonly StreamId[]; readonly references: References }> {
  let references: References | undefined;
  let ids: readonly StreamId[] | undefined;
  for (let i = from; i < args.length; i += 1) {
    const option = args.option(i);
    const named = readReferences(option);
    if (named !== undefined && references === undefined) {
      references = named;
    } else if (option === 'IDS' && ids === undefined && i + 1 < args.length) {
      const count = parseInt64(args.bytes(i + 1));
      if (count === undefined || count < 1) throw badCount;
      if (count > args.length - i - 2) throw countMismatch;
      ids = yield* readIds(args, i + 2, i + 2 + Number(count));
      i += 1 + Number(count);
    } else throw ERRORS.syntax;
  }
  if (ids === undefined) throw ERRORS.syntax;
  return { ids, references: references ?? 'KEEPREF' };
}
