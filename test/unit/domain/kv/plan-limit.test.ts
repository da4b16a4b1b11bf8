import { expect } from 'chai';
import { admit, type CommandSpec, KEY_OVERHEAD_BYTES } from '../../../../src/domain/kv/index.js';
import { KvBench } from '../../../support/kv-bench.js';

const VALUE_BYTES = 100;

/** A database with room for some twenty small keys in its plan. */
function planned(isEvicting: boolean, maxBytes = 20 * (VALUE_BYTES + KEY_OVERHEAD_BYTES)): KvBench {
  const bench = new KvBench();
  bench.engine.bounds.plan = { maxBytes, isEvicting };
  return bench;
}

/** Runs a command that may grow the database, like its owner. @returns the refusal */
function grow(bench: KvBench, line: string): string | undefined {
  const words = line.split(' ');
  const spec = admit(words) as CommandSpec;
  const refusal = spec.flags.includes('denyoom') ? bench.engine.removal.makeRoom(bench.nowMs) : undefined;
  if (refusal === undefined) bench.line(line);
  return refusal?.restText;
}

function fill(bench: KvBench, count: number, options = ''): number {
  let refused = 0;
  for (let i = 0; i < count; i += 1) {
    if (grow(bench, `SET key:${i} ${'x'.repeat(VALUE_BYTES)}${options}`) !== undefined) refused += 1;
  }
  return refused;
}

describe('a database at the limit of its plan', () => {
  it('refuses growth, and no other command', () => {
    const bench = planned(false);
    expect(bench.engine.bounds.leaveNoRoom).to.equal(false);
    expect(fill(bench, 100)).to.be.within(75, 85);
    expect(bench.engine.bounds.leaveNoRoom).to.equal(true);
    expect(grow(bench, 'SET again x')).to.equal('ERR DB capacity quota exceeded');
    expect(grow(bench, 'DEL key:0 key:1 key:2')).to.equal(undefined);
    expect(bench.engine.bounds.leaveNoRoom).to.equal(false);
    expect(grow(bench, 'SET again x')).to.equal(undefined);
  });

  it('counts names, values and the overhead of keys, as statistics do', () => {
    const bench = planned(false, 2 * (KEY_OVERHEAD_BYTES + 10));
    bench.line('SET aaaaa 12345');
    bench.line('SET bbbbb 12345');
    expect(bench.engine.bounds.isPlanReached).to.equal(false);
    bench.line('APPEND bbbbb 6');
    expect(bench.engine.bounds.isPlanReached).to.equal(true);
  });

  it('evicts keys instead when eviction is on, those that expire first', () => {
    const bench = planned(true);
    fill(bench, 10, ' EX 1000');
    for (let i = 0; i < 15; i += 1)
      expect(grow(bench, `SET lasting:${i} ${'x'.repeat(VALUE_BYTES)}`)).to.equal(undefined);
    const { keyspace, statistics } = bench.engine;
    expect(statistics.evictedKeys).to.be.within(3, 7);
    for (let i = 0; i < 15; i += 1) expect(keyspace.exists(`lasting:${i}`), `lasting:${i}`).to.equal(true);
    expect(fill(bench, 100)).to.equal(0);
    expect(keyspace.size).to.be.within(15, 25);
    expect(bench.engine.bounds.leaveNoRoom).to.equal(false);
  });

  it('records evicted keys as effects, so that a replay ends in the same state', () => {
    const bench = planned(true);
    const deleted: string[] = [];
    bench.onEffect = (words) => {
      if (words[0] === 'UNLINK' && words[1] === words[2]) deleted.push(words[1] as string);
    };
    fill(bench, 60);
    expect(deleted.length).to.equal(bench.engine.statistics.evictedKeys);
    expect(deleted.length).to.be.greaterThan(30);
  });

  it('leaves the choice to its maxmemory-policy, if it has one', () => {
    const bench = planned(true);
    bench.line('CONFIG SET maxmemory-policy allkeys-lru maxmemory-samples 64');
    fill(bench, 15);
    bench.nowMs += 1000;
    bench.line('GET key:0');
    bench.nowMs += 1000;
    for (let i = 15; i < 40; i += 1) {
      bench.nowMs += 1000;
      bench.line('GET key:0');
      expect(grow(bench, `SET key:${i} ${'x'.repeat(VALUE_BYTES)}`)).to.equal(undefined);
    }
    expect(bench.engine.keyspace.exists('key:0')).to.equal(true);
    expect(bench.engine.keyspace.exists('key:1')).to.equal(false);
  });

  it('finds a victim where that policy has none, and only when eviction is on', () => {
    const evicting = planned(true);
    evicting.line('CONFIG SET maxmemory-policy volatile-lru');
    expect(fill(evicting, 60)).to.equal(0);
    const keeping = planned(false);
    keeping.line('CONFIG SET maxmemory-policy volatile-lru');
    expect(fill(keeping, 60)).to.be.greaterThan(30);
  });

  it('obeys a lower maxmemory, and ignores a higher one', () => {
    const lower = planned(true);
    lower.line('CONFIG SET maxmemory 616');
    expect(fill(lower, 60)).to.be.greaterThan(50);
    const higher = planned(false);
    higher.line('CONFIG SET maxmemory 10000000');
    expect(fill(higher, 100)).to.be.within(75, 85);
  });

  it('grows again once the plan allows more or has no limit', () => {
    const bench = planned(false);
    expect(fill(bench, 100)).to.be.greaterThan(0);
    bench.engine.bounds.plan = { maxBytes: 1e6, isEvicting: false };
    expect(fill(bench, 100)).to.equal(0);
    bench.engine.bounds.plan = undefined;
    expect(bench.engine.bounds.areSet).to.equal(false);
    expect(fill(bench, 200)).to.equal(0);
  });
});
