import { expect } from 'chai';
import {
  Blocked,
  type Collection,
  type CommandSpec,
  findCommand,
  MAX_RECORD_BYTES,
  NIL_ARRAY,
} from '../../../src/domain/kv/index.js';
import { KvBench, readable } from '../../support/kv-bench.js';
import { LIST_CASES } from './cases/index.js';
import { describeCases } from './describe-cases.js';

describeCases('key-value commands: list', LIST_CASES);

describe('lists', () => {
  it('BLPOP refuses a timeout beyond the last instant, in any notation', () => {
    const answers = ['0x7FFFFFFFFFFFFF', '1e300', '0xg'].map((time) =>
      readable(new KvBench().line(`BLPOP l ${time}`).reply),
    );
    const [beyond, malformed] = ['-ERR timeout is out of range', '-ERR timeout is not a float or out of range'];
    expect(answers).to.deep.equal([beyond, beyond, malformed]);
  });

  it('send the keyspace events of Redis, in its order', () => {
    const heard: string[] = [];
    const bench = new KvBench();
    const { engine } = bench;
    engine.notify = (kind, event, key) => heard.push(`${kind} ${event} ${key}`);
    for (const line of [
      'RPUSH l a b c d',
      'LSET l 0 x',
      'LINSERT l BEFORE b y',
      'LREM l 0 y',
      'LTRIM l 0 1',
      'LMOVE l m LEFT RIGHT',
      'RPOP l',
      'LTRIM m 5 6',
    ]) {
      bench.line(line);
    }
    expect(heard).to.deep.equal([
      'l rpush l',
      'l lset l',
      'l linsert l',
      'l lrem l',
      'l ltrim l',
      'l rpush m',
      'l lpop l',
      'l rpop l',
      'g del l',
      'l ltrim m',
      'g del m',
    ]);
  });

  it('let a command wait for the keys that it names', () => {
    const bench = new KvBench();
    bench.caller = { endpoint: 'resp', mayBlock: true };
    for (const [line, keys, timeoutMs] of [
      ['BLPOP a b 0.0015', ['a', 'b'], 2],
      ['BLMPOP 0 2 a b LEFT', ['a', 'b'], 0],
      ['BLMOVE a b LEFT LEFT 3', ['a'], 3000],
      ['BRPOPLPUSH a b 3', ['a'], 3000],
    ] as const) {
      const reply: unknown = bench.line(line).reply;
      expect(reply).to.be.instanceOf(Blocked);
      expect(reply).to.deep.include({ keys, timeoutMs, onTimeout: NIL_ARRAY });
    }
  });

  it('are read in slices when they are long', () => {
    const bench = new KvBench();
    const items = Array.from({ length: 30_000 }, (_, index) => `n${index % 100}`);
    bench.run(['RPUSH', 'l', ...items]);
    for (const [line, check] of [
      ['LRANGE l 0 -1', (reply: unknown) => expect(reply).to.deep.equal(items)],
      ['LPOS l nothing', (reply: unknown) => expect(reply).to.equal(null)],
      ['LINSERT l BEFORE nothing x', (reply: unknown) => expect(reply).to.equal(-1)],
      ['LREM l 0 nothing', (reply: unknown) => expect(reply).to.equal(0)],
      ['LPOP l 29999', (reply: unknown) => expect(reply).to.have.lengthOf(29_999)],
    ] as const) {
      const words = line.split(' ');
      const spec = findCommand(words) as CommandSpec;
      expect(bench.engine.isLong(spec, words, bench.nowMs), line).to.equal(true);
      const sliced = bench.engine.begin(spec, words);
      let slices = 1;
      let reply = sliced.next(bench.nowMs);
      for (; reply === undefined; slices += 1) reply = sliced.next(bench.nowMs);
      check(reply);
      if (line !== 'LREM l 0 nothing') expect(slices, line).to.be.greaterThan(2);
    }
  });

  it('hold as many bytes as the largest record, and no more', () => {
    const bench = new KvBench();
    const half = 'x'.repeat(MAX_RECORD_BYTES / 2);
    bench.run(['RPUSH', 'l', half]);
    const room = MAX_RECORD_BYTES - (bench.engine.keyspace.peek('l') as Collection).bytes;
    expect(readable(bench.run(['RPUSH', 'l', 'x'.repeat(room + 1)]).reply)).to.match(/^-ERR max single record size/);
    expect(bench.run(['RPUSH', 'l', 'x'.repeat(room)]).reply).to.equal(2);
  });
});
