/** Proves RCF1, RCF2. */
import { expect } from 'chai';
import { RecurringFact } from '../../../src/ports/index.js';
import { MemoryLog } from '../../support/kv-endpoint.js';
import { ManualTime } from '../../support/memory/index.js';

describe('a recurring log line', () => {
  function stand() {
    const clock = new ManualTime();
    const log = new MemoryLog();
    const told = () => log.lines.map(({ level, event, fields }) => [level, event, fields]);
    return { clock, told, fact: new RecurringFact({ log, clock }, 'look-failed', 'looks-well') };
  }

  it('is written immediately, then as a count every ten seconds, and once when it is over', async () => {
    const { clock, told, fact } = stand();
    for (let quarter = 0; quarter < 100; quarter += 1) {
      fact.happened({ shard: 'KV_0' });
      await clock.advance(250);
    }
    await clock.advance(1000);
    fact.isWell();
    fact.isWell();
    expect(told()).to.deep.equal([
      ['warn', 'look-failed', { shard: 'KV_0' }],
      ['warn', 'look-failed', { shard: 'KV_0', times: 41 }],
      ['warn', 'look-failed', { shard: 'KV_0', times: 81 }],
      ['info', 'looks-well', { times: 100 }],
    ]);
  });

  it('is not over while it comes and goes, and is written again after it was over', async () => {
    const { clock, told, fact } = stand();
    fact.isWell();
    for (let half = 0; half < 10; half += 1) {
      fact.happened({});
      await clock.advance(500);
      fact.isWell({ shard: 'KV_0' });
    }
    await clock.advance(500);
    fact.isWell({ shard: 'KV_0' });
    fact.happened({});
    expect(told()).to.deep.equal([
      ['warn', 'look-failed', {}],
      ['info', 'looks-well', { shard: 'KV_0', times: 10 }],
      ['warn', 'look-failed', {}],
    ]);
  });
});
