/**
 * Queue events ↔ bytes. A section's effects, and a snapshot's segments, are events one behind the other, each a
 * MessagePack list: the number of its type, then its fields. A type that changes in more than a new optional
 * last field gets a new number, and the old one is still read here. Old bytes decode for ever
 * (test/fixtures/journals/queue-events.json).
 */
import { type QueueEvent, queueEvents } from '../../domain/queue/index.js';
import { isMillraceError, MillraceError } from '../../kernel/index.js';
import { encoded, Unpacker, union } from '../../kernel/schema/index.js';
import { hotEvents } from './hot-events.js';

const shape = union('type', { ...queueEvents, ...hotEvents });

export function encodeQueueEvent(event: QueueEvent): Uint8Array {
  return encoded(shape, event);
}

/** Every event of a section or segment, in order; one at a time. @throws JOURNAL_DAMAGED for what is not known here */
export function* decodeQueueEvents(effects: Uint8Array): Iterable<QueueEvent> {
  const from = new Unpacker(effects);
  while (!from.isAtEnd) yield nextEvent(from);
}

/** Records nested deeper than the stack end as damage too. */
function nextEvent(from: Unpacker): QueueEvent {
  try {
    return shape.read(from);
  } catch (cause) {
    if (isMillraceError(cause)) throw cause;
    throw new MillraceError('JOURNAL_DAMAGED', 'a queue event cannot be read', {}, cause);
  }
}
