/**
 * Control events ↔ bytes. A section's effects, and a snapshot's segments, are events one behind the
 * other: `[version, [type, [fields …]]]` in MessagePack. Old bytes decode for ever
 * (test/fixtures/journals/control-events.json).
 */
import { type ControlEvent, controlEvents } from '../../domain/control/index.js';
import { decodedEach, encoded, union, versioned } from '../../kernel/schema/index.js';

const shape = versioned(1, union('type', controlEvents));

export function encodeControlEvent(event: ControlEvent): Uint8Array {
  return encoded(shape, event);
}

/** Every event of one section or segment, in order. @throws JOURNAL_DAMAGED for what is not known here */
export function decodeControlEvents(effects: Uint8Array): Iterable<ControlEvent> {
  return decodedEach(shape, effects, 'a control event');
}
