/**
 * Queue events ↔ bytes. A section's effects, and a snapshot's segments, are events one behind the other, each a
 * MessagePack list: the number of its type, then its fields. A type that changes in more than a new optional
 * last field gets a new number, and the old one is still read here. Old bytes decode for ever
 * (test/fixtures/journals/queue-events.json).
 */
import { type QueueEvent, queueEvents } from '../../domain/queue/index.js';
import { decodedEach, encoded, union } from '../../kernel/schema/index.js';
import { hotEvents } from './hot-events.js';

const shape = union('type', { ...queueEvents, ...hotEvents });

export function encodeQueueEvent(event: QueueEvent): Uint8Array {
  return encoded(shape, event);
}

/** Every event of a section or segment, in order; one at a time. @throws JOURNAL_DAMAGED for what is not known here */
export function decodeQueueEvents(effects: Uint8Array): Iterable<QueueEvent> {
  return decodedEach(shape, effects, 'a queue event');
}
