/** Proves LME1, LSH3. */
import { expect } from 'chai';
import { scriptHost } from '../../../src/domain/kv/lua/script-host.js';
import { KvBench, readable } from '../../support/kv-bench.js';
import { FUNCTIONS_CASES } from './cases/function.js';
import { SCRIPTING_CASES } from './cases/scripting.js';
import { describeCases } from './describe-cases.js';

describeCases('kv: scripts', SCRIPTING_CASES);
describeCases('kv: functions', FUNCTIONS_CASES);

describe('key-value: scripts and functions after a loss of their Lua machine', () => {
  const LIBRARY = "#!lua name=lib\nredis.register_function('twice', function(_, args) return args[1] * 2 end)";
  const SCRIPT = "return redis.call('INCR', KEYS[1])";

  const inOneWith = () => {
    const bench = new KvBench();
    const ask = (...words: string[]) => readable(bench.run(words).reply);
    ask('FUNCTION', 'LOAD', LIBRARY);
    const digest = ask('SCRIPT', 'LOAD', SCRIPT) as string;
    return { bench, ask, digest };
  };

  it('keep working, because their sources are not in it (LSH3)', () => {
    const { bench, ask, digest } = inOneWith();
    for (let turn = 1; turn <= 3; turn += 1) {
      expect(ask('EVALSHA', digest, '1', 'n')).to.equal(turn);
      expect(ask('FCALL', 'twice', '0', '21')).to.equal(42);
      scriptHost(bench.engine.libraries).drop();
    }
  });

  it('are loaded again: libraries immediately, and a script when it is sent again (LSH3)', () => {
    const { bench, ask, digest } = inOneWith();
    const host = scriptHost(bench.engine.libraries);
    expect(ask('FCALL', 'twice', '0', '4')).to.equal(8);
    host.drop();
    host.flushScripts();
    expect(ask('FCALL', 'twice', '0', '5')).to.equal(10);
    expect(ask('EVALSHA', digest, '1', 'n')).to.match(/^-NOSCRIPT /);
    expect(ask('EVAL', SCRIPT, '1', 'n')).to.equal(1);
    expect(ask('EVALSHA', digest, '1', 'n')).to.equal(2);
    // An engine that replays the effects never starts a Lua machine.
    bench.expectReplayed();
  });
});

describe('key-value: strings passed to and returned from scripts', () => {
  const LONGEST_KEPT = 40;
  const ask = (bench: KvBench, script: string, ...args: string[]) =>
    readable(bench.run(['EVAL', script, '0', ...args]).reply);

  it('are current ones, even if others had the same address before (LME1)', () => {
    const bench = new KvBench();
    const script = `
      local wrong = 0
      for i = 1, 20000 do
        local word = string.rep(string.char(97 + i % 26), 1 + i % 6) .. i
        if redis.call('ECHO', word) ~= word then wrong = wrong + 1 end
        if i % 500 == 0 then collectgarbage() end
      end
      return wrong`;
    expect(ask(bench, script)).to.equal(0);
  });

  it('keep every byte and every length', () => {
    const bench = new KvBench();
    for (const length of [0, 1, LONGEST_KEPT - 1, LONGEST_KEPT, LONGEST_KEPT + 1]) {
      const words = ['\0', '\xff', 'a'].map((byte) => byte.repeat(length));
      for (const word of words) {
        expect(ask(bench, "return redis.call('ECHO', ARGV[1])", word)).to.equal(word);
        expect(ask(bench, 'return {ARGV[1], {ARGV[1]}, ARGV[1]}', word)).to.deep.equal([word, [word], word]);
      }
    }
  });

  it('are read correctly after the memory has grown', () => {
    const bench = new KvBench();
    const script = `
      local large = string.rep('x', 4000000)
      redis.call('SET', 'large', large .. 'y')
      return {redis.call('STRLEN', 'large'), 'short', {1.9, true, false, 'behind'}}`;
    expect(ask(bench, script)).to.deep.equal([4_000_001, 'short', [1, 1, null, 'behind']]);
  });

  it('end a list at its first nil, for any internal layout of the table', () => {
    const bench = new KvBench();
    expect(ask(bench, "local t = {'a', nil, 'c'} return t")).to.deep.equal(['a']);
    expect(ask(bench, "local t = {} t[1] = 'a' t[2] = 'b' t[4] = 'd' return t")).to.deep.equal(['a', 'b']);
    expect(ask(bench, "local t = {'a', 'b'} t.ok = 1 return t")).to.deep.equal(['a', 'b']);
    expect(ask(bench, "local t = {'a', 'b'} t.ok = 'yes' return t")).to.equal('+yes');
    expect(
      ask(bench, 'local t = {} for i = 1, 9 do t[i] = i end for i = 5, 9 do t[i] = nil end return t'),
    ).to.deep.equal([1, 2, 3, 4]);
    expect(ask(bench, 'local t = {ok = 1} t.ok = nil return t')).to.deep.equal([]);
  });
});
