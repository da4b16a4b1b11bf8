/**
 * Codec of queue events. A section's effects and a snapshot's segments are consecutive events, each a MessagePack
 * list: the number of its type, then its fields. A change beyond a new optional last field gets a new type number,
 * and the old one is still read here. Old bytes are decoded for ever (test/fixtures/journals/queue-events.json).
 */
import { type QueueEvent, queueEvents } from '../../domain/queue/index.js';
import { decodedEach, encoded, union } from '../../kernel/schema/index.js';
import { hotEvents } from './hot-events.js';

const shape = union('type', { ...queueEvents, ...hotEvents });

export function encodeQueueEvent(event: QueueEvent): Uint8Array {
  return encoded(shape, event);
}

/** The events of a section or segment, in order, one at a time. @throws JOURNAL_DAMAGED for an unknown event */
export function decodeQueueEvents(effects: Uint8Array): Iterable<QueueEvent> {
  return decodedEach(shape, effects, 'a queue event');
}
