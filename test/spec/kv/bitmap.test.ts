import { expect } from 'chai';
import { MAX_RECORD_BYTES } from '../../../src/domain/kv/index.js';
import { KvBench, readable } from '../../support/kv-bench.js';
import { BITMAP_CASES } from './cases/index.js';
import { describeCases } from './describe-cases.js';

describeCases('key-value commands: bitmap', BITMAP_CASES);

describe('bitmaps', () => {
  it('end at the largest record, and not a bit before', () => {
    const bench = new KvBench();
    const last = MAX_RECORD_BYTES * 8 - 1;
    expect(readable(bench.line(`SETBIT b ${last + 1} 1`).reply)).to.match(/^-ERR max single record size/);
    expect(readable(bench.line(`BITFIELD b SET u8 ${last - 6} 1`).reply)).to.match(/^-ERR max single record size/);
    expect(bench.engine.keyspace.size).to.equal(0);
    expect(bench.line(`SETBIT b ${last} 1`).reply).to.equal(0);
    expect(bench.line(`SETBIT b ${last} 0`).reply).to.equal(1);
  });

  it('are changed in place when they are long, and read back whole', () => {
    const bench = new KvBench();
    bench.line('SETBIT b 799999 1');
    for (let i = 0; i < 2000; i += 1) bench.line(`SETBIT b ${(i * 7919) % 800_000} 1`);
    expect(bench.line('BITCOUNT b').reply).to.equal(2001);
    const text = bench.line('GET b').reply as string;
    expect(text.length).to.equal(100_000);
    expect(text.charCodeAt(0)).to.equal(128);
    bench.expectReplayed();
    bench.expectRebuilt();
  });
});
