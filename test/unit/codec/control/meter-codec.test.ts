/** Recorded bytes decode in every release: the files in test/fixtures/journals are added to, never edited. */
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { decodeMeterRecord, encodeMeterRecord } from '../../../../src/codec/control/index.js';
import { type AccountId, MillraceError } from '../../../../src/kernel/index.js';
import type { MeterRecord } from '../../../../src/protocol/index.js';
import { GOLDEN_METER_RECORD } from './golden-values.js';

const fixture = JSON.parse(readFileSync('test/fixtures/journals/meter-record.json', 'utf8')) as Record<string, string>;
const index = 'db-eeeeffffgggghhhh' as (typeof GOLDEN_METER_RECORD)['rows'][0]['database'];
const account = 'ac-aaaabbbbccccdddd' as AccountId;
const [row] = GOLDEN_METER_RECORD.rows;

const work = (micros: number) => ({ micros, latencies: [0, micros] });
const VERSION_2: MeterRecord = {
  ...GOLDEN_METER_RECORD,
  rows: [
    {
      ...row!,
      writeLatencies: [0, 0, 2],
      readMicros: 200,
      writeMicros: 1_500_000,
      commandCounts: [
        ['GET', 3],
        ['SET', 2],
      ],
      connections: 4,
    },
  ],
  searches: [
    {
      index,
      queries: 1,
      updates: 2,
      reranks: 3,
      bytesIn: 4,
      bytesOut: 5,
      query: work(6),
      update: work(7),
      embedding: work(8),
      rerank: work(9),
    },
  ],
  queues: [{ account, bytesIn: 10, bytesOut: 11 }],
  kvGauges: [{ database: row!.database, index: 3, keys: 12, storageBytes: 13_000_000_000 }],
  searchGauges: [{ index, documents: 14, storageBytes: 15 }],
};

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

describe('meter records', () => {
  it('of the first version are still read', () => {
    expect(decodeMeterRecord(Buffer.from(fixture.v1 as string, 'hex'))).to.deep.equal(GOLDEN_METER_RECORD);
  });

  it('keep their bytes', () => {
    expect(hex(encodeMeterRecord(VERSION_2))).to.equal(fixture.v2);
    expect(decodeMeterRecord(Buffer.from(fixture.v2 as string, 'hex'))).to.deep.equal(VERSION_2);
  });

  it('contain the epoch of the owner that reported a size', () => {
    const [gauge] = VERSION_2.kvGauges ?? [];
    const withEpoch: MeterRecord = { ...VERSION_2, kvGauges: [{ ...gauge!, epoch: 300 }] };
    expect(hex(encodeMeterRecord(withEpoch))).to.equal(fixture['v2-epoch']);
    expect(decodeMeterRecord(Buffer.from(fixture['v2-epoch'] as string, 'hex'))).to.deep.equal(withEpoch);
  });

  it('leave out fields without a value', () => {
    const { rows, searches, queues, kvGauges, searchGauges } = decodeMeterRecord(
      encodeMeterRecord(GOLDEN_METER_RECORD),
    );
    expect(rows).to.deep.equal([
      { ...row, writeLatencies: [], readMicros: 0, writeMicros: 0, commandCounts: [], connections: undefined },
    ]);
    expect([searches, queues, kvGauges, searchGauges]).to.deep.equal([[], [], [], []]);
  });

  it('that cannot be read are refused', () => {
    expect(() => decodeMeterRecord(Buffer.from([0x92, 9, 0x90]))).to.throw(/newer release \(version 9/);
    for (const bytes of [Buffer.from('x'), Buffer.from([0x92, 0, 0x90]), Buffer.from([0xc1])]) {
      expect(() => decodeMeterRecord(bytes))
        .to.throw(MillraceError)
        .with.property('code', 'JOURNAL_DAMAGED');
    }
  });
});
