/** Finding groups, finding or creating consumers, and recording a group's position. */
import type { ByteString } from '../../../../kernel/index.js';
import type { CommandContext } from '../../command-spec.js';
import { Stream } from '../../types/stream.js';
import type { Consumer, ConsumerGroup } from '../../types/stream-group.js';
import { formatId } from '../../types/stream-id.js';
import { groupPositionCommand } from '../../types/stream-rebuild.js';
import { noSuchGroup } from './errors.js';

/** The consumer of that name; a new one is created and recorded. The caller calls `keyspace.changed`. */
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
 * Records the group's position. Redis caps a group's entries-read at the stream's entries-added, which XSETID may have
 * lowered below it; entries-added is then raised for this effect and restored after it.
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

/** The stream and group named by words 1 and 2, for a command that may write. @throws WRONGTYPE, NOGROUP */
export function requireGroup({ args, keyspace }: CommandContext): { stream: Stream; group: ConsumerGroup } {
  const stream = keyspace.fetchKind(args.bytes(1), Stream);
  const group = stream?.group(args.bytes(2));
  if (stream === undefined || group === undefined) throw noSuchGroup(args.bytes(1), args.bytes(2));
  return { stream, group };
}
