/** Proves SV2. */
import { expect } from 'chai';
import { findCommand, MAX_RECORD_BYTES } from '../../../src/domain/kv/index.js';
import { KvBench, readable } from '../../support/kv-bench.js';
import { NOW } from '../../support/kv-case.js';
import { KvEventsBench } from '../../support/kv-events.js';
import { SET_CASES } from './cases/index.js';
import { describeCases } from './describe-cases.js';

describeCases('key-value commands: sets', SET_CASES);

function benchWith(count: number): KvBench {
  const bench = new KvBench();
  bench.run(['SADD', 's', ...Array.from({ length: count }, (_, i) => `member:${i}`)]);
  return bench;
}

describe('key-value: large sets', () => {
  it('are returned completely by SSCAN while they grow from small to large, and members come and go', () => {
    const bench = benchWith(1000);
    const met = new Set<string>();
    let cursor = '0';
    let round = 0;
    do {
      const [next, items] = bench.line(`SSCAN s ${cursor} COUNT 50 MATCH member:*`).reply as [string, string[]];
      for (const member of items) met.add(member);
      for (let i = 0; i < 50; i += 1) bench.line(`SADD s comes:${round}:${i}`);
      for (let i = 0; i < 25; i += 1) bench.line(`SREM s comes:${round - 1}:${i}`);
      cursor = next;
      round += 1;
    } while (cursor !== '0');
    expect(round).to.be.greaterThan(10);
    expect(met.size).to.equal(1000);
  });

  it('lose the members that SPOP takes, in effects of bounded size', () => {
    const bench = benchWith(20_000);
    const { reply, effects } = bench.line('SPOP s 9000');
    const popped = readable(reply) as string[];
    expect(new Set(popped).size).to.equal(9000);
    expect(effects.length).to.be.greaterThan(1);
    expect(bench.line('SCARD s').reply).to.equal(11_000);
    expect(bench.line('SISMEMBER s '.concat(popped[0] as string)).reply).to.equal(0);
    bench.expectReplayed();
    bench.expectRebuilt();
  });

  it('give random members without repetition, and with repetition', () => {
    const bench = benchWith(2000);
    const distinct = bench.line('SRANDMEMBER s 300').reply as string[];
    expect(new Set(distinct).size).to.equal(300);
    const most = bench.line('SRANDMEMBER s 1999').reply as string[];
    expect(new Set(most).size).to.equal(1999);
    const repeated = bench.line('SRANDMEMBER s -5000').reply as string[];
    expect(repeated.length).to.equal(5000);
    expect(new Set(repeated).size).to.be.within(1700, 2000);
    expect(readable(bench.line('SRANDMEMBER s -1000001').reply)).to.equal('-ERR value is out of range');
  });

  it('are combined in slices', () => {
    const bench = benchWith(6000);
    for (const line of ['SINTER s s', 'SUNIONSTORE d s', 'SMEMBERS s', 'SPOP s 3000']) {
      const words = line.split(' ');
      const spec = findCommand(words);
      if (spec === undefined) throw new Error(line);
      expect(bench.engine.isLong(spec, words, NOW)).to.equal(true);
      const running = bench.engine.begin(spec, words);
      let slices = 1;
      while (running.next(NOW) === undefined) slices += 1;
      expect(slices, line).to.be.greaterThan(4);
    }
  });

  it('hold 100 MB, and not a byte more', () => {
    const bench = new KvBench();
    bench.run(['SADD', 's', 'x'.repeat(MAX_RECORD_BYTES)]);
    expect(readable(bench.line('SADD s y').reply)).to.equal('-ERR max single record size exceeded');
    bench.line('SADD t y');
    expect(readable(bench.line('SMOVE t s y').reply)).to.equal('-ERR max single record size exceeded');
    expect(readable(bench.line('SUNIONSTORE u s t').reply)).to.equal('-ERR max single record size exceeded');
    expect(bench.line('SCARD t').reply).to.equal(1);
  });

  it('have the encodings of Redis', () => {
    const bench = new KvBench();
    const encodingAfter = (...words: string[]): unknown => {
      bench.run(['SADD', 's', ...words]);
      return bench.line('OBJECT ENCODING s').reply;
    };
    const numbers = (from: number, to: number): string[] =>
      Array.from({ length: to - from }, (_, i) => String(from + i));
    expect(encodingAfter(...numbers(0, 512))).to.equal('intset');
    expect(encodingAfter('512')).to.equal('hashtable');
    bench.line('DEL s');
    expect(encodingAfter('1', '2')).to.equal('intset');
    expect(encodingAfter('x')).to.equal('listpack');
    expect(encodingAfter(...numbers(0, 127))).to.equal('listpack');
    expect(encodingAfter('y')).to.equal('hashtable');
    bench.line('DEL s');
    expect(encodingAfter('x'.repeat(64))).to.equal('listpack');
    expect(encodingAfter('x'.repeat(65))).to.equal('hashtable');
  });
});

describe('key-value: events of sets', () => {
  const rows: [string, string[]][] = [
    ['SADD s a b c', ['sadd s']],
    ['SADD s a', []],
    ['SREM s a', ['srem s']],
    ['SMOVE s t b', ['srem s', 'sadd t']],
    ['SMOVE s t c', ['srem s', 'del s', 'sadd t']],
    ['SPOP t', ['spop t']],
    ['SPOP t 5', ['spop t', 'del t']],
    ['SADD s a', ['sadd s']],
    ['SINTERSTORE d s s', ['sinterstore d']],
    ['SUNIONSTORE d s', ['sunionstore d']],
    ['SDIFFSTORE d s', ['sdiffstore d']],
    ['SINTERSTORE d s nokey', ['del d']],
    ['SDIFFSTORE d s s', []],
  ];
  it('have the names and the order of Redis', () => {
    const bench = new KvEventsBench();
    for (const [line, events] of rows) expect(bench.line(line), line).to.deep.equal(events);
  });
});
