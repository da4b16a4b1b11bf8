/** Proves EV1, EV2. */
import { expect } from 'chai';
import { admit, type CommandSpec, KEY_OVERHEAD_BYTES } from '../../../src/domain/kv/index.js';
import { KvBench } from '../../support/kv-bench.js';
import { NOW } from '../../support/kv-case.js';

const FULL = "OOM command not allowed when used memory > 'maxmemory'.";

/** A database with a bound of some twenty small keys. */
function bounded(policy: string): KvBench {
  const bench = new KvBench();
  bench.line(`CONFIG SET maxmemory 2016 maxmemory-policy ${policy} maxmemory-samples 64`);
  return bench;
}

/** Runs a command that may grow the database, like its owner. */
function grow(bench: KvBench, line: string): string | undefined {
  const words = line.split(' ');
  const spec = admit(words) as CommandSpec;
  const refusal = spec.flags.includes('denyoom') ? bench.engine.removal.makeRoom(bench.nowMs) : undefined;
  if (refusal === undefined) bench.line(line);
  return refusal?.text;
}

function fill(bench: KvBench, count: number, options = ''): void {
  for (let i = 0; i < count; i += 1) {
    bench.nowMs += 1000;
    expect(grow(bench, `SET key:${i} ${'x'.repeat(20)}${options}`)).to.equal(undefined);
  }
}

describe('a database at maxmemory', () => {
  it('refuses growth, and no other command, with noeviction', () => {
    const bench = bounded('noeviction');
    let refusal: string | undefined;
    for (let i = 0; i < 100 && refusal === undefined; i += 1) refusal = grow(bench, `SET key:${i} ${'x'.repeat(20)}`);
    expect(refusal).to.equal(FULL);
    expect(grow(bench, 'DEL key:0 key:1')).to.equal(undefined);
    expect(grow(bench, 'SET again x')).to.equal(undefined);
    expect(bench.engine.keyspace.size).to.be.lessThan(25);
  });

  it('holds as many keys as fit into two kilobytes, without emptying the database', () => {
    const bench = new KvBench();
    fill(bench, 5);
    bench.line('CONFIG SET maxmemory 2kb maxmemory-policy allkeys-lru');
    expect(grow(bench, 'SET one more')).to.equal(undefined);
    expect(bench.engine.keyspace.size).to.equal(6);
    fill(bench, 60);
    expect(bench.engine.keyspace.size).to.be.within(17, 20);
  });

  it('refuses every key when the bound is smaller than one key', () => {
    const bench = new KvBench();
    bench.line(`CONFIG SET maxmemory ${KEY_OVERHEAD_BYTES - 1}`);
    expect(grow(bench, 'SET k v')).to.equal(FULL);
    bench.line(`CONFIG SET maxmemory ${KEY_OVERHEAD_BYTES}`);
    expect(grow(bench, 'SET k v')).to.equal(undefined);
    expect(grow(bench, 'SET another v')).to.equal(FULL);
  });

  it('has the documented error text over REST', () => {
    const bench = bounded('noeviction');
    while (bench.engine.removal.makeRoom(NOW) === undefined)
      bench.line(`SET k${bench.engine.keyspace.size} xxxxxxxxxxxxxxxxxxxx`);
    expect(bench.engine.removal.makeRoom(NOW)?.restText).to.equal('ERR DB capacity quota exceeded');
  });

  it('evicts the least recently used keys with allkeys-lru', () => {
    const bench = bounded('allkeys-lru');
    fill(bench, 10);
    bench.nowMs += 1000;
    bench.line('GET key:0');
    fill(bench, 60);
    expect(bench.engine.keyspace.exists('key:59')).to.equal(true);
    expect(bench.engine.keyspace.size).to.be.within(10, 25);
    expect(bench.engine.statistics.evictedKeys).to.be.greaterThan(30);
  });

  it('keeps frequently used keys with allkeys-lfu', () => {
    const bench = bounded('allkeys-lfu');
    bench.line('SET often xxxxxxxxxxxxxxxxxxxx');
    for (let i = 0; i < 500; i += 1) bench.line('GET often');
    for (let i = 0; i < 60; i += 1) grow(bench, `SET key:${i} ${'x'.repeat(20)}`);
    expect(bench.engine.keyspace.exists('often')).to.equal(true);
  });

  it('evicts the keys that expire first with volatile-ttl, and none without expiry', () => {
    const bench = bounded('volatile-ttl');
    bench.line('SET stays x');
    bench.line(`SET soon ${'x'.repeat(20)} EX 1000`);
    for (let i = 0; i < 12; i += 1) grow(bench, `SET key:${i} ${'x'.repeat(20)} EX ${5000 + i}`);
    for (let i = 12; i < 40; i += 1) grow(bench, `SET key:${i} ${'x'.repeat(20)} EX ${5000 + i}`);
    expect(bench.engine.keyspace.exists('stays')).to.equal(true);
    expect(bench.engine.keyspace.exists('soon')).to.equal(false);
  });

  for (const policy of ['allkeys-random', 'volatile-random', 'volatile-lru', 'volatile-lfu']) {
    it(`stays within its bound with ${policy}, and journals evicted keys`, () => {
      const bench = bounded(policy);
      for (let i = 0; i < 100; i += 1) grow(bench, `SET key:${i} ${'x'.repeat(20)} EX 100000`);
      expect(bench.engine.keyspace.size).to.be.within(5, 25);
      bench.line('GET none');
      bench.expectReplayed();
    });
  }

  it('refuses growth when its policy finds no key to evict', () => {
    const bench = bounded('volatile-lru');
    let refusal: string | undefined;
    for (let i = 0; i < 100 && refusal === undefined; i += 1) refusal = grow(bench, `SET key:${i} ${'x'.repeat(20)}`);
    expect(refusal).to.equal(FULL);
  });
});
