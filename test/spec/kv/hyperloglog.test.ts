import { expect } from 'chai';
import { KvBench, readable } from '../../support/kv-bench.js';
import { HYPERLOGLOG_CASES } from './cases/index.js';
import { describeCases } from './describe-cases.js';

describeCases('key-value commands: hyperloglog', HYPERLOGLOG_CASES);

describe('HyperLogLogs', () => {
  it('change from sparse to dense at their limit, and replay to the same bytes', () => {
    const bench = new KvBench();
    let form = 1;
    for (let i = 0; i < 3000; i += 1) {
      bench.line(`PFADD h e${i}`);
      const text = bench.engine.keyspace.peek('h') as string;
      if (text.charCodeAt(4) !== form) {
        form = 0;
        expect(text.length).to.equal(12_304);
      } else if (form === 1) expect(text.length).to.be.at.most(3000);
    }
    expect(form).to.equal(0);
    expect(bench.line('PFCOUNT h').reply).to.be.within(2940, 3060);
    bench.expectReplayed();
    bench.expectRebuilt();
  });

  it('refuse a corrupt value', () => {
    const bench = new KvBench();
    bench.run(['SET', 'h', `HYLL\x01${'\0'.repeat(10)}\x80\x00`]);
    const corrupt = '-INVALIDOBJ Corrupted HLL object detected';
    expect(readable(bench.line('PFADD h a').reply)).to.equal(corrupt);
    expect(readable(bench.line('PFCOUNT h').reply)).to.equal(corrupt);
    expect(readable(bench.line('PFMERGE d h').reply)).to.equal(corrupt);
  });
});
