/** Proves KE1, KE2. */
import { expect } from 'chai';
import { KvBench, readable } from '../../support/kv-bench.js';
import { NOW } from '../../support/kv-case.js';

const AT = NOW + 1000;

/** A keyspace in which `k` and `other` have expired and have not been removed. */
function benchAfterExpiry(): KvBench {
  const bench = new KvBench();
  bench.line('SET k 5 PX 1000');
  bench.line('SET kept 1');
  bench.nowMs = AT;
  return bench;
}

describe('key-value: expired keys', () => {
  const reads: [string, unknown][] = [
    ['GET k', null],
    ['STRLEN k', 0],
    ['GETRANGE k 0 -1', ''],
    ['MGET k kept', [null, '1']],
    ['DIGEST k', null],
    ['LCS k kept', ''],
    ['EXISTS k', 0],
    ['TOUCH k', 0],
    ['TTL k', -2],
    ['PTTL k', -2],
    ['EXPIRETIME k', -2],
    ['PEXPIRETIME k', -2],
    ['TYPE k', '+none'],
    ['DUMP k', null],
    ['MEMORY USAGE k', null],
    ['OBJECT ENCODING k', null],
    ['OBJECT FREQ k', null],
    ['RANDOMKEY', 'kept'],
    ['KEYS *', ['kept']],
    ['SCAN 0', ['0', ['kept']]],
  ];
  for (const [line, reply] of reads) {
    it(`are invisible to ${line}, which records no effect`, () => {
      const bench = benchAfterExpiry();
      const result = bench.line(line);
      expect(readable(result.reply)).to.deep.equal(reply);
      expect(result.effects).to.deep.equal([]);
      bench.expectReplayed();
    });
  }

  const writes: [string, unknown, string[]][] = [
    ['SET k v', '+OK', ['SET k v']],
    ['SET k v NX', '+OK', ['UNLINK k', 'SET k v']],
    ['SET k v XX', null, ['UNLINK k']],
    ['SET k v GET', null, ['UNLINK k', 'SET k v']],
    ['SET k v KEEPTTL', '+OK', ['UNLINK k', 'SET k v']],
    ['SET k v IFNE 5', '+OK', ['UNLINK k', 'SET k v']],
    ['SETNX k v', 1, ['UNLINK k', 'SET k v']],
    ['MSETNX k v kept w', 0, ['UNLINK k']],
    ['MSETEX 1 k v KEEPTTL', 1, ['UNLINK k', 'SET k v']],
    ['GETSET k v', null, ['UNLINK k', 'SET k v']],
    ['GETDEL k', null, ['UNLINK k']],
    ['GETEX k PERSIST', null, ['UNLINK k']],
    ['DELEX k IFEQ 5', 0, ['UNLINK k']],
    ['APPEND k v', 1, ['UNLINK k', 'APPEND k v']],
    ['SETRANGE k 1 v', 2, ['UNLINK k', 'SETRANGE k 1 v']],
    ['INCR k', 1, ['UNLINK k', 'SET k 1']],
    ['INCRBYFLOAT k 1.5', '1.5', ['UNLINK k', 'SET k 1.5']],
    ['DEL k', 0, ['DEL k']],
    ['UNLINK k kept', 1, ['DEL k kept']],
    ['EXPIRE k 100', 0, ['UNLINK k']],
    ['PERSIST k', 0, ['UNLINK k']],
    ['RENAME k j', '-ERR no such key', ['UNLINK k']],
    ['RENAME kept k', '+OK', ['RENAME kept k']],
    ['RENAMENX kept k', 1, ['UNLINK k', 'RENAME kept k']],
    ['COPY k j', 0, ['UNLINK k']],
    ['COPY kept k', 1, ['UNLINK k', 'COPY kept k REPLACE']],
  ];
  for (const [line, reply, effects] of writes) {
    it(`are removed and recorded when ${line} accesses them`, () => {
      const bench = benchAfterExpiry();
      const result = bench.line(line);
      expect(readable(result.reply)).to.deep.equal(reply);
      expect(result.effects).to.deep.equal(effects);
      bench.expectReplayed();
    });
  }

  it('expire at the largest exact number when a later instant is given', () => {
    const bench = new KvBench();
    bench.line('SET k v');
    const { reply, effects } = bench.line('PEXPIREAT k 9223372036854775807');
    expect([reply, effects]).to.deep.equal([1, ['PEXPIREAT k 9007199254740991']]);
    expect(bench.line('PEXPIRETIME k').reply).to.equal(Number.MAX_SAFE_INTEGER);
    expect(bench.line('SET k w PX 9223372036854775807').reply)
      .to.have.property('text')
      .that.includes('invalid expire time');
  });

  it('are counted by DBSIZE until they are removed', () => {
    const bench = benchAfterExpiry();
    expect(bench.line('DBSIZE').reply).to.equal(2);
    expect(bench.engine.removal.expireDue(AT, 10)).to.equal(1);
    expect(bench.line('DBSIZE').reply).to.equal(1);
  });

  it('are visible until the last millisecond before their expiry', () => {
    const bench = benchAfterExpiry();
    bench.nowMs = AT - 1;
    expect(bench.line('GET k').reply).to.equal('5');
    expect(bench.line('PTTL k').reply).to.equal(1);
  });
});
