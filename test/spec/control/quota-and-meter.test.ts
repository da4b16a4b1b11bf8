/** Proves QU1, QU2, CST3. */
import { expect } from 'chai';
import type { ControlCommand, ControlEvent } from '../../../src/domain/control/index.js';
import {
  databaseCreated,
  db,
  given,
  INSTALLED,
  lease,
  metered,
  NOW_MS,
  reserved,
  session,
  stateAfter,
  TODAY,
  usedBy,
} from './given.js';

const giveBack = (who: string, known: number, unused: number): ControlCommand => ({
  type: 'ReturnQuota',
  session: session(who),
  database: db('first'),
  day: TODAY,
  known,
  unused,
});
const ended = (who: string): ControlEvent => ({ type: 'SessionEnded', session: session(who), atMs: NOW_MS });
const record = (position: number, who: string, number: number, commands: number, day = TODAY) => ({
  position,
  session: session(who),
  number,
  day,
  rows: [{ database: db('first'), commands, writes: 1, errors: 0, bytesIn: 1, bytesOut: 2 }],
});
const fold = (after: number, ...records: ReturnType<typeof record>[]): ControlCommand => ({
  type: 'FoldMeter',
  after,
  position: records.at(-1)?.position ?? after,
  records,
});

describe('control: leasing quota', () => {
  it('grants the requested amount, and charges it immediately', () => {
    given(...INSTALLED)
      .when(lease('a', 10))
      .then(reserved('a', 10))
      .answers({ type: 'QuotaLeased', granted: 10 });
  });

  it('adds a second grant to the first', () => {
    given(...INSTALLED, reserved('a', 10))
      .when(lease('a', 5, 10))
      .then(reserved('a', 15))
      .answers({ type: 'QuotaLeased', granted: 5 });
  });

  it('grants the remaining amount when it is less than requested, then 0', () => {
    given(...INSTALLED, reserved('a', 990))
      .when(lease('b', 100))
      .then(reserved('b', 10))
      .answers({ type: 'QuotaLeased', granted: 10 });
    given(...INSTALLED, reserved('a', 1000))
      .when(lease('b', 100))
      .then()
      .answers({ type: 'QuotaLeased', granted: 0 });
  });

  it('grants the amount of a lost answer again, without charging it twice', () => {
    given(...INSTALLED, reserved('a', 1000))
      .when(lease('a', 20, 980))
      .then()
      .answers({ type: 'QuotaLeased', granted: 20 });
    given(...INSTALLED, reserved('a', 100))
      .when(lease('a', 30, 90))
      .then(reserved('a', 120))
      .answers({ type: 'QuotaLeased', granted: 30 });
  });

  it('grants everything and charges no quota where there is no limit', () => {
    const unlimited: ControlEvent = {
      type: 'LimitsUpdated',
      database: db('first'),
      limits: { maxCommandBytes: 4096, maxRequestsPerDay: 0 },
      atMs: NOW_MS,
    };
    given(...INSTALLED, unlimited)
      .when(lease('a', 10))
      .then()
      .answers({ type: 'QuotaLeased', granted: 10 });
  });

  it('counts each day separately', () => {
    given(...INSTALLED, reserved('a', 1000, 'first', TODAY - 1))
      .when(lease('a', 10))
      .answers({ type: 'QuotaLeased', granted: 10 });
  });

  it('accepts a clock that is a day off, and no more', () => {
    given(...INSTALLED)
      .when(lease('a', 10, 0, TODAY + 1))
      .answers({ type: 'QuotaLeased', granted: 10 });
    given(...INSTALLED)
      .when(lease('a', 10, 0, TODAY + 2))
      .refuses('DAY_CLOSED');
    given(...INSTALLED)
      .when(lease('a', 10, 0, TODAY - 2))
      .refuses('DAY_CLOSED');
  });

  it('refuses an unknown database', () => {
    given().when(lease('a', 10)).refuses('UNKNOWN_DATABASE');
  });

  it('charges usage from before the limit existed', () => {
    given(...INSTALLED, metered(1, usedBy('a', 995)))
      .when(lease('a', 10))
      .answers({ type: 'QuotaLeased', granted: 5 });
  });
});

describe('control: returning quota', () => {
  it('frees the unused amount', () => {
    given(...INSTALLED, reserved('a', 1000))
      .when(giveBack('a', 1000, 700))
      .then(reserved('a', 300))
      .answers({ type: 'QuotaReturned', reserved: 300 });
  });

  it('has no effect when it is repeated, late, or without a lease', () => {
    given(...INSTALLED, reserved('a', 300))
      .when(giveBack('a', 1000, 700))
      .then()
      .answers({ type: 'QuotaReturned', reserved: 300 });
    given(...INSTALLED)
      .when(giveBack('a', 5, 5))
      .then()
      .answers({ type: 'QuotaReturned', reserved: 0 });
  });
});

