/**
 * Records of the meter's log ↔ bytes: `[version, fields]` in MessagePack. Version 1, which has fewer fields, is read for
 * ever (test/fixtures/journals/meter-record.json).
 */
import { decoded, encoded } from '../../kernel/schema/index.js';
import { type MeterRecord, meterRecord } from '../../messages/index.js';

export function encodeMeterRecord(record: MeterRecord): Uint8Array {
  const { searches = [], queues = [], kvGauges = [], searchGauges = [] } = record;
  const rows = record.rows.map((given) => ({ ...NOTHING_MORE, ...given }));
  return encoded(meterRecord, { ...record, rows, searches, queues, kvGauges, searchGauges });
}

/** @throws JOURNAL_DAMAGED */
export function decodeMeterRecord(bytes: Uint8Array): MeterRecord {
  return decoded(meterRecord, bytes, 'a meter record');
}

const NOTHING_MORE = { writeLatencies: [], readMicros: 0, writeMicros: 0, commandCounts: [] };
