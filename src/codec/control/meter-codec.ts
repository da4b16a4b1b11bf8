/**
 * Codec of the meter's records: `[version, fields]` in MessagePack. Version 1, with fewer fields, is read for ever
 * (test/fixtures/journals/meter-record.json).
 */
import { decoded, encoded } from '../../kernel/schema/index.js';
import { type MeterRecord, type MeterRow, meterRecord } from '../../protocol/index.js';

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
