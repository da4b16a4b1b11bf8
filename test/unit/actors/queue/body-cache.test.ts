/** Proves BC1, BC2, BME1, BME2. */
import { expect } from 'chai';
import { BodyCache } from '../../../../src/actors/queue/body-cache.js';
import { BodyMemory } from '../../../../src/actors/queue/body-memory.js';
import type { PartitionName, ShardName } from '../../../../src/kernel/index.js';

const shard = 'QUEUE_0' as ShardName;

/** Answers each read with the position that it was asked for. */
function cacheOf(memory = new BodyMemory()) {
  const reads: [number, number | undefined][] = [];
  const reader = {
    read: async (_shard: ShardName, _partition: PartitionName, number: number, at: number | undefined) => {
      reads.push([number, at]);
      return Buffer.from(`read ${number}`);
    },
  };
  const partition = 'queue:ac-aaaaaaaaaaaaaaaa' as PartitionName;
  return { cache: new BodyCache({ shard, partition, memory, reader }), reads, memory };
}

const body = (text: string) => Buffer.from(text);
const text = (bytes: Uint8Array | undefined) => (bytes === undefined ? undefined : Buffer.from(bytes).toString());

/** Puts bodies of a kilobyte as one entry each. */
function fill(cache: BodyCache, first: number, count: number): void {
  for (let number = first; number < first + count; number += 1) {
    cache.put(number, new Uint8Array(1000).fill(number));
    cache.sealed();
    cache.stored(number * 10);
  }
}

