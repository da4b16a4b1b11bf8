/** Proves LL1–LL3. */
import { expect } from 'chai';
import { LimitedLog } from '../../../src/adapters/node/index.js';
import { MemoryLog } from '../../support/kv-endpoint.js';
import { ManualTime } from '../../support/memory/index.js';

const MINUTE_MS = 60_000;

function stand() {
  const time = new ManualTime();
  const inner = new MemoryLog();
  return { time, lines: inner.lines, log: new LimitedLog(inner, time) };
}

describe('the log of events that strangers can cause', () => {
  it('has the first line of an event immediately, with its fields', () => {
    const { log, lines } = stand();
    log.warn('kv.request.refused', { code: 'CONTROL_STALE' });
    expect(lines).to.deep.equal([{ level: 'warn', event: 'kv.request.refused', fields: { code: 'CONTROL_STALE' } }]);
  });

  it('has the latest line of a minute at the end of the minute, with the number of omitted lines', async () => {
    const { log, lines, time } = stand();
    for (let i = 0; i < 1000; i += 1) log.info('cut', { client: i });
    expect(lines).to.have.lengthOf(1);
    await time.advance(MINUTE_MS - 1);
    expect(lines).to.have.lengthOf(1);
    await time.advance(1);
    expect(lines.slice(1)).to.deep.equal([{ level: 'info', event: 'cut', fields: { client: 999, leftOut: 998 } }]);
  });

  it('has one line a minute while the event continues, and the next one immediately after a minute of silence', async () => {
    const { log, lines, time } = stand();
    for (let minute = 0; minute < 3; minute += 1) {
      for (let i = 0; i < 10; i += 1) log.info('cut');
      await time.advance(MINUTE_MS);
    }
    expect(lines.map(({ fields }) => fields)).to.deep.equal([{}, { leftOut: 8 }, { leftOut: 9 }, { leftOut: 9 }]);
    await time.advance(MINUTE_MS);
    log.info('cut');
    expect(lines).to.have.lengthOf(5);
  });

  it('counts each event separately, for all levels and derived logs together', () => {
    const { log, lines } = stand();
    const other = log.with({ face: 'kv' });
    log.debug('one');
    other.error('one');
    other.error('two');
    log.warn('two');
    expect(lines.map(({ level, event }) => `${level} ${event}`)).to.deep.equal(['debug one', 'error two']);
  });
});
