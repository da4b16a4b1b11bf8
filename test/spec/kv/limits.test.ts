import { expect } from 'chai';
import { KvEngine, MAX_RECORD_BYTES, MAX_SCAN_COUNT } from '../../../src/domain/kv/index.js';
import { KvBench, readable, seededRandom } from '../../support/kv-bench.js';

const TOO_LARGE = '-ERR max single record size exceeded';

describe('key-value: limits', () => {
  const largest = 'x'.repeat(MAX_RECORD_BYTES);

  it('hold a value of the largest size, and not a byte more', () => {
    const { engine } = new KvBench();
    engine.keyspace.set('k', largest);
    const bench = new KvBench();
    bench.engine.keyspace.set('k', largest);
    expect(readable(bench.line('APPEND k x').reply)).to.equal(TOO_LARGE);
    expect(readable(bench.line(`SETRANGE k ${MAX_RECORD_BYTES} x`).reply)).to.equal(TOO_LARGE);
    expect(readable(bench.run(['SET', 'j', `${largest}x`]).reply)).to.equal(TOO_LARGE);
    expect(readable(bench.run(['MSET', 'i', '1', 'j', `${largest}x`]).reply)).to.equal(TOO_LARGE);
    expect(bench.line(`SETRANGE k ${MAX_RECORD_BYTES - 1} x`).reply).to.equal(MAX_RECORD_BYTES);
    expect(bench.engine.keyspace.size).to.equal(1);
  });

  it('never refuse what the journal holds already', () => {
    const engine = new KvEngine(seededRandom(1), { nowMicros: () => 0, info: () => new Map() });
    engine.replay(['SET', 'k', `${largest}x`]);
    engine.replay(['APPEND', 'k', 'x']);
    expect(engine.keyspace.peekString('k')?.length).to.equal(MAX_RECORD_BYTES + 2);
  });

  it('refuse LCS where it would take long', () => {
    const bench = new KvBench();
    for (const key of ['a', 'b']) bench.run(['SET', key, 'x'.repeat(4000)]);
    expect(readable(bench.line('LCS a b LEN').reply)).to.match(/^-ERR Insufficient memory/);
  });

  it('do not end where a command has very many words', () => {
    const bench = new KvBench();
    const keys = Array.from({ length: 130_000 }, (_, index) => `key:${index}`);
    expect(readable(bench.run(['MSET', ...keys.flatMap((key) => [key, 'v'])]).reply)).to.equal('+OK');
    expect((bench.run(['MGET', ...keys]).reply as string[]).length).to.equal(keys.length);
    expect(bench.run(['DEL', ...keys]).reply).to.equal(keys.length);
    bench.expectReplayed();
  });

  it('bound a step of SCAN whatever it is asked for', () => {
    const bench = new KvBench();
    for (let i = 0; i < 2 * MAX_SCAN_COUNT; i += 1) bench.engine.keyspace.set(`key:${i}`, '');
    const [cursor, keys] = bench.line('SCAN 0 COUNT 9223372036854775807').reply as [string, string[]];
    expect(cursor).not.to.equal('0');
    expect(keys.length).to.be.within(MAX_SCAN_COUNT, MAX_SCAN_COUNT + 10);
  });

  it('let SCAN meet every key that stays, once, while others come and go', () => {
    const bench = new KvBench();
    for (let i = 0; i < 5000; i += 1) bench.line(`SET stays:${i} x`);
    const met: string[] = [];
    let cursor = '0';
    let round = 0;
    do {
      const [next, keys] = bench.line(`SCAN ${cursor} COUNT 100 MATCH stays:*`).reply as [string, string[]];
      met.push(...keys);
      for (let i = 0; i < 50; i += 1) bench.line(`SET comes:${round}:${i} x`);
      for (let i = 0; i < 25; i += 1) bench.line(`DEL comes:${round - 1}:${i}`);
      cursor = next;
      round += 1;
    } while (cursor !== '0');
    expect(met.length).to.equal(5000);
    expect(new Set(met).size).to.equal(5000);
  });
});
