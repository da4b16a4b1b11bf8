/** Proves KE6, HV3. */
import { expect } from 'chai';
import { type CommandSpec, findCommand, MAX_RECORD_BYTES, REPLACE_HASH } from '../../../src/domain/kv/index.js';
import { KvBench, readable } from '../../support/kv-bench.js';
import { NOW } from '../../support/kv-case.js';
import { KvEventsBench } from '../../support/kv-events.js';
import { HASH_CASES } from './cases/index.js';
import { describeCases } from './describe-cases.js';

describeCases('key-value commands: hashes', HASH_CASES);

/** `h` has a field `gone` that has expired and one that has not; `e` has only expired fields. */
function benchAfterExpiry(): KvBench {
  const bench = new KvBench();
  bench.line('HSET h gone 1 kept 2');
  bench.line('HSET e gone 1');
  for (const key of ['h', 'e']) bench.line(`HPEXPIRE ${key} 1000 FIELDS 1 gone`);
  bench.nowMs = NOW + 1000;
  return bench;
}

describe('key-value: hashes of HIMPORT SET', () => {
  it('are stored as DEL and HSET, which programs of any release replay', () => {
    const bench = new KvBench();
    const words = [REPLACE_HASH, 'h', 'x', '1', 'y', '2'];
    const set = () => bench.execute(findCommand(words) as CommandSpec, words).effects;
    expect(set()).to.deep.equal(['HSET h x 1 y 2']);
    bench.line('HSET h old 1');
    bench.line('EXPIRE h 100');
    expect(set()).to.deep.equal(['DEL h', 'HSET h x 1 y 2']);
    bench.expectReplayed();
  });
});

