/** Answers are bounded while they are made: many names of one large string are a large answer. */
import { expect } from 'chai';
import { admit, type CommandSpec, ErrorReply, KvEngine, type Reply } from '../../../src/domain/kv/index.js';
import { seededRandom } from '../../support/kv-bench.js';
import { NOW } from '../../support/kv-case.js';

const LIMIT = 100_000;
const TOO_LARGE = `ERR answer too large. Limit: ${LIMIT} bytes. Ask for less at a time`;
const repeated = (count: number, ...words: string[]) => Array.from({ length: count }, () => words).flat();
/** The number of values of 984 bytes that fill the largest answer, with 16 bytes for each item. */
const MOST = 100;
const value = 'v'.repeat(984);

describe('the size of an answer', () => {
  let engine: KvEngine;

  beforeEach(() => {
    engine = new KvEngine(seededRandom(1), { nowMicros: () => 0, info: () => new Map() });
    engine.maxAnswerBytes = LIMIT;
    run('SET', 's', value);
    run('HSET', 'h', 'f', value);
    run('SADD', 'one', value);
    run('ZADD', 'z', '1', value);
    run('JSON.SET', 'j', '$', JSON.stringify({ a: { b: 'x'.repeat(40_000) } }));
  });

  function run(...words: string[]): Reply {
    const spec = admit(words) as CommandSpec;
    const isLong = engine.isLong(spec, words, NOW);
    if (!isLong) return engine.execute(spec, words, NOW) as Reply;
    const slices = engine.begin(spec, words);
    for (;;) {
      const reply = slices.next(NOW);
      if (reply !== undefined) return reply;
    }
  }

  const textOf = (reply: Reply) => (reply instanceof ErrorReply ? reply.text : undefined);

  for (const [title, most, beyond] of [
    ['MGET of one key many times', ['MGET', ...repeated(MOST, 's')], ['MGET', ...repeated(MOST + 1, 's')]],
    [
      'HMGET of one field many times',
      ['HMGET', 'h', ...repeated(MOST, 'f')],
      ['HMGET', 'h', ...repeated(MOST + 1, 'f')],
    ],
    ['HMGET of very many fields', ['HMGET', 'h', ...repeated(MOST, 'f')], ['HMGET', 'h', ...repeated(3000, 'f')]],
    ['SRANDMEMBER with a negative count', ['SRANDMEMBER', 'one', '-100'], ['SRANDMEMBER', 'one', '-101']],
    ['SRANDMEMBER with a huge negative count', ['SRANDMEMBER', 'one', '-100'], ['SRANDMEMBER', 'one', '-1000000']],
    ['HRANDFIELD with values', ['HRANDFIELD', 'h', '-98', 'WITHVALUES'], ['HRANDFIELD', 'h', '-101', 'WITHVALUES']],
    ['ZRANDMEMBER', ['ZRANDMEMBER', 'z', '-100'], ['ZRANDMEMBER', 'z', '-101']],
    ['JSON.GET of many paths', ['JSON.GET', 'j', '$.a', '$.a.b'], ['JSON.GET', 'j', '$', '$.a', '$.a.b', '$..b']],
    ['JSON.MGET', ['JSON.MGET', 'j', 'j', '$'], ['JSON.MGET', 'j', 'j', 'j', '$']],
  ] as const) {
    it(`of ${title} is limited`, () => {
      expect(textOf(run(...most))).to.equal(undefined);
      expect(textOf(run(...beyond))).to.equal(TOO_LARGE);
    });
  }

  for (const [title, add, read] of [
    ['LRANGE', (i: number) => ['RPUSH', 'c', i + value.slice(3)], ['LRANGE', 'c', '0', '-1']],
    ['SMEMBERS', (i: number) => ['SADD', 'c', i + value.slice(3)], ['SMEMBERS', 'c']],
    ['SUNION', (i: number) => ['SADD', 'c', i + value.slice(3)], ['SUNION', 'c', 'none']],
    ['ZRANGE', (i: number) => ['ZADD', 'c', '1', i + value.slice(3)], ['ZRANGE', 'c', '0', '-1']],
    ['ZUNION', (i: number) => ['ZADD', 'c', '1', i + value.slice(3)], ['ZUNION', '1', 'c']],
    ['HVALS', (i: number) => ['HSET', 'c', String(i), value], ['HVALS', 'c']],
    ['KEYS', (i: number) => ['SET', i + value.slice(3), '1'], ['KEYS', '1*v']],
    ['XRANGE', (i: number) => ['XADD', 'c', `${i}-1`, 'f', value.slice(49)], ['XRANGE', 'c', '-', '+']],
  ] as const) {
    it(`of ${title} is limited`, () => {
      for (let i = 100; i < 100 + MOST; i += 1) run(...add(i));
      expect(textOf(run(...read))).to.equal(undefined);
      run(...add(1000));
      expect(textOf(run(...read))).to.equal(TOO_LARGE);
    });
  }

  it('of SORT with GETs is checked before a key is looked up, and no result is stored', () => {
    run('RPUSH', 'l', ...repeated(50, '1'));
    expect(textOf(run('SORT', 'l', ...repeated(2, 'GET', 's')))).to.equal(undefined);
    const looked = engine.keyspace.hits + engine.keyspace.misses;
    expect(textOf(run('SORT', 'l', 'STORE', 'd', ...repeated(200, 'GET', 'w_*')))).to.equal(TOO_LARGE);
    expect(engine.keyspace.hits + engine.keyspace.misses - looked).to.be.lessThan(10);
    expect(run('EXISTS', 'd')).to.equal(0);
  });

  it('of SORT includes the values of its GETs', () => {
    run('RPUSH', 'l', ...repeated(101, 's'));
    expect(textOf(run('SORT', 'l', 'BY', 'none', 'GET', '*'))).to.equal(TOO_LARGE);
  });

  it('is limited to 64 MiB by default', () => {
    const { maxAnswerBytes } = { maxAnswerBytes: 64 * 1024 * 1024 };
    const plain = new KvEngine(seededRandom(1), { nowMicros: () => 0, info: () => new Map() });
    const mebibyte = 'v'.repeat(1024 * 1024 - 16);
    const ask = (count: number) => {
      const words = ['MGET', ...repeated(count, 's')];
      return plain.execute(admit(words) as CommandSpec, words, NOW) as Reply;
    };
    plain.execute(admit(['SET', 's', mebibyte]) as CommandSpec, ['SET', 's', mebibyte], NOW);
    expect(ask(64)).to.have.length(64);
    expect(textOf(ask(65))).to.include(`Limit: ${maxAnswerBytes} bytes`);
  });
});
