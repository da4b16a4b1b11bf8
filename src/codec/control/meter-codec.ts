/**
 * Records of the meter's log ↔ bytes: `[version, fields]` in MessagePack, the fields as lists in the order of the
 * shapes below. Written is version 2; version 1, which has fewer fields, is read for ever
 * (test/fixtures/journals/meter-record.json).
 */
import { Decoder, Encoder } from '@msgpack/msgpack';
import { MillraceError } from '../../kernel/index.js';
import type {
  MeteredWork,
  MeterKvGauge,
  MeterQueueRow,
  MeterRecord,
  MeterRow,
  MeterSearchGauge,
  MeterSearchRow,
} from '../../messages/index.js';
import { accountId, databaseId, sessionId } from './control-shapes.js';
import { absent, listOf, optional, record, type Shape, text, whole } from './shapes.js';

const VERSION = 2;

const rowFields = {
  database: databaseId,
  commands: whole,
  writes: whole,
  errors: whole,
  hits: whole,
  misses: whole,
  bytesIn: whole,
  bytesOut: whole,
  latencies: listOf(whole),
};

const recordFields = { session: sessionId, number: whole, day: whole, atMs: whole, connections: whole };

type RowOf1 = Pick<MeterRow, keyof typeof rowFields>;
type RecordOf1 = Pick<MeterRecord, keyof typeof recordFields> & { readonly rows: readonly RowOf1[] };

const version1 = record<RecordOf1>({ ...recordFields, rows: listOf(record<RowOf1>(rowFields)) });

const name = text();

const call: Shape<readonly [string, number]> = {
  write: (pair) => pair,
  read: (raw, where) => {
    const [called, calls] = Array.isArray(raw) ? raw : [];
    return [name.read(called, where), whole.read(calls, where)];
  },
};

const row = record<Required<MeterRow>>({
  ...rowFields,
  writeLatencies: listOf(whole),
  readMicros: whole,
  writeMicros: whole,
  commandCounts: listOf(call),
  connections: optional(whole),
});

const work = record<MeteredWork>({ micros: whole, latencies: listOf(whole) });

const searchRow = record<MeterSearchRow>({
  index: databaseId,
  queries: whole,
  updates: whole,
  reranks: whole,
  bytesIn: whole,
  bytesOut: whole,
  query: work,
  update: work,
  embedding: work,
  rerank: work,
});

const kvGauge = record<MeterKvGauge>({
  database: databaseId,
  index: whole,
  keys: whole,
  storageBytes: whole,
  epoch: absent(whole),
});

const version2 = record<Required<MeterRecord>>({
  ...recordFields,
  rows: listOf(row) as Shape<readonly MeterRow[]>,
  searches: listOf(searchRow),
  queues: listOf(record<MeterQueueRow>({ account: accountId, bytesIn: whole, bytesOut: whole })),
  kvGauges: listOf(kvGauge),
  searchGauges: listOf(record<MeterSearchGauge>({ index: databaseId, documents: whole, storageBytes: whole })),
});

const encoder = new Encoder();
const decoder = new Decoder();

export function encodeMeterRecord(meterRecord: MeterRecord): Uint8Array {
  const { searches = [], queues = [], kvGauges = [], searchGauges = [] } = meterRecord;
  const rows = meterRecord.rows.map((given) => ({ ...NOTHING_MORE, ...given }));
  return encoder.encode([VERSION, version2.write({ ...meterRecord, rows, searches, queues, kvGauges, searchGauges })]);
}

/** @throws JOURNAL_DAMAGED */
export function decodeMeterRecord(bytes: Uint8Array): MeterRecord {
  let raw: unknown;
  try {
    raw = decoder.decode(bytes);
  } catch (cause) {
    throw new MillraceError('JOURNAL_DAMAGED', 'a meter record is not MessagePack', {}, cause);
  }
  const version = Array.isArray(raw) ? raw[0] : undefined;
  const shape: Pick<Shape<MeterRecord>, 'read'> | undefined =
    version === VERSION ? version2 : version === 1 ? version1 : undefined;
  if (shape === undefined) {
    throw new MillraceError('JOURNAL_DAMAGED', 'a meter record of a version that is not known');
  }
  return shape.read((raw as unknown[])[1], 'meter record');
}

const NOTHING_MORE = { writeLatencies: [], readMicros: 0, writeMicros: 0, commandCounts: [] };
