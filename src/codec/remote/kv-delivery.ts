/** What the owner of a partition tells the processes that listen to it ↔ bytes. */
import { decode, encode } from '@msgpack/msgpack';
import type { ByteString, PartitionName } from '../../kernel/index.js';
import type { KvDelivery, KvEvent } from '../../messages/index.js';

export function encodeKvDelivery({ partition, activation, events }: KvDelivery): Uint8Array {
  return encode([partition, activation, events.map(toParts)]);
}

export function decodeKvDelivery(bytes: Uint8Array): KvDelivery {
  const [partition, activation, events] = decode(bytes) as [PartitionName, string, unknown[][]];
  return { partition, activation, events: events.map(fromParts) };
}

function toParts(event: KvEvent): unknown[] {
  switch (event.type) {
    case 'message':
    case 'smessage':
      return [event.type, event.channel, event.payload];
    case 'pmessage':
      return [event.type, event.pattern, event.channel, event.payload];
    case 'monitor':
      return [event.type, event.line];
    case 'invalidate':
      return [event.type, event.keys, event.by ?? null];
  }
}

function fromParts([type, first, second, third]: unknown[]): KvEvent {
  switch (type as KvEvent['type']) {
    case 'pmessage':
      return {
        type: 'pmessage',
        pattern: first as ByteString,
        channel: second as ByteString,
        payload: third as ByteString,
      };
    case 'monitor':
      return { type: 'monitor', line: first as ByteString };
    case 'invalidate':
      return { type: 'invalidate', keys: first as ByteString[] | null, by: (second as string | null) ?? undefined };
    default:
      return { type: type as 'message' | 'smessage', channel: first as ByteString, payload: second as ByteString };
  }
}
