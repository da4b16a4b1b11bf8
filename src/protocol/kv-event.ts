/** Events for the listeners of a database. */
import type { ByteString, PartitionName } from '../kernel/index.js';
import { listOf, nullable, openFields, openRecord, orNil, type TypeOf, text, union } from '../kernel/schema/index.js';

/** Characters below 256, which any text encoding holds. */
const byteString = text<ByteString>();
const message = openFields({ channel: byteString, payload: byteString });

const kvEvent = union('type', {
  message: ['message', message],
  pmessage: ['pmessage', openFields({ pattern: byteString, channel: byteString, payload: byteString })],
  smessage: ['smessage', message],
  /** A line of MONITOR, without the leading plus. */
  monitor: ['monitor', openFields({ line: byteString })],
  /** Changed keys that clients may have cached; null: all keys. `by`: the connection that changed them. */
  invalidate: ['invalidate', openFields({ keys: nullable(listOf(byteString)), by: orNil(text()) })],
});
export type KvEvent = TypeOf<typeof kvEvent>;

/** The events of one partition for one process, in order. */
export const kvDelivery = openRecord({
  partition: text<PartitionName>(),
  /** The activation of the sending owner; after a takeover, events of an older one are ignored. */
  activation: text(),
  events: listOf(kvEvent),
});
export type KvDelivery = TypeOf<typeof kvDelivery>;
