/**
 * A command that a script calls runs in slices when it takes long, with the same result for the script and the
 * database as in one slice. Proves LUM4, RU2.
 */
import { expect } from 'chai';
import { admit, type CommandSpec, KvEngine, type Paused, type Reply } from '../../../src/domain/kv/index.js';
import { readable, seededRandom } from '../../support/kv-bench.js';
import { NOW } from '../../support/kv-case.js';
import { inBothWays, ScriptStand } from '../../support/script-slices.js';

const MANY = 2100;
/** The number of elements for a long command about all of them, with a copy of several slices. */
const MEMBERS = 10_000;
/** The size of a value that is copied into a Lua machine in several slices. */
const LONG = 2.5 * 1024 * 1024;
const keys = Array.from({ length: MANY }, (_, i) => `k${i}`);
const pairs = keys.flatMap((key, i) => [key, String(i)]);
const members = Array.from({ length: MEMBERS }, (_, i) => `m${i}`);
const scored = members.flatMap((member, i) => [String((i * 7919) % MEMBERS), member]);
const entries = members.map((_, i) => ['XADD', 'x', `${i + 1}-0`, 'f', String(i)]);
/** The data of the scripts, by key; `k1` stands for all keys of its kind. */
const FILLED: readonly (readonly string[])[] = [
  ['MSET', ...pairs],
  ['ZADD', 'z', ...scored],
  ['ZADD', 'y', ...scored.map((word, i) => (i % 2 === 0 ? word : `o${word}`))],
  ['RPUSH', 'l', ...members],
  ['RPUSH', 'numbers', ...members.map((_, i) => String(MEMBERS - i)), 'none'],
  ['HSET', 'h', ...members.flatMap((member) => [member, 'v'])],
  ['SADD', 's', ...members],
  ['MSET', 'long', 'l'.repeat(LONG), 'longer', 'L'.repeat(LONG + 1)],
];
const filledFor = (words: readonly string[]): (readonly string[])[] => [
  ...FILLED.filter(([, key = '']) => words.some((word) => word === key || word === '*' || word.includes(`'${key}'`))),
  ...(words.includes('x') ? entries : []),
];
const CALL = 'return redis.call(unpack(ARGV))';

function both(script: string, ...args: readonly string[]): { reply: unknown; pauses: number } {
  const words = ['EVAL', script, '0', ...args];
  return inBothWays(words, filledFor(words));
}

