/** Proves ZS4. */
import { expect } from 'chai';
import { Blocked, findCommand, MAX_RECORD_BYTES } from '../../../src/domain/kv/index.js';
import { KvBench, readable } from '../../support/kv-bench.js';
import { SORTED_SET_CASES } from './cases/index.js';
import { describeCases } from './describe-cases.js';

describeCases('kv: sorted sets', SORTED_SET_CASES);

/** A bench with a set of this many members, `m0` with score 0 and so on. */
function benchWith(size: number): KvBench {
  const bench = new KvBench();
  const words = ['ZADD', 'k'];
  for (let i = 0; i < size; i += 1) words.push(String(i), `m${i}`);
  bench.run(words);
  return bench;
}

describe('key-value: large sorted sets', () => {
  it('record a large change in effects of bounded size', () => {
    const bench = benchWith(20_000);
    const longest: number[] = [];
    bench.onEffect = (words) => longest.push(words.join(' ').length);
    bench.line('ZUNIONSTORE d 1 k');
    expect(longest.length).to.be.greaterThan(3);
    expect(Math.max(...longest)).to.be.lessThan(128 * 1024);
    bench.expectReplayed();
    bench.expectRebuilt();
  });

  it('keep the sign of zero through their effects', () => {
    const bench = new KvBench();
    expect(bench.line('ZADD k -0 a').effects).to.deep.equal(['ZADD k -0 a']);
    expect(readable(bench.line('ZSCORE k a').reply)).to.equal('-0');
    bench.expectReplayed();
    bench.expectRebuilt();
  });

  it('return every member in a scan while they lose others', () => {
    const bench = benchWith(3000);
    const met = new Set<string>();
    let cursor = '0';
    let step = 0;
    do {
      const reply = bench.line(`ZSCAN k ${cursor} COUNT 100`).reply as [string, string[]];
      cursor = reply[0];
      for (let i = 0; i < reply[1].length; i += 2) met.add(reply[1][i] as string);
      bench.line(`ZREM k m${2000 + step}`);
      step += 1;
    } while (cursor !== '0');
    for (let i = 0; i < 2000; i += 1) expect(met.has(`m${i}`), `m${i}`).to.equal(true);
  });

  it('give distinct random members, few and many', () => {
    const bench = benchWith(3000);
    for (const count of [10, 1000, 2999, 3000]) {
      const drawn = bench.line(`ZRANDMEMBER k ${count}`).reply as string[];
      expect(new Set(drawn).size, `${count}`).to.equal(count);
    }
  });

  it('give at most a million random members with repetition', () => {
    const bench = benchWith(1);
    expect(bench.line('ZRANDMEMBER k -1000000').reply).to.have.length(1_000_000);
    expect(readable(bench.line('ZRANDMEMBER k -1000001').reply)).to.equal('-ERR value is out of range');
  });

  it('refuse to grow beyond the largest record, without a change', () => {
    const bench = benchWith(1);
    const half = 'x'.repeat(MAX_RECORD_BYTES - 20);
    const { reply, effects } = bench.run(['ZADD', 'k', '1', half, '2', 'y'.repeat(20)]);
    expect(readable(reply)).to.equal('-ERR max single record size exceeded');
    expect(effects).to.deep.equal([]);
    expect(bench.line('ZCARD k').reply).to.equal(1);
  });

  it('let commands wait for a member where they may block', () => {
    const bench = new KvBench();
    bench.caller = { endpoint: 'resp', mayBlock: true };
    for (const line of ['BZPOPMIN k l 1.5', 'BZMPOP 1.5 2 k l MIN']) {
      const { reply } = bench.line(line);
      expect(reply).to.be.instanceOf(Blocked);
      expect(reply).to.deep.include({ keys: ['k', 'l'], timeoutMs: 1500 });
    }
  });

  it('are processed in slices only where there is much work', () => {
    const bench = benchWith(6000);
    const isSliced = (line: string): boolean => {
      const words = line.split(' ');
      const spec = findCommand(words);
      return spec !== undefined && bench.engine.isLong(spec, words, bench.nowMs);
    };
    for (const line of ['ZRANGE k 0 -1', 'ZRANGE k -inf inf BYSCORE', 'ZREMRANGEBYRANK k 0 -1', 'ZUNION 1 k']) {
      expect(isSliced(line), line).to.equal(true);
    }
    for (const line of [
      'ZRANGE k 0 9',
      'ZRANGE k -inf inf BYSCORE LIMIT 0 10',
      'ZPOPMIN k 5',
      'ZRANGE k x 1',
      'ZADD k 1 a',
    ]) {
      expect(isSliced(line), line).to.equal(false);
    }
  });

  it('report the encoding that Redis would choose, and keep it', () => {
    const bench = benchWith(128);
    const encoding = (): unknown => (bench.engine.keyspace.peek('k') as { encoding: string }).encoding;
    expect(encoding()).to.equal('listpack');
    bench.line('ZADD k 1 one-more');
    expect(encoding()).to.equal('skiplist');
    bench.line('ZREMRANGEBYRANK k 0 100');
    expect(encoding()).to.equal('skiplist');
  });

  it('have the encoding for the number of given members, equal or not', () => {
    for (const [times, encoding] of [
      [128, 'listpack'],
      [129, 'skiplist'],
    ] as const) {
      for (const words of [
        ['ZADD', 'k'],
        ['ZADD', 'k', 'XX'],
        ['GEOADD', 'k'],
      ]) {
        const bench = new KvBench();
        if (words.includes('XX')) bench.line('ZADD k 1 a');
        const member = words[0] === 'GEOADD' ? ['1', '1', 'm'] : ['1', 'm'];
        bench.run([...words, ...Array.from({ length: times }, () => member).flat()]);
        expect(bench.line('OBJECT ENCODING k').reply, words.join(' ')).to.equal(encoding);
        bench.expectReplayed();
      }
    }
  });
});
