/** What those who listen to a database are told. */
import type { ByteString, PartitionName } from '../kernel/index.js';
import { listOf, nullable, openFields, openRecord, orNil, type TypeOf, text, union } from '../kernel/schema/index.js';

/** Its characters are below 256, so that any encoding of texts holds it. */
const byteString = text<ByteString>();
const message = openFields({ channel: byteString, payload: byteString });

const kvEvent = union('type', {
  message: ['message', message],
  pmessage: ['pmessage', openFields({ pattern: byteString, channel: byteString, payload: byteString })],
  smessage: ['smessage', message],
  /** A line as MONITOR prints it, without the leading plus. */
  monitor: ['monitor', openFields({ line: byteString })],
  /** Keys that clients may have cached and that have changed; null: any. `by`: the connection that did it. */
  invalidate: ['invalidate', openFields({ keys: nullable(listOf(byteString)), by: orNil(text()) })],
});
export type KvEvent = TypeOf<typeof kvEvent>;

/** What one process is told of one partition, in order. */
export const kvDelivery = openRecord({
  partition: text<PartitionName>(),
  /** It is that of the owner that tells; after a takeover an older one is not believed any more. */
  activation: text(),
  events: listOf(kvEvent),
});
export type KvDelivery = TypeOf<typeof kvDelivery>;
