/** Groups and consumers by name, made where a command makes them; how far a group is, recorded. */
import type { ByteString } from '../../../../kernel/index.js';
import type { CommandContext } from '../../command-spec.js';
import { Stream } from '../../types/stream.js';
import type { Consumer, ConsumerGroup } from '../../types/stream-group.js';
import { formatId } from '../../types/stream-id.js';
import { groupPositionCommand } from '../../types/stream-rebuild.js';
import { noSuchGroup } from './errors.js';

/** The consumer of that name; a new one is recorded. `keyspace.changed` is left to the caller. */
export function consumerOf(
  { effects, notify }: CommandContext,
  key: ByteString,
  group: ConsumerGroup,
  name: ByteString,
): Consumer {
  const known = group.consumer(name);
  if (known !== undefined) return known;
  effects.push('XGROUP', 'CREATECONSUMER', key, group.name, name);
  notify('t', 'xgroup-createconsumer', key);
  return group.addConsumer(name);
}

/**
 * Records how far the group is. One that has read more than was ever added (XSETID may take that back) is set while
 * as many count as added: a server that reads the effects caps the count there.
 */
export function pushPosition({ effects }: CommandContext, key: ByteString, stream: Stream, group: ConsumerGroup): void {
  const isAhead = group.entriesRead > stream.entriesAdded;
  const counting = (added: number): ByteString[] => [
    ...['XSETID', key, formatId(stream.lastId), 'ENTRIESADDED', String(added)],
  ];
  if (isAhead) effects.push(...counting(group.entriesRead));
  effects.push(...groupPositionCommand(key, group));
  if (isAhead) effects.push(...counting(stream.entriesAdded));
}

/** The stream and the group that words 1 and 2 name, to be changed. @throws WRONGTYPE, NOGROUP */
export function requireGroup({ args, keyspace }: CommandContext): { stream: Stream; group: ConsumerGroup } {
  const stream = keyspace.fetchKind(args.bytes(1), Stream);
  const group = stream?.group(args.bytes(2));
  if (stream === undefined || group === undefined) throw noSuchGroup(args.bytes(1), args.bytes(2));
  return { stream, group };
}
