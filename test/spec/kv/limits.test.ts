import { expect } from 'chai';
import {
  admit,
  type CommandSpec,
  ErrorReply,
  findCommand,
  KvEngine,
  MAX_AWAITED_KEYS,
  MAX_LIBRARIES,
  MAX_LIBRARIES_BYTES,
  MAX_LIBRARY_BYTES,
  MAX_RECORD_BYTES,
  MAX_SCAN_COUNT,
  NIL_ARRAY,
  type Reply,
} from '../../../src/domain/kv/index.js';
import { KvBench, readable, seededRandom } from '../../support/kv-bench.js';
import { NOW } from '../../support/kv-case.js';

const TOO_LARGE = '-ERR max single record size exceeded';

describe('key-value: limits', () => {
  const largest = 'x'.repeat(MAX_RECORD_BYTES);

  it('allow a value of the largest size, and not a byte more', () => {
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

  describe('of function libraries', () => {
    const library = (name: string, padding = '') =>
      `#!lua name=${name}\n${padding}\nredis.register_function('f${name}', function() return '${name}' end)`;
    const ask = (engine: KvEngine, ...words: string[]) =>
      readable(engine.execute(findCommand(words) as CommandSpec, words, NOW) as never);
    const load = (engine: KvEngine, source: string) => ask(engine, 'FUNCTION', 'LOAD', 'REPLACE', source);

    it('allow the largest number of libraries, refuse FUNCTION LOAD and RESTORE of one more, and allow a replacement', () => {
      const { engine } = new KvBench();
      for (let i = 0; i < MAX_LIBRARIES; i += 1) engine.libraries.set(`l${i}`, library(`l${i}`));
      const refusal =
        /^-ERR too many libraries: a database has at most 1000, and 'more' would be one more; delete some/;
      expect(load(engine, library('more'))).to.match(refusal);
      const { engine: other } = new KvBench();
      load(other, library('more'));
      const payload = ask(other, 'FUNCTION', 'DUMP') as string;
      expect(ask(engine, 'FUNCTION', 'RESTORE', payload)).to.match(refusal);
      expect(load(engine, library('l7', '-- replaced'))).to.equal('l7');
      ask(engine, 'FUNCTION', 'DELETE', 'l8');
      expect(load(engine, library('more'))).to.equal('more');
    });

    it('allow the largest number of bytes, and refuse more', () => {
      const { engine } = new KvBench();
      const large = library('large', `-- ${'x'.repeat(MAX_LIBRARY_BYTES - 100)}`);
      const count = Math.floor(MAX_LIBRARIES_BYTES / large.length);
      for (let i = 0; i < count; i += 1) engine.libraries.set(`l${i}`, large);
      expect(load(engine, large)).to.match(
        /^-ERR too many libraries: with 'large' they would have \d+ bytes, at most 67108864/,
      );
      expect(load(engine, library('large', `-- ${'x'.repeat(MAX_LIBRARY_BYTES)}`))).to.match(
        /^-ERR the library is too large: \d+ bytes, at most 1048576/,
      );
      ask(engine, 'FUNCTION', 'FLUSH');
      expect(load(engine, large)).to.equal('large');
      expect(engine.libraries.bytes).to.equal(large.length);
      ask(engine, 'FUNCTION', 'DELETE', 'large');
      expect(engine.libraries.bytes).to.equal(0);
    });
  });

  describe('of a blocking command', () => {
    const caller = { endpoint: 'resp', mayBlock: true } as const;
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
      it(`allow ${name} the largest number of keys, and not one more`, () => {
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

    it('do not apply to commands that do not block', () => {
      const bench = new KvBench();
      const keys = Array.from({ length: MAX_AWAITED_KEYS + 1 }, () => 'k');
      expect(bench.run(['XREAD', 'STREAMS', ...keys, ...ids(keys, '0')]).reply).to.equal(NIL_ARRAY);
    });
  });

  it('let APPEND and SETRANGE lengthen a string up to the command size of its database', () => {
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

  it('keep a longer string readable in parts and writable within', () => {
    const bench = new KvBench();
    bench.engine.replay(['SET', 'k', '0123456789abc']);
    bench.engine.maxCommandBytes = 10;
    expect(readable(bench.line('APPEND k x').reply)).to.contain('Actual: 14 bytes');
    expect(bench.engine.execute(findCommand(['SETRANGE']) as CommandSpec, ['SETRANGE', 'k', '12', 'C'], NOW)).to.equal(
      13,
    );
    expect(bench.line('GETRANGE k 8 -1').reply).to.equal('89abC');
  });

  it('end strings of SETBIT, BITFIELD and BITOP at the largest record', () => {
    // Without a replay of each effect, which would copy 100 MB once more.
    const engine = new KvEngine(seededRandom(1), { nowMicros: () => 0, info: () => new Map() });
    engine.maxCommandBytes = 10;
    const run = (line: string): unknown => {
      const words = line.split(' ');
      const reply = readable(engine.execute(admit(words) as CommandSpec, words, 0) as Reply);
      engine.effects.take();
      return reply;
    };
    const last = MAX_RECORD_BYTES * 8 - 1;
    for (const existing of [0, 1]) {
      expect(run(`SETBIT bits ${last + 1} 1`)).to.equal(TOO_LARGE);
      expect(run(`BITFIELD bits SET u8 ${last - 6} 1`)).to.equal(TOO_LARGE);
      expect(engine.keyspace.size).to.equal(existing);
      expect(run('SETBIT bits 87 1')).to.equal(existing);
    }
    expect(run(`SETBIT bits ${last} 1`)).to.equal(0);
    expect(run(`SETBIT bits ${last} 0`)).to.equal(1);
    expect(run('BITOP NOT other bits')).to.equal(MAX_RECORD_BYTES);
    engine.replay(['APPEND', 'bits', 'x']);
    expect(run('BITOP NOT other bits')).to.equal(TOO_LARGE);
  });

  it('explain over REST how to read a string that is too long for an answer, and do not remove it', () => {
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
    bench.caller = { endpoint: 'resp' };
    expect(bench.line('GETDEL k').reply).to.have.length(11);
  });

  it('never refuse an effect that is already in the journal', () => {
    const engine = new KvEngine(seededRandom(1), { nowMicros: () => 0, info: () => new Map() });
    engine.replay(['SET', 'k', `${largest}x`]);
    engine.replay(['APPEND', 'k', 'x']);
    expect(engine.keyspace.peekString('k')?.length).to.equal(MAX_RECORD_BYTES + 2);
  });

  it('refuse LCS of too long strings', () => {
    const bench = new KvBench();
    for (const key of ['a', 'b']) bench.run(['SET', key, 'x'.repeat(4000)]);
    expect(readable(bench.line('LCS a b LEN').reply)).to.match(/^-ERR Insufficient memory/);
  });

  it('do not apply to the number of words of a command', () => {
    const bench = new KvBench();
    const keys = Array.from({ length: 130_000 }, (_, index) => `key:${index}`);
    expect(readable(bench.run(['MSET', ...keys.flatMap((key) => [key, 'v'])]).reply)).to.equal('+OK');
    expect((bench.run(['MGET', ...keys]).reply as string[]).length).to.equal(keys.length);
    expect(bench.run(['DEL', ...keys]).reply).to.equal(keys.length);
    bench.expectReplayed();
  });

  it('bound a step of SCAN for any COUNT', () => {
    const bench = new KvBench();
    for (let i = 0; i < 2 * MAX_SCAN_COUNT; i += 1) bench.engine.keyspace.set(`key:${i}`, '');
    const [cursor, keys] = bench.line('SCAN 0 COUNT 9223372036854775807').reply as [string, string[]];
    expect(cursor).not.to.equal('0');
    expect(keys.length).to.be.within(MAX_SCAN_COUNT, MAX_SCAN_COUNT + 10);
  });

  it('let SCAN return every key that stays, once, while others come and go', () => {
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
