import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { type DatabaseId, isMillraceError, type PartitionName } from '../../../src/kernel/index.js';
import { kvPartition, newDatabaseId, type Plane, parseKvPartition, shardOf } from '../../../src/protocol/index.js';

interface Placement {
  readonly plane: Plane;
  readonly partition: string;
  readonly shardCount: number;
  readonly shard: string;
}

const golden = JSON.parse(
  readFileSync(`${process.cwd()}/test/fixtures/journals/placement.json`, 'utf8'),
) as readonly Placement[];

describe('placement of partitions', () => {
  it('is the recorded one', () => {
    expect(golden.length).to.be.greaterThan(10);
    for (const { plane, partition, shardCount, shard } of golden) {
      expect(shardOf(plane, partition as PartitionName, shardCount), partition).to.equal(shard);
    }
  });

  it('spreads partitions over all shards', () => {
    const counts = new Map<string, number>();
    for (let i = 0; i < 4000; i += 1) {
      const shard = shardOf('kv', kvPartition('db-aaaaaaaaaaaaaaaa' as DatabaseId, i), 16);
      counts.set(shard, (counts.get(shard) ?? 0) + 1);
    }
    expect(counts.size).to.equal(16);
    expect(Math.min(...counts.values())).to.be.greaterThan(180);
  });

  it('requires a number of shards', () => {
    expect(() => shardOf('kv', 'kv:x:0' as PartitionName, 0)).to.throw();
  });
});

describe('ids of databases and names of partitions', () => {
  it('are db- and 16 characters of lower-case base32 with 80 random bits', () => {
    const id = newDatabaseId({ bytes: (count) => Uint8Array.from({ length: count }, (_, i) => i * 2), float: () => 0 });
    expect(id).to.equal('db-acegikmoqsuwy246');
    expect(parseKvPartition(kvPartition(id, 0)).database).to.equal(id);
  });

  it('are read back from the name of a partition', () => {
    const partition = kvPartition('db-acegikmoqsuwy246' as DatabaseId, 12);
    expect(partition).to.equal('kv:db-acegikmoqsuwy246:12');
    expect(parseKvPartition(partition)).to.deep.equal({ database: 'db-acegikmoqsuwy246', index: 12 });
  });

  for (const wrong of [
    '',
    'db-ACEGIKMOQSUWY246',
    'db-acegikmoqsuwy24',
    'db-acegikmoqsuwy2461',
    'db-acegikmoqsuwy24\n',
  ]) {
    it(`refuse ${JSON.stringify(wrong)}`, () => {
      expectInvalid(() => parseKvPartition(`kv:${wrong}:0`));
    });
  }

  it('refuse an index with a leading zero, without digits or from another plane', () => {
    for (const wrong of ['kv:db-acegikmoqsuwy246:01', 'kv:db-acegikmoqsuwy246:', 'queue:db-acegikmoqsuwy246:0']) {
      expectInvalid(() => parseKvPartition(wrong));
    }
  });
});

function expectInvalid(act: () => unknown): void {
  try {
    act();
  } catch (error) {
    expect(isMillraceError(error, 'INVALID'), String(error)).to.equal(true);
    return;
  }
  expect.fail('it was accepted');
}
