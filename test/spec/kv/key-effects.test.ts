/** The changes of keys that readers of a journal find in its effects. */
import { expect } from 'chai';
import { keyEffects, rebuildingCommands } from '../../../src/domain/kv/index.js';
import { KvBench } from '../../support/kv-bench.js';

const events = (line: string) =>
  keyEffects(line.split(' ')).map(({ key, event, command }) => [key, event, command.join(' ')]);
const ofLine = (bench: KvBench, line: string) => bench.line(line).effects.flatMap((effect) => events(effect));

describe('the changes of keys in effects', () => {
  it('name each key of effects with several keys, with its own command', () => {
    expect(events('MSET a 1 b 2')).to.deep.equal([
      ['a', 'set', 'SET a 1'],
      ['b', 'set', 'SET b 2'],
    ]);
    expect(events('DEL a b')).to.deep.equal([
      ['a', 'del', 'DEL a'],
      ['b', 'del', 'DEL b'],
    ]);
    expect(events('RENAME a b')).to.deep.equal([
      ['a', 'del', 'RENAME a b'],
      ['b', 'set', 'RENAME a b'],
    ]);
    expect(events('LMOVE a b LEFT RIGHT').map(([key, event]) => [key, event])).to.deep.equal([
      ['a', 'pop'],
      ['b', 'push'],
    ]);
  });

  it('are of the kind of the value', () => {
    const kinds = [
      'HSET h f v',
      'HDEL h f',
      'RPUSH l x',
      'LPOP l',
      'SADD s x',
      'ZADD z 1 x',
      'XADD t 1-1 f v',
      'JSON.SET j $ {}',
      'PEXPIREAT k 9',
    ];
    expect(kinds.map((line) => events(line)[0]?.[1])).to.deep.equal([
      'field',
      'fdel',
      'push',
      'pop',
      'member',
      'score',
      'add',
      'json',
      'expire',
    ]);
    expect(events('FLUSHALL')).to.deep.equal([[undefined, 'flush', 'FLUSHALL']]);
  });

  it('are none for parameters, functions and messages for the queue', () => {
    expect(events('CONFIG SET maxmemory 1')).to.deep.equal([]);
    expect(events('FUNCTION FLUSH')).to.deep.equal([]);
    expect(events('QUEUE.SENT 5')).to.deep.equal([]);
  });

  it('tell a removed key from an expired and an evicted one', () => {
    const bench = new KvBench();
    bench.line('SET k v PX 10');
    bench.nowMs += 20;
    expect(ofLine(bench, 'SET k w')).to.deep.equal([['k', 'set', 'SET k w']]);
    bench.line('SET e v PX 10');
    bench.nowMs += 20;
    expect(ofLine(bench, 'GETDEL e')).to.deep.equal([['e', 'expired', 'DEL e']]);
    expect(ofLine(bench, 'DEL k')).to.deep.equal([['k', 'del', 'DEL k']]);
    expect(ofLine(bench, 'UNLINK none k')).to.deep.equal([]);
    expect(events('UNLINK k k')).to.deep.equal([['k', 'evicted', 'DEL k']]);
  });

  it('are found for every command that rebuilds a value', () => {
    const bench = new KvBench();
    const lines = [
      'SET a 1',
      'HSET b f v',
      'RPUSH c x',
      'SADD d x',
      'ZADD e 1 x',
      'XADD f 1-1 f v',
      'JSON.SET g $ {}',
      'ARSET h 0 x',
      'BF.ADD i x',
      'TOPK.RESERVE m 3',
      'CF.ADD n x',
      'CMS.INITBYDIM o 10 2',
      'TDIGEST.CREATE p',
    ];
    for (const line of lines) bench.line(line);
    for (const [key, value, expireAtMs] of bench.engine.keyspace.entries()) {
      for (const words of rebuildingCommands(key, value, expireAtMs)) {
        expect(
          keyEffects(words).map((effect) => effect.key),
          words.join(' '),
        ).to.deep.equal([key]);
      }
    }
  });
});
