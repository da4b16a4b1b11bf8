/**
 * Records of the meter's log ↔ bytes:
 * `[1, session, number, day, atMs, connections, [[database, commands, writes, errors, hits, misses, bytesIn, bytesOut,
 * [requests by latency …]] …]]` in MessagePack. Old bytes decode for ever (test/fixtures/journals/meter-record.json).
 */
import { Decoder, Encoder } from '@msgpack/msgpack';
import { MillraceError } from '../../kernel/index.js';
import type { MeterRecord, MeterRow } from '../../messages/index.js';
import { databaseId, sessionId } from './control-shapes.js';
import { listOf, record, whole } from './shapes.js';

const VERSION = 1;

const row = record<MeterRow>({
  database: databaseId,
  commands: whole,
  writes: whole,
  errors: whole,
  hits: whole,
  misses: whole,
  bytesIn: whole,
  bytesOut: whole,
  latencies: listOf(whole),
});

const shape = record<MeterRecord>({
  session: sessionId,
  number: whole,
  day: whole,
  atMs: whole,
  connections: whole,
  rows: listOf(row),
});

const encoder = new Encoder();
const decoder = new Decoder();

export function encodeMeterRecord(meterRecord: MeterRecord): Uint8Array {
  return encoder.encode([VERSION, shape.write(meterRecord)]);
}

/** @throws JOURNAL_DAMAGED */
export function decodeMeterRecord(bytes: Uint8Array): MeterRecord {
  let raw: unknown;
  try {
    raw = decoder.decode(bytes);
  } catch (cause) {
    throw new MillraceError('JOURNAL_DAMAGED', 'a meter record is not MessagePack', {}, cause);
  }
  if (!Array.isArray(raw) || raw[0] !== VERSION) {
    throw new MillraceError('JOURNAL_DAMAGED', 'a meter record of a version that is not known');
  }
  return shape.read(raw[1], 'meter record');
}