describe('queue: bodies in memory', () => {
  it('are returned as they were put: every byte, short and long', async () => {
    const { cache, reads } = cacheOf();
    const everyByte = Uint8Array.from({ length: 256 }, (_, i) => i);
    const long = new Uint8Array(100_000).fill(0xe9);
    cache.put(1, everyByte);
    cache.put(2, long);
    everyByte.fill(0);
    expect([...(cache.get(1) as Uint8Array)]).to.deep.equal(Array.from({ length: 256 }, (_, i) => i));
    expect(Buffer.compare(await cache.load(2), Buffer.alloc(100_000, 0xe9))).to.equal(0);
    expect(reads).to.deep.equal([]);
  });

  it('include an empty one under the number 0, without being put', () => {
    expect(cacheOf().cache.get(0)?.length).to.equal(0);
  });

  it('leave when they are dropped, and free their memory', () => {
    const { cache, memory } = cacheOf();
    cache.put(1, body('one'));
    cache.put(2, body('two'));
    cache.drop(1);
    cache.drop(1);
    expect([text(cache.get(1)), text(cache.get(2))]).to.deep.equal([undefined, 'two']);
    cache.drop(2);
    expect([cache.bytes, memory.usedBytes]).to.deep.equal([0, 0]);
  });

  it('are read from the entry that contains them, not from the one that was sealed while they were held back', async () => {
    const { cache, reads } = cacheOf();
    cache.put(1, body('one'));
    cache.hold();
    cache.put(2, body('two'));
    cache.sealed();
    cache.stored(7);
    cache.put(3, body('three'));
    cache.letGo();
    cache.sealed();
    cache.stored(9);
    for (const number of [1, 2, 3]) {
      cache.unload(number);
      await cache.load(number);
    }
    expect(reads).to.deep.equal([
      [1, 7],
      [2, 9],
      [3, 9],
    ]);
  });

  it('leave when they are stored and no further attempt will send them, and are read from the journal on request', async () => {
    const { cache, reads, memory } = cacheOf();
    cache.put(1, body('one'));
    cache.put(2, body('two'));
    cache.unload(1);
    expect(text(cache.get(1)), 'not stored yet').to.equal('one');
    cache.sealed();
    cache.stored(7);
    cache.unload(1);
    expect([text(cache.get(1)), text(cache.get(2))]).to.deep.equal([undefined, 'two']);
    expect(text(await cache.load(1))).to.equal('read 1');
    expect(reads).to.deep.equal([[1, 7]]);
    cache.drop(1);
    cache.drop(2);
    expect(memory.usedBytes).to.equal(0);
  });

  it('leave immediately when they are stored and not sent soon, and are read from the journal on request', async () => {
    const { cache, reads, memory } = cacheOf();
    fill(cache, 1, 2);
    cache.rest(1);
    expect([cache.get(1), text(await cache.load(1)), reads]).to.deep.equal([undefined, 'read 1', [[1, 10]]]);
    cache.drop(1);
    cache.drop(2);
    expect(memory.usedBytes).to.equal(0);
  });

  it('leave as soon as they are stored when they are not sent soon', async () => {
    const { cache, reads, memory } = cacheOf();
    for (let number = 1; number <= 600; number += 1) cache.put(number, body(`${number}`));
    for (let number = 2; number <= 600; number += 1) cache.rest(number);
    cache.rest(999_999);
    expect(text(cache.get(600)), 'not stored yet').to.equal('600');
    cache.sealed();
    cache.put(601, body('later'));
    cache.stored(7);
    expect([1, 2, 600, 601].map((number) => text(cache.get(number)))).to.deep.equal([
      '1',
      undefined,
      undefined,
      'later',
    ]);
    expect(memory.usedBytes).to.equal(cache.bytes);
    expect(text(await cache.load(600))).to.equal('read 600');
    expect(reads).to.deep.equal([[600, 7]]);
    for (let number = 1; number <= 601; number += 1) cache.drop(number);
    expect([cache.bytes, memory.usedBytes]).to.deep.equal([0, 0]);
  });

  it('leave oldest first above the budget, and are read from the position where their entry ends', async () => {
    const { cache, reads, memory } = cacheOf(new BodyMemory(100_000));
    fill(cache, 1, 2000);
    expect(memory.usedBytes).to.be.at.most(100_000);
    expect(memory.usedBytes).to.equal(cache.bytes);
    expect(cache.get(1)).to.equal(undefined);
    expect(text(await cache.load(700))).to.equal('read 700');
    expect(reads).to.deep.equal([[700, 7000]]);
    cache.put(2001, body('new'));
    expect(text(cache.get(2001))).to.equal('new');
  });

  it('stay above the budget until their entry is stored', async () => {
    const { cache, reads, memory } = cacheOf(new BodyMemory(1000));
    for (let number = 1; number <= 50; number += 1) cache.put(number, new Uint8Array(1000));
    cache.sealed();
    cache.put(51, new Uint8Array(1000).fill(51));
    expect(cache.get(1)).not.to.equal(undefined);
    expect(memory.usedBytes).to.be.greaterThan(50_000);
    cache.stored(7);
    expect([cache.get(1), cache.get(50)]).to.deep.equal([undefined, undefined]);
    expect(cache.get(51)?.[0]).to.equal(51);
    await cache.load(50);
    expect(reads).to.deep.equal([[50, 7]]);
  });

  it('of all queues of a process share one budget, and the oldest leaves first', () => {
    const memory = new BodyMemory(20_000);
    const [quiet, busy] = [cacheOf(memory).cache, cacheOf(memory).cache];
    fill(quiet, 1, 5);
    fill(busy, 1, 12);
    expect(quiet.get(1)).not.to.equal(undefined);
    fill(busy, 13, 10);
    expect(quiet.get(1)).to.equal(undefined);
    expect(busy.get(22)).not.to.equal(undefined);
    expect(memory.usedBytes).to.be.at.most(20_000);
  });

  it('from a replay are read at the position where their entry ended, even if their numbers began long before', async () => {
    const { cache, reads } = cacheOf(new BodyMemory(0));
    for (const [number, position] of [
      [5_000_000, 31],
      [5_000_001, 31],
      [5_000_700, 35],
    ] as const) {
      cache.put(number, body('x'));
      if (number !== 5_000_000) cache.replayedAt(position);
    }
    cache.put(5_000_701, body('live'));
    cache.sealed();
    cache.stored(40);
    for (const number of [5_000_000, 5_000_001, 5_000_700, 5_000_701]) await cache.load(number);
    expect(reads.map(([, at]) => at)).to.deep.equal([31, 31, 35, 40]);
  });

  it('from a snapshot have no position, also next to others that have one', async () => {
    const { cache, reads } = cacheOf(new BodyMemory(0));
    cache.put(600, body('x'));
    cache.replayedAt(9);
    cache.drop(599);
    await cache.load(599);
    await cache.load(3);
    expect(reads).to.deep.equal([
      [599, undefined],
      [3, undefined],
    ]);
  });

  it('are read from the snapshot alone once their entry was truncated from the journal', async () => {
    const { cache, reads } = cacheOf(new BodyMemory(0));
    fill(cache, 1, 1030);
    cache.covered(10_240);
    for (const number of [1, 1000, 1024]) await cache.load(number);
    expect(reads.map(([, at]) => at)).to.deep.equal([undefined, undefined, 10_240]);
    cache.covered(10_300);
    fill(cache, 1031, 1);
    for (const number of [1024, 1031]) await cache.load(number);
    expect(reads.slice(3).map(([, at]) => at)).to.deep.equal([undefined, 10_310]);
  });

  it('free all of their memory when the actor ends', () => {
    const { cache, memory } = cacheOf();
    fill(cache, 1, 600);
    cache.put(601, body('on its way'));
    cache.close();
    expect([cache.bytes, memory.usedBytes]).to.deep.equal([0, 0]);
  });
});