describe('control: the end of a session', () => {
  it('returns its leases, except the usage that the meter shows', () => {
    given(...INSTALLED, reserved('a', 1000), metered(1, usedBy('a', 400)))
      .when({ type: 'EndSession', session: session('a') })
      .then(ended('a'));
    given(...INSTALLED, reserved('a', 1000), metered(1, usedBy('a', 400)), ended('a'))
      .when(lease('b', 1000))
      .answers({ type: 'QuotaLeased', granted: 600 });
  });

  it('charges the usage of a later record', () => {
    given(...INSTALLED, reserved('a', 1000), ended('a'), metered(1, usedBy('a', 400)))
      .when(lease('b', 1000))
      .answers({ type: 'QuotaLeased', granted: 600 });
  });

  it('journals no event without a lease', () => {
    given(...INSTALLED)
      .when({ type: 'EndSession', session: session('a') })
      .then()
      .answers({ type: 'SessionIsOver' });
  });
});

describe('control: counting the meter', () => {
  it('adds up records by database, day and process', () => {
    const { events } = given(...INSTALLED).when(
      fold(0, record(1, 'a', 1, 5), record(2, 'a', 2, 6), record(3, 'b', 1, 7)),
    );
    const [happened] = events as [Extract<ControlEvent, { type: 'MeterFolded' }>];
    expect(happened.position).to.equal(3);
    expect(happened.rows.map(({ session, commands, writes }) => [session, commands, writes])).to.deep.equal([
      ['node-a', 11, 2],
      ['node-b', 7, 1],
    ]);
    expect(happened.marks.map(({ session, number }) => [session, number])).to.deep.equal([
      ['node-a', 2],
      ['node-b', 1],
    ]);
  });

  it('counts a record once that was stored twice, in one command or in two', () => {
    const twice = given(...INSTALLED).when(fold(0, record(1, 'a', 1, 5), record(2, 'a', 1, 5)));
    expect(stateAfter(...INSTALLED, ...twice.events).usageOf(db('first'), TODAY).commands).to.equal(5);
    const state = given(...INSTALLED, ...twice.events).when(fold(2, record(3, 'a', 1, 5), record(4, 'a', 2, 1)));
    const all = stateAfter(...INSTALLED, ...twice.events, ...state.events);
    expect(all.usageOf(db('first'), TODAY).commands).to.equal(6);
    expect(all.meterPosition).to.equal(4);
  });

  it('ignores a repeated command, and counts the new part of an overlapping one', () => {
    const first = given(...INSTALLED).when(fold(0, record(1, 'a', 1, 5))).events;
    given(...INSTALLED, ...first)
      .when(fold(0, record(1, 'a', 1, 5)))
      .then()
      .answers({ type: 'MeterIsFolded', position: 1 });
    const rest = given(...INSTALLED, ...first).when(fold(0, record(1, 'a', 1, 5), record(2, 'a', 2, 2))).events;
    expect(stateAfter(...INSTALLED, ...first, ...rest).usageOf(db('first'), TODAY).commands).to.equal(7);
  });

  it('counts no record after a gap', () => {
    given(...INSTALLED)
      .when(fold(5, record(6, 'a', 1, 5)))
      .then()
      .answers({ type: 'MeterIsFolded', position: 0 });
  });

  it('skips unknown databases', () => {
    const { events } = given(databaseCreated('other')).when(fold(0, record(1, 'a', 1, 5)));
    expect(events[0]).to.deep.include({ type: 'MeterFolded', position: 1, rows: [] });
  });

  it('does not let a clock in the future end today', () => {
    const { events } = given(...INSTALLED, reserved('a', 1000)).when(fold(0, record(1, 'b', 1, 5, TODAY + 5000)));
    given(...INSTALLED, reserved('a', 1000), ...events)
      .when(lease('c', 1))
      .answers({ type: 'QuotaLeased', granted: 0 });
  });

  it('counts a large fold in parts, and advances with each', () => {
    const rows = Array.from({ length: 3000 }, (_, i) => ({ ...record(1, 'a', 1, 1).rows[0]!, database: db(`n${i}`) }));
    const installed = [...INSTALLED, ...rows.map((_, i) => databaseCreated(`n${i}`))];
    const records = [1, 2, 3].map((position) => ({ ...record(position, 'a', position, 1), rows }));
    const happened: ControlEvent[] = [];
    for (let turn = 0; turn < 3; turn += 1) {
      const after = stateAfter(...installed, ...happened).meterPosition;
      happened.push(...given(...installed, ...happened).when(fold(after, ...records)).events);
    }
    const state = stateAfter(...installed, ...happened);
    expect(state.meterPosition).to.equal(3);
    expect(state.usageOf(db('n7'), TODAY).commands).to.equal(3);
  });

  it('forgets leases and counts of old days', () => {
    const state = stateAfter(
      ...INSTALLED,
      reserved('a', 10, 'first', TODAY - 40),
      metered(1, usedBy('a', 1, 'first', TODAY - 40)),
      metered(2, usedBy('a', 1)),
    );
    expect([...(state.quotas.get(db('first'))?.keys() ?? [])]).to.deep.equal([TODAY]);
    expect([...(state.usage.get(db('first'))?.keys() ?? [])]).to.deep.equal([TODAY]);
  });
});
