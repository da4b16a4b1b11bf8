import { expect } from 'chai';
import {
  type CommandSpec,
  ErrorReply,
  findCommand,
  KvEngine,
  MAX_AWAITED_KEYS,
  MAX_RECORD_BYTES,
  MAX_SCAN_COUNT,
  NIL_ARRAY,
} from '../../../src/domain/kv/index.js';
import { KvBench, readable, seededRandom } from '../../support/kv-bench.js';
import { NOW } from '../../support/kv-case.js';

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

  describe('of a command that may wait', () => {
    const caller = { face: 'resp', mayBlock: true } as const;
    const ids = (keys: readonly string[], id: string) => keys.map(() => id);

    for (const [name, commandOf] of [
      ['BLPOP', (keys) => ['BLPOP', ...keys, '0']],
      ['BRPOP', (keys) => ['BRPOP', ...keys, '0']],
      ['BLMPOP', (keys) => ['BLMPOP', '0', String(keys.length), ...keys, 'LEFT']],
      ['BZPOPMIN', (keys) => ['BZPOPMIN', ...keys, '0']],
      ['BZPOPMAX', (keys) => ['BZPOPMAX', ...keys, '0']],
      ['BZMPOP', (keys) => ['BZMPOP', '0', String(keys.length), ...keys, 'MIN']],
      ['XREAD', (keys) => ['XREAD', 'BLOCK', '0', 'STREAMS', ...keys, ...ids(keys, '$')]],
      ['XREADGROUP', (keys) => ['XREADGROUP', 'GROUP', 'g', 'c', 'BLOCK', '0', 'STREAMS', ...keys, ...ids(keys, '>')]],
    ] satisfies [string, (keys: readonly string[]) => string[]][]) {
      it(`let ${name} have as many keys as there may be, and not one more`, () => {
        const { engine } = new KvBench();
        const reply = (count: number) => {
          const keys = Array.from({ length: count }, () => 'k');
          const words = commandOf(keys);
          const found = engine.execute(findCommand(words) as CommandSpec, words, NOW, caller);
          return found instanceof ErrorReply ? found.text : undefined;
        };
        const refusal = `ERR a command that may wait has at most ${MAX_AWAITED_KEYS} keys`;
        expect(reply(MAX_AWAITED_KEYS)).to.not.equal(refusal);
        expect(reply(MAX_AWAITED_KEYS + 1)).to.equal(refusal);
      });
    }

    it('leave those alone that do not wait', () => {
      const bench = new KvBench();
      const keys = Array.from({ length: MAX_AWAITED_KEYS + 1 }, () => 'k');
      expect(bench.run(['XREAD', 'STREAMS', ...keys, ...ids(keys, '0')]).reply).to.equal(NIL_ARRAY);
    });
  });

  it('let APPEND and SETRANGE lengthen a string to what a command of its database may hold', () => {
    const bench = new KvBench();
    bench.engine.maxCommandBytes = 10;
    const tooLong = '-ERR string exceeds maximum allowed size. Limit: 10 bytes, Actual: 11 bytes';
    bench.line('SET k 123456789');
    expect(bench.line('APPEND k x').reply).to.equal(10);
    expect(readable(bench.line('APPEND k x').reply)).to.equal(tooLong);
    expect(readable(bench.line('APPEND none 12345678901').reply)).to.equal(tooLong);
    expect(readable(bench.line('SETRANGE k 10 x').reply)).to.equal(tooLong);
    expect(bench.line('SETRANGE k 9 y').reply).to.equal(10);
    expect(readable(bench.run(['EVAL', "return redis.call('APPEND', KEYS[1], 'x')", '1', 'k']).reply)).to.contain(
      'string exceeds maximum allowed size. Limit: 10 bytes, Actual: 11 bytes',
    );
    expect(bench.line('GET k').reply).to.equal('123456789y');
    expect(bench.engine.keyspace.size).to.equal(1);
    bench.expectReplayed();
  });

  it('leave a longer string as it is, to be read in parts and written within', () => {
    const bench = new KvBench();
    bench.engine.replay(['SET', 'k', '0123456789abc']);
    bench.engine.maxCommandBytes = 10;
    expect(readable(bench.line('APPEND k x').reply)).to.contain('Actual: 14 bytes');
    expect(bench.engine.execute(findCommand(['SETRANGE']) as CommandSpec, ['SETRANGE', 'k', '12', 'C'], NOW)).to.equal(
      13,
    );
    expect(bench.line('GETRANGE k 8 -1').reply).to.equal('89abC');
  });

  it('end strings that SETBIT, BITFIELD and BITOP make at the largest record', () => {
    const bench = new KvBench();
    bench.engine.maxCommandBytes = 10;
    const last = MAX_RECORD_BYTES * 8 - 1;
    expect(bench.line('SETBIT bits 87 1').reply).to.equal(0);
    expect(readable(bench.line(`SETBIT bits ${last + 1} 1`).reply)).to.equal(TOO_LARGE);
    expect(readable(bench.line(`BITFIELD bits SET u8 ${last - 6} 1`).reply)).to.equal(TOO_LARGE);
    expect(bench.line(`SETBIT bits ${last} 1`).reply).to.equal(0);
    expect(bench.line('BITOP NOT other bits').reply).to.equal(MAX_RECORD_BYTES);
    bench.engine.replay(['APPEND', 'bits', 'x']);
    expect(readable(bench.line('BITOP NOT other bits').reply)).to.equal(TOO_LARGE);
  });

  it('say over REST of a string that is too long for an answer how it is read, and take none such away', () => {
    const bench = new KvBench();
    bench.engine.maxCommandBytes = 10;
    bench.line('SETBIT k 87 1');
    const tooLong = '-ERR max request size exceeded. Limit: 10 bytes, Actual: 11 bytes. GETRANGE reads it in parts';
    for (const line of [
      'GET k',
      'GETRANGE k 0 -1',
      'GETEX k EX 1',
      'GETDEL k',
      'GETSET k x',
      'SET k x GET',
      'SET k x NX GET',
    ]) {
      expect(readable(bench.line(line).reply), line).to.equal(tooLong);
    }
    expect(bench.line('STRLEN k').reply).to.equal(11);
    expect(bench.line('TTL k').reply).to.equal(-1);
    expect(bench.line('GETRANGE k 1 -1').reply).to.have.length(10);
    bench.caller = { face: 'resp' };
    expect(bench.line('GETDEL k').reply).to.have.length(11);
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
