import { expect } from 'chai';
import { KvBench } from '../../support/kv-bench.js';
import { BITMAP_CASES } from './cases/index.js';
import { describeCases } from './describe-cases.js';

describeCases('key-value commands: bitmap', BITMAP_CASES);

describe('bitmaps', () => {
  it('are changed in place when they are long, and read back completely', () => {
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