describe('key-value: a command that a script calls', () => {
  for (const words of [
    ['ZUNIONSTORE', 'd', '2', 'z', 'y'],
    ['SORT', 'l', 'ALPHA', 'STORE', 'd'],
    ['SORT', 'l', 'ALPHA', 'DESC'],
    ['LRANGE', 'l', '0', '-1'],
    ['ZRANGE', 'z', '0', '-1', 'WITHSCORES'],
    ['HGETALL', 'h'],
    ['SMEMBERS', 's'],
    ['SUNIONSTORE', 'd', 's', 'z2'],
    ['XRANGE', 'x', '-', '+'],
    ['MGET', ...keys],
    ['MSET', ...pairs],
    ['DEL', ...keys],
    ['COPY', 'z', 'd'],
    ['KEYS', '*'],
    ['ZREMRANGEBYRANK', 'z', '0', '9500'],
  ]) {
    it(`runs in slices: ${words.slice(0, 4).join(' ')}`, () => {
      const { pauses } = both(CALL, ...words);
      expect(pauses, 'pauses').to.be.greaterThan(4);
    });
  }

  for (const words of [
    ['HGETALL', 'h'],
    ['ZRANGE', 'z', '0', '-1', 'WITHSCORES'],
    ['SMEMBERS', 's'],
  ]) {
    it(`answers in RESP3 types, in slices: ${words[0]}`, () => {
      const kinds =
        "for _,k in ipairs({'map','set'}) do if r[k] then local n=0 for _ in pairs(r[k]) do n=n+1 end return {k,n} end end return {#r, r[1][1], r[1][2].double}";
      const { pauses } = both(`redis.setresp(3) local r=redis.call(unpack(ARGV)) ${kinds}`, ...words);
      expect(pauses).to.be.greaterThan(4);
    });
  }

  for (const [value, script] of [
    ['a long string', "return redis.call('GET','long')"],
    ['a part of a long string', "return redis.call('GETRANGE','long',1,-2)"],
    ['long strings in a list', "return redis.call('MGET','long','none','longer')"],
    ['a long string through pcall', "local ok,value=pcall(redis.call,'GET','long') return {ok,#value,value}"],
    [
      'a long string in a map',
      "redis.call('HSET','m','f',redis.call('GET','long')) redis.setresp(3) return redis.call('HGETALL','m')",
    ],
  ] as const) {
    it(`answers in slices: ${value}`, () => {
      const { pauses } = both(script);
      expect(pauses).to.be.greaterThan(4);
    });
  }

  it('fails at the line of the call', () => {
    const { reply, pauses } = both("local x=1\nredis.call('SORT','numbers')\nreturn 'behind'");
    expect(reply).to.match(
      /^-ERR One or more scores can't be converted into double script: [0-9a-f]{40}, on @user_script:2\.$/,
    );
    expect(pauses).to.be.greaterThan(4);
  });

  for (const [caller, script] of [
    ['redis.pcall', "return redis.pcall('SORT','numbers').err"],
    ['pcall', "local ok,e=pcall(redis.call,'SORT','numbers') return {ok and 1 or 0,e}"],
    [
      'pcall of a function',
      "local ok,e=pcall(function() return redis.call('SORT','numbers') end) return {ok and 1 or 0,e}",
    ],
    ['pcall within pcall', "local _,ok,e=pcall(pcall,redis.call,'SORT','numbers') return {ok and 1 or 0,e}"],
  ] as const) {
    it(`passes its error to ${caller}, and the script continues`, () => {
      const { reply, pauses } = both(`${script.replace('return', "redis.call('SET','went','on') return")}`);
      expect(JSON.stringify(reply)).to.include('scores');
      expect(pauses).to.be.greaterThan(4);
    });
  }

  it('answers through pcall, repeatedly', () => {
    const script =
      "local n=0 for i=1,3 do local ok,r=pcall(redis.call,'LRANGE','l',0,-1) n=n+#r redis.pcall('SORT','numbers') end return {n,pcall(function(...) return select('#',...),redis.call('ZCARD','z') end,1,2)}";
    const { reply, pauses } = both(script);
    expect(reply).to.deep.equal([3 * MEMBERS, 1, 2, MEMBERS]);
    expect(pauses).to.be.greaterThan(12);
  });

  it('runs in one slice where the script cannot be interrupted', () => {
    const script =
      "local r={} for i,f in ipairs({function() return #redis.call('SORT','l','ALPHA') end}) do r[i]=coroutine.wrap(f)() end local t=setmetatable({},{__index=function() return redis.call('SORT','numbers') end}) return {r[1],pcall(function() return t.x end)}";
    const { reply } = both(script);
    expect(JSON.stringify(reply)).to.include(`[${MEMBERS},null,`);
  });

  for (const words of [
    ['ZUNIONSTORE', 'd', '2', 'z', 'y'],
    ['SORT', 'l', 'ALPHA', 'STORE', 'z'],
    ['MSET', ...pairs.map((word) => `${word}x`)],
    ['DEL', ...keys, 'z', 'h'],
    ['LRANGE', 'l', '0', '-1'],
  ]) {
    it(`is undone with a script that is stopped at one of its pauses: ${words[0]}`, () => {
      const stand = new ScriptStand(true, filledFor(words));
      const before = stand.look();
      const script = `redis.call('SET','first','1') ${CALL}`;
      let pauses = 1;
      for (; ; pauses *= 3) {
        const reply = stand.run(['EVAL', script, '0', ...words], pauses);
        if (stand.pauses <= pauses) break;
        expect(reply).to.match(/^-ERR Script stopped: it was killed/);
        expect(stand.look()).to.deep.equal(before);
      }
      expect(pauses).to.be.greaterThan(3);
      expect(stand.run(['EVAL', "return redis.call('GET','first')", '0'])).to.equal('1');
    });
  }

  it('counts as work of its script, and is stopped at its limit', () => {
    let nowMicros = 0;
    const engine = new KvEngine(seededRandom(1), {
      nowMicros: () => (nowMicros += 6000),
      info: () => new Map(),
      scriptLimits: { totalMs: 50, holdMs: 250 },
    });
    for (const words of filledFor(['l'])) engine.execute(admit(words) as CommandSpec, words, NOW);
    const words = ['EVAL', "redis.call('SET','half','1') return redis.call('SORT','l','ALPHA')", '0'];
    const caller = { mayPause: true };
    const answer = engine.execute(admit(words) as CommandSpec, words, NOW, caller);
    const rest = engine.rest(answer as Paused, words, caller);
    let reply: Reply | undefined;
    while (reply === undefined) reply = rest.next(NOW);
    expect(readable(reply)).to.match(/^-ERR Script stopped: it took longer than 50 ms/);
    expect(engine.keyspace.isThere('half')).to.equal(false);
  });
});
