/** Groups and consumers by name, made where a command makes them. */
import type { ByteString } from '../../../../kernel/index.js';
import type { CommandContext } from '../../command-spec.js';
import { Stream } from '../../types/stream.js';
import type { Consumer, ConsumerGroup } from '../../types/stream-group.js';
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

/** The stream and the group that words 1 and 2 name, to be changed. @throws WRONGTYPE, NOGROUP */
export function requireGroup({ args, keyspace }: CommandContext): { stream: Stream; group: ConsumerGroup } {
  const stream = keyspace.fetchKind(args.bytes(1), Stream);
  const group = stream?.group(args.bytes(2));
  if (stream === undefined || group === undefined) throw noSuchGroup(args.bytes(1), args.bytes(2));
  return { stream, group };
}