describe('key-value: expired fields', () => {
  const reads: [string, unknown][] = [
    ['HGET h gone', null],
    ['HMGET h gone kept', [null, '2']],
    ['HGETALL h', ['kept', '2']],
    ['HKEYS h', ['kept']],
    ['HVALS h', ['2']],
    ['HLEN h', 1],
    ['HEXISTS h gone', 0],
    ['HSTRLEN h gone', 0],
    ['HRANDFIELD h', 'kept'],
    ['HRANDFIELD h 5', ['kept']],
    ['HSCAN h 0', ['0', ['kept', '2']]],
    ['HTTL h FIELDS 2 gone kept', [-2, -1]],
    ['HPEXPIRETIME h FIELDS 1 gone', [-2]],
    ['HGETALL e', []],
    ['HLEN e', 0],
    ['EXISTS e', 0],
    ['TYPE e', '+none'],
    ['KEYS *', ['h']],
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
    ['HSET h gone 5', 1, ['HDEL h gone', 'HSET h gone 5']],
    ['HSETNX h gone 5', 1, ['HDEL h gone', 'HSET h gone 5']],
    ['HINCRBY h gone 5', 5, ['HDEL h gone', 'HSET h gone 5']],
    ['HDEL h gone', 0, ['HDEL h gone']],
    ['HGETDEL h FIELDS 1 gone', [null], ['HDEL h gone']],
    ['HPERSIST h FIELDS 1 gone', [-2], ['HDEL h gone']],
    ['HSETEX h FXX FIELDS 1 gone 1', 0, ['HDEL h gone']],
    ['HSET e a 5', 1, ['UNLINK e', 'HSET e a 5']],
    ['SADD e a', 1, ['UNLINK e', 'SADD e a']],
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

  it('are removed in the background, a bounded number at a time', () => {
    const bench = new KvBench();
    for (let i = 0; i < 3000; i += 1) bench.line(`HSETEX h PX ${i < 2500 ? 1000 : 9000} FIELDS 1 field:${i} v`);
    bench.nowMs = NOW + 999;
    expect(bench.engine.hasExpiries).to.equal(true);
    expect(bench.expireDue(1000)).to.deep.equal([]);
    bench.nowMs = NOW + 1000;
    for (const left of [2000, 1000, 500]) {
      expect(bench.expireDue(1000).length).to.equal(1);
      expect(bench.line('HLEN h').reply).to.equal(500);
      const hash = bench.engine.keyspace.stored('h');
      expect(typeof hash === 'object' && hash.size).to.equal(left);
    }
    bench.nowMs = NOW + 9000;
    expect(bench.expireDue(1000).length).to.equal(1);
    expect(bench.engine.keyspace.size).to.equal(0);
    expect(bench.engine.hasExpiries).to.equal(false);
    bench.expectReplayed();
  });

  it('still expire after the hash was renamed, and not after it was deleted', () => {
    const bench = new KvBench();
    bench.line('HSETEX h PX 1000 FIELDS 1 a 1');
    bench.line('RENAME h i');
    expect(bench.engine.keyspace.keysWithFieldExpiry).to.equal(1);
    bench.nowMs = NOW + 1000;
    expect(bench.expireDue(10)).to.deep.equal(['HDEL i a']);
    bench.line('HSETEX h PX 1000 FIELDS 1 a 1');
    bench.line('HPERSIST h FIELDS 1 a');
    expect(bench.engine.hasExpiries).to.equal(false);
    bench.line('HSETEX h PX 1000 FIELDS 1 a 1');
    bench.line('DEL h');
    expect(bench.engine.hasExpiries).to.equal(false);
  });
});

describe('key-value: large hashes', () => {
  it('are returned completely by HSCAN while they grow from small to large, and fields come and go', () => {
    const bench = new KvBench();
    for (let i = 0; i < 1000; i += 1) bench.line(`HSET h stays:${i} v`);
    const met = new Set<string>();
    let cursor = '0';
    let round = 0;
    do {
      const [next, items] = bench.line(`HSCAN h ${cursor} COUNT 50 MATCH stays:* NOVALUES`).reply as [string, string[]];
      for (const field of items) met.add(field);
      for (let i = 0; i < 50; i += 1) bench.line(`HSET h comes:${round}:${i} x`);
      for (let i = 0; i < 25; i += 1) bench.line(`HDEL h comes:${round - 1}:${i}`);
      cursor = next;
      round += 1;
    } while (cursor !== '0');
    expect(round).to.be.greaterThan(10);
    expect(met.size).to.equal(1000);
  });

  it('hold 100 MB, and not a byte more', () => {
    const bench = new KvBench();
    bench.run(['HSET', 'h', 'f', 'x'.repeat(MAX_RECORD_BYTES - 1)]);
    expect(readable(bench.line('HSET h g x').reply)).to.equal('-ERR max single record size exceeded');
    expect(readable(bench.line('HLEN h').reply)).to.equal(1);
  });

  it('return at most a million fields with HRANDFIELD', () => {
    const bench = new KvBench();
    bench.line('HSET h a 1');
    expect((bench.line('HRANDFIELD h -1000000').reply as string[]).length).to.equal(1_000_000);
    expect(readable(bench.line('HRANDFIELD h -1000001').reply)).to.equal('-ERR value is out of range');
  });

  it('are answered in slices', () => {
    const bench = new KvBench();
    for (let i = 0; i < 6000; i += 1) bench.line(`HSET h f${i} v`);
    for (const line of ['HGETALL h', 'HRANDFIELD h 5000']) {
      const words = line.split(' ');
      const spec = findCommand(words);
      if (spec === undefined) throw new Error(line);
      expect(bench.engine.isLong(spec, words, NOW)).to.equal(true);
      const running = bench.engine.begin(spec, words);
      let slices = 1;
      while (running.next(NOW) === undefined) slices += 1;
      expect(slices).to.be.greaterThan(4);
    }
  });

  it('have the encodings of Redis', () => {
    const bench = new KvBench();
    const encoding = (): unknown => bench.line('OBJECT ENCODING h').reply;
    bench.line('HSET h a 1');
    expect(encoding()).to.equal('listpack');
    bench.line('HEXPIRE h 100 FIELDS 1 nothing');
    expect(encoding()).to.equal('listpackex');
    for (let i = 1; i < 128; i += 1) bench.line(`HSET h f${i} v`);
    expect(encoding()).to.equal('listpackex');
    bench.line('HSET h more v');
    expect(encoding()).to.equal('hashtable');
    bench.line('HDEL h more');
    expect(encoding()).to.equal('hashtable');
    bench.line('DEL h');
    bench.line(`HSET h a ${'x'.repeat(64)}`);
    expect(encoding()).to.equal('listpack');
    bench.line(`HSET h a ${'x'.repeat(65)}`);
    expect(encoding()).to.equal('hashtable');
  });
});

describe('key-value: events of hashes', () => {
  const rows: [string, string[]][] = [
    ['HSET h a 1 b 2', ['hset h']],
    ['HSETNX h a 1', []],
    ['HINCRBY h a 1', ['hincrby h']],
    ['HINCRBYFLOAT h a 1', ['hincrbyfloat h']],
    ['HEXPIRE h 100 FIELDS 2 a zz', ['hexpire h']],
    ['HPERSIST h FIELDS 1 a', ['hpersist h']],
    ['HGETEX h EX 100 FIELDS 1 a', ['hexpire h']],
    ['HGETEX h PERSIST FIELDS 1 a', ['hpersist h']],
    ['HSETEX h EX 10 FIELDS 1 c 1', ['hset h', 'hexpire h']],
    ['HSETEX n PXAT 5 FIELDS 1 c 1', ['hset n', 'hdel n', 'del n']],
    ['HEXPIRE h 0 FIELDS 1 c', ['hdel h']],
    ['HGETDEL h FIELDS 1 b', ['hdel h']],
    ['HDEL h a', ['hdel h', 'del h']],
  ];
  it('have the names and the order of Redis', () => {
    const bench = new KvEventsBench();
    for (const [line, events] of rows) expect(bench.line(line), line).to.deep.equal(events);
    bench.line('HSETEX h PX 10 FIELDS 1 a 1');
    bench.engine.removal.expireDue(NOW + 10, 10);
    expect(bench.heard()).to.deep.equal(['hexpired h', 'del h']);
  });
});

describe('key-value: expiry times of fields', () => {
  const far = 9_007_199_254_740_991;
  const latest = 2 ** 46 - 1;

  it('have the maximum of Redis over RESP, and are checked first', () => {
    const bench = new KvBench();
    bench.caller = { endpoint: 'resp' };
    bench.line('HSET h a 1');
    expect(bench.line(`HPEXPIREAT h ${latest} FIELDS 1 a`).reply).to.deep.equal([1]);
    for (const [line, problem] of [
      [`HPEXPIREAT h ${latest + 1} FIELDS 1 a`, "-ERR invalid expire time in 'hpexpireat' command"],
      [`HPEXPIREAT none ${latest + 1} FIELDS 1 a`, "-ERR invalid expire time in 'hpexpireat' command"],
      ['HEXPIRE none -1 FIELDS 1 a', '-ERR invalid expire time, must be >= 0'],
      ['HGETEX none EX -1 FIELDS 1 a', '-ERR invalid expire time, must be >= 0'],
      [`HGETEX none PXAT ${latest + 1} FIELDS 1 a`, "-ERR invalid expire time in 'hgetex' command"],
      [`HSETEX none FXX PXAT ${latest + 1} FIELDS 1 a 1`, "-ERR invalid expire time in 'hsetex' command"],
    ]) {
      expect(readable(bench.line(line as string).reply), line).to.equal(problem);
    }
  });

  it('are stored exactly, except in a payload of DUMP, which Redis has to read', () => {
    const bench = new KvBench();
    bench.line('HSET h a 1 b 2');
    bench.line(`HPEXPIREAT h ${far} FIELDS 1 a`);
    bench.expectReplayed();
    bench.expectRebuilt();
    bench.line('COPY h copied');
    expect(bench.line('HPEXPIRETIME copied FIELDS 1 a').reply).to.deep.equal([far]);
    bench.run(['RESTORE', 'restored', '0', bench.line('DUMP h').reply as string]);
    expect(bench.line('HPEXPIRETIME restored FIELDS 2 a b').reply).to.deep.equal([latest, -1]);
  });
});
