/**
 * Codec of commands for the control actor, its replies, and notices of applied positions, for the bus between
 * processes. The version comes first, so that two releases do not misread each other.
 *
 * These bytes are not journaled: unreadable ones are a peer's error (INVALID), not damage.
 */
import { type ControlEvent, controlCommands, controlEvents, controlReplies } from '../../domain/control/index.js';
import { bothWays, decoded, decodedEach, encoded, union, versioned } from '../../kernel/schema/index.js';
import {
  type ControlApplied,
  controlApplied,
  type MeterRecord,
  type MeterRow,
  meterRecord,
} from '../../protocol/index.js';

/**
 * Codec of the meter's records: `[version, fields]` in MessagePack. Version 1, with fewer fields, is read for ever
 * (test/fixtures/journals/meter-record.json).
 */
export function encodeMeterRecord(record: MeterRecord): Uint8Array {
  const { searches = [], queues = [], kvGauges = [], searchGauges = [] } = record;
  // The meter's own rows are complete. Thousands may come per second, and copying one takes ten times as long as
  // writing it.
  const rows = record.rows.map((given) => (isWhole(given) ? given : { ...NOTHING_MORE, ...given }));
  return encoded(meterRecord, { ...record, rows, searches, queues, kvGauges, searchGauges });
}

/** @throws JOURNAL_DAMAGED */
export function decodeMeterRecord(bytes: Uint8Array): MeterRecord {
  return decoded(meterRecord, bytes, 'a meter record');
}

const NOTHING_MORE = { writeLatencies: [], readMicros: 0, writeMicros: 0, commandCounts: [] };

type Whole = MeterRow & Required<Pick<MeterRow, keyof typeof NOTHING_MORE>>;

function isWhole(row: MeterRow): row is Whole {
  const { writeLatencies, readMicros, writeMicros, commandCounts } = row;
  return [writeLatencies, readMicros, writeMicros, commandCounts].every((field) => field !== undefined);
}

/**
 * Codec of control events. A section's effects and a snapshot's segments are consecutive events: `[version, [type,
 * [fields …]]]` in MessagePack. Old bytes are decoded for ever (test/fixtures/journals/control-events.json).
 */
const shape = versioned(1, union('type', controlEvents));

export function encodeControlEvent(event: ControlEvent): Uint8Array {
  return encoded(shape, event);
}

/** The events of one section or segment, in order. @throws JOURNAL_DAMAGED for an unknown event */
export function decodeControlEvents(effects: Uint8Array): Iterable<ControlEvent> {
  return decodedEach(shape, effects, 'a control event');
}

const command = versioned(1, union('type', controlCommands));
export const [encodeControlCommand, decodeControlCommand] = bothWays(command, 'a control command', 'INVALID');

const reply = versioned(1, union('type', controlReplies));
export const [encodeControlReply, decodeControlReply] = bothWays(reply, 'a control reply', 'INVALID');

const applied = versioned(1, controlApplied);

/** The position of a process's copy of the control state, sent to all processes. */
export function encodeControlApplied(notice: ControlApplied): Uint8Array {
  return encoded(applied, notice);
}

/** Undefined for an unknown form: a notice from another release is ignored without an error. */
export function decodeControlApplied(bytes: Uint8Array): ControlApplied | undefined {
  try {
    return decoded(applied, bytes, 'a notice');
  } catch {
    return undefined;
  }
}
