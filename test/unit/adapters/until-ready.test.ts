import { expect } from 'chai';
import { untilReady } from '../../../src/adapters/http-health/index.js';
import type { Log } from '../../../src/ports/index.js';
import { ManualTime } from '../../support/memory/index.js';

describe('a process is ready', () => {
  const told: unknown[] = [];
  const log = { info: (event: string, fields: unknown) => told.push([event, fields]) } as unknown as Log;

  function waiting(checks: Parameters<typeof untilReady>[0]) {
    const time = new ManualTime();
    const state = { time, isReady: false };
    void untilReady(checks, { timers: time, clock: time, log }).then(() => {
      state.isReady = true;
    });
    return state;
  }

  it('when every check is ok, and not before', async () => {
    const checks = { shards: { ok: false, detail: 'loading' }, control: { ok: false } };
    const process = waiting(() => checks);
    await process.time.advance(15_000);
    expect(process.isReady).to.equal(false);
    expect(told.at(-1)).to.deep.equal(['process.not-ready-yet', { shards: 'loading', control: '' }]);
    checks.shards.ok = true;
    await process.time.advance(100);
    expect(process.isReady).to.equal(false);
    checks.control.ok = true;
    await process.time.advance(100);
    expect(process.isReady).to.equal(true);
  });

  it('when the only failing checks need a person, because waiting would not help', async () => {
    const process = waiting(() => ({ shards: { ok: false, isStuck: true }, control: { ok: true } }));
    await process.time.advance(0);
    expect(process.isReady).to.equal(true);
  });
});
