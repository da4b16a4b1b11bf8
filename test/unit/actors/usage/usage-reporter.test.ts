/** Monthly reports of use: one message for each month, also after an end at any moment. Proves URP1, URP2, URP3, UST1, USD2. */
import { expect } from 'chai';
import { UsageReporter, UsageReports } from '../../../../src/actors/usage/index.js';
import { DEFAULT_ACCOUNT_LIMITS, evolve } from '../../../../src/domain/control/index.js';
import { monthIn } from '../../../../src/domain/statistics/index.js';
import { FORMAT_LEVEL } from '../../../../src/kernel/index.js';
import { ACCOUNT, INSTALLED, NOW_MS } from '../../../spec/control/given.js';
import { MemoryLog } from '../../../support/kv-endpoint.js';
import { SaidStatistics } from '../../../support/management-statistics.js';
import { ManualTime } from '../../../support/memory/index.js';
import { MemoryControl } from '../../../support/memory-control.js';

const URL = 'https://a.example/usage';
const MINUTE_MS = 60_000;
const monthOf = (text: string) => monthIn(text) as number;

/** An installation in the middle of November 2026. */
function stand() {
  const timers = new ManualTime();
  const control = new MemoryControl();
  const log = new MemoryLog();
  const statistics = new SaidStatistics();
  for (const event of INSTALLED) evolve(control.state, event);
  evolve(control.state, { type: 'FormatRaised', level: FORMAT_LEVEL, by: 'test', atMs: NOW_MS });
  const report = { account: ACCOUNT, url: URL, month: monthOf('2026-10') };
  evolve(control.state, { type: 'UsageReportSet', ...report, atMs: NOW_MS });
  const said = {
    nowMs: Date.UTC(2026, 10, 15),
    isOwner: true,
    /** The queue's records: it accepts an id once. */
    accepted: new Map<string, { month: string; rows: { kind: string }[]; csv: string }>(),
    published: 0,
    refusesQueue: false,
    losesOutcome: false,
  };
  const clock = { nowMs: () => said.nowMs, monotonicMs: () => said.nowMs };
  const ports = { clock, statistics, state: () => control.state };
  const terms = { state: 'active', limits: DEFAULT_ACCOUNT_LIMITS, centsPer100kMessages: 0 } as const;
  const reports = new UsageReports({
    ...ports,
    accounts: { termsOf: () => terms },
    destinations: { refusalOf: () => undefined },
    queues: {
      publish: async (_queue, [item]) => {
        if (said.refusesQueue) throw new Error('the queue does not answer');
        said.published += 1;
        const body = JSON.parse(Buffer.from(item?.body ?? []).toString('utf8')) as never;
        if (!said.accepted.has(item?.id ?? '')) said.accepted.set(item?.id ?? '', body);
        return { type: 'Published', messages: [] } as never;
      },
    },
  });
  const send: MemoryControl['send'] = async (command) => {
    if (said.losesOutcome) throw new Error('the process ended');
    return control.send(command);
  };
  const reporter = () =>
    new UsageReporter({
      clock,
      timers,
      log,
      state: () => control.state,
      control: { send } as never,
      reports,
      isOwner: () => said.isOwner,
    });
  const months = () => [...said.accepted.values()].map(({ month }) => month);
  return { said, reporter, months, statistics, control };
}

describe('the monthly report of use', () => {
  it('is sent once, ten minutes after the end of the month, with a row for each database and queue', async () => {
    const { said, reporter, months } = stand();
    const one = reporter();
    await one.look();
    said.nowMs = Date.UTC(2026, 11, 1) + 9 * MINUTE_MS;
    await one.look();
    expect(months()).to.deep.equal([]);
    said.nowMs += MINUTE_MS;
    await one.look();
    await one.look();
    expect(months()).to.deep.equal(['2026-11']);
    expect(said.published).to.equal(1);
    const [document] = said.accepted.values();
    expect(document?.rows.map(({ kind }) => kind)).to.include.members(['database', 'queue']);
    expect(document?.csv).to.match(/^month,kind,id,name,/);
  });

  it('is one message if the owner ends after the queue accepted it and before the outcome is stored', async () => {
    const { said, reporter, months } = stand();
    said.nowMs = Date.UTC(2026, 11, 1, 1);
    said.losesOutcome = true;
    await reporter().look();
    said.losesOutcome = false;
    await reporter().look();
    await reporter().look();
    expect(said.published).to.equal(2);
    expect(months()).to.deep.equal(['2026-11']);
  });

  it('is repeated while the queue does not answer, and sent for months without a process, oldest first', async () => {
    const { said, reporter, months } = stand();
    said.nowMs = Date.UTC(2027, 0, 20);
    said.refusesQueue = true;
    await reporter().look();
    expect(months()).to.deep.equal([]);
    said.refusesQueue = false;
    await reporter().look();
    expect(months()).to.deep.equal(['2026-11', '2026-12']);
  });

  it('is sent by the owner of the control shard alone', async () => {
    const { said, reporter, months } = stand();
    said.nowMs = Date.UTC(2026, 11, 1, 1);
    said.isOwner = false;
    await reporter().look();
    expect(months()).to.deep.equal([]);
  });

  it('waits while the statistics lack a part of the month', async () => {
    const { said, reporter, months, statistics } = stand();
    said.nowMs = Date.UTC(2026, 11, 1, 1);
    statistics.behind = { positions: 5, ms: 60_000 };
    await reporter().look();
    expect(months()).to.deep.equal([]);
    statistics.behind = undefined;
    await reporter().look();
    expect(months()).to.deep.equal(['2026-11']);
  });
});
