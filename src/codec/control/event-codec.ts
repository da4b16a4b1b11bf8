/**
 * Codec of control events. A section's effects and a snapshot's segments are consecutive events: `[version, [type,
 * [fields …]]]` in MessagePack. Old bytes are decoded for ever (test/fixtures/journals/control-events.json).
 */
import { type ControlEvent, controlEvents } from '../../domain/control/index.js';
import { decodedEach, encoded, union, versioned } from '../../kernel/schema/index.js';

const shape = versioned(1, union('type', controlEvents));

export function encodeControlEvent(event: ControlEvent): Uint8Array {
  return encoded(shape, event);
}

/** The events of one section or segment, in order. @throws JOURNAL_DAMAGED for an unknown event */
export function decodeControlEvents(effects: Uint8Array): Iterable<ControlEvent> {
  return decodedEach(shape, effects, 'a control event');
}
