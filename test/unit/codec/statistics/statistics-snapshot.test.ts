/** Recorded bytes decode in every release: the files in test/fixtures/journals are added to, never edited. */
import { readFileSync } from 'node:fs';
import { deflateSync, inflateSync } from 'node:zlib';
import { encode } from '@msgpack/msgpack';
import { expect } from 'chai';
import {
  decodeStatisticsManifest,
  decodeStatisticsSegment,
  encodeStatisticsManifest,
  encodeStatisticsSegment,
  type StatisticsSegment,
} from '../../../../src/codec/statistics/index.js';
import { MillraceError, type ShardName } from '../../../../src/kernel/index.js';
import type { StatisticsManifest } from '../../../../src/protocol/index.js';

const fixture = JSON.parse(readFileSync('test/fixtures/journals/statistics-snapshot.json', 'utf8')) as {
  manifest: string;
  segments: Record<string, string>;
};

const MANIFEST: StatisticsManifest = {
  clusterId: 'cluster-1',
  createdAtMs: 1_790_000_000_000,
  marks: [
    {
      shard: 'METER' as ShardName,
      createdAt: '2026-09-21T00:00:00.000000001Z',
      position: 86_400,
      entry: 0,
      hash: new Uint8Array(),
      clockMs: 1_789_999_999_000,
      hasGap: false,
      dlqFrom: 0,
    },
    {
      shard: 'QUEUE_3' as ShardName,
      createdAt: '2026-09-21T00:00:00.000000002Z',
      position: 17,
      entry: 12,
      hash: new Uint8Array(32).fill(9),
      clockMs: 1_789_999_999_500,
      hasGap: true,
      dlqFrom: 11,
    },
  ],
  segments: [{ object: 'statistics/segment/0000000000086400-a-0', bytes: 77, sha256: new Uint8Array(32).fill(5) }],
};

const SEGMENTS: Readonly<Record<string, StatisticsSegment>> = {
  subjects: { table: 'subjects', rows: [[1, 2, 'ac-aaaabbbbccccdddd', 3]] },
  buckets: { table: 'buckets', rows: [[1, 5, 1_789_948_800_000, new Uint8Array([147, 145, 7, 144, 144])]] },
  live: { table: 'live', rows: [[1, 'msg_1', 500, 0, 1_790_000_000_000]] },
  sessions: { table: 'sessions', rows: [['node-0123456789abcdef', 400, 20_717]] },
  sizes: { table: 'sizes', rows: [[2, -1, 10, 5_000_000_000, 0]] },
  connections: { table: 'connections', rows: [[2, 'node-0123456789abcdef', 4, 1_790_000_000_000]] },
};

async function refusalOf(bytes: Uint8Array): Promise<string> {
  const error: unknown = await decodeStatisticsSegment(bytes).catch((thrown: unknown) => thrown);
  return error instanceof MillraceError ? `${error.code}: ${error.message}` : String(error);
}

describe('snapshots of the statistics', () => {
  it('have a manifest that is written with the recorded bytes and read back', () => {
    expect(Buffer.from(encodeStatisticsManifest(MANIFEST)).toString('hex')).to.equal(fixture.manifest);
    expect(decodeStatisticsManifest(Buffer.from(fixture.manifest, 'hex'))).to.deep.equal(MANIFEST);
  });

  it('refuse a manifest with a changed bit', () => {
    const bytes = Buffer.from(fixture.manifest, 'hex');
    bytes[20] = (bytes[20] as number) ^ 1;
    expect(() => decodeStatisticsManifest(bytes)).to.throw(MillraceError);
  });

  for (const [name, segment] of Object.entries(SEGMENTS)) {
    it(`have recorded rows of ${name}, which decode`, async () => {
      expect(await decodeStatisticsSegment(Buffer.from(fixture.segments[name] as string, 'hex'))).to.deep.equal(
        segment,
      );
      expect(await decodeStatisticsSegment(await encodeStatisticsSegment(segment))).to.deep.equal(segment);
    });
  }

  it('keep their bytes before compression', async () => {
    for (const [name, segment] of Object.entries(SEGMENTS)) {
      const written = inflateSync(await encodeStatisticsSegment(segment)).toString('hex');
      const recorded = inflateSync(Buffer.from(fixture.segments[name] as string, 'hex')).toString('hex');
      // Rows of sizes were recorded before they had their last column.
      expect(written, name).to.equal(name === 'sizes' ? `${recorded.replace('9402ff', '9502ff')}00` : recorded);
    }
  });

  it('have a newer column, which is empty in older rows', async () => {
    const sizes: StatisticsSegment = { table: 'sizes', rows: [[2, -1, 10, 5_000_000_000, 7]] };
    expect(await decodeStatisticsSegment(await encodeStatisticsSegment(sizes))).to.deep.equal(sizes);
    const before = await decodeStatisticsSegment(Buffer.from(fixture.segments.sizes as string, 'hex'));
    expect(before.rows).to.deep.equal([[2, -1, 10, 5_000_000_000, 0]]);
  });

  it('refuse bytes that are no segment', async () => {
    const made = (...fields: unknown[]) => deflateSync(encode(fields));
    expect(await refusalOf(Buffer.from('no'))).to.match(/^JOURNAL_DAMAGED/);
    expect(await refusalOf(made(2, 'sizes', []))).to.match(/^NEWER_FORMAT: .*newer release \(version 2, this/);
    expect(await refusalOf(made(1, 'nothing', []))).to.contain('table nothing is not known');
    expect(await refusalOf(made(1, 'sizes', [[1, 2, 3]]))).to.contain('a row of sizes has another shape');
    expect(await refusalOf(made(1, 'sizes', [[1, 2, 3, 1.5]]))).to.contain('a row of sizes has another shape');
  });
});
