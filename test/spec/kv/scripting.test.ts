/** Proves LSH3. */
import { expect } from 'chai';
import { scriptHost } from '../../../src/domain/kv/lua/script-host.js';
import { KvBench, readable } from '../../support/kv-bench.js';
import { FUNCTIONS_CASES } from './cases/function.js';
import { SCRIPTING_CASES } from './cases/scripting.js';
import { describeCases } from './describe-cases.js';

describeCases('kv: scripts', SCRIPTING_CASES);
describeCases('kv: functions', FUNCTIONS_CASES);

describe('kv: scripts and functions whose machine is lost', () => {
  const LIBRARY = "#!lua name=lib\nredis.register_function('twice', function(_, args) return args[1] * 2 end)";
  const SCRIPT = "return redis.call('INCR', KEYS[1])";

  const inOneWith = () => {
    const bench = new KvBench();
    const ask = (...words: string[]) => readable(bench.run(words).reply);
    ask('FUNCTION', 'LOAD', LIBRARY);
    const digest = ask('SCRIPT', 'LOAD', SCRIPT) as string;
    return { bench, ask, digest };
  };

  it('go on as before: what they are is not in it (LSH3)', () => {
    const { bench, ask, digest } = inOneWith();
    for (let turn = 1; turn <= 3; turn += 1) {
      expect(ask('EVALSHA', digest, '1', 'n')).to.equal(turn);
      expect(ask('FCALL', 'twice', '0', '21')).to.equal(42);
      scriptHost(bench.engine.libraries).drop();
    }
  });

  it('and all that was remembered with it: libraries are there, and a script is when it comes again (LSH3)', () => {
    const { bench, ask, digest } = inOneWith();
    const host = scriptHost(bench.engine.libraries);
    expect(ask('FCALL', 'twice', '0', '4')).to.equal(8);
    host.drop();
    host.flushScripts();
    expect(ask('FCALL', 'twice', '0', '5')).to.equal(10);
    expect(ask('EVALSHA', digest, '1', 'n')).to.match(/^-NOSCRIPT /);
    expect(ask('EVAL', SCRIPT, '1', 'n')).to.equal(1);
    expect(ask('EVALSHA', digest, '1', 'n')).to.equal(2);
    // Who replays the effects has never had a machine.
    bench.expectReplayed();
  });
});
