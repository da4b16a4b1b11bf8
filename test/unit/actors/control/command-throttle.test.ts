/** Proves CT1–CT5. */
import { expect } from 'chai';
import fc from 'fast-check';
import { AllowedNetworks } from '../../../../src/actors/control/allowed-networks.js';
import {
  CommandThrottle,
  MAX_THROTTLED_BYTES,
  MAX_WAIT_MS,
  MAX_WAITING_REQUESTS,
} from '../../../../src/actors/control/command-throttle.js';
import { SLOWED_COMMANDS_PER_SECOND } from '../../../../src/actors/control/database-pace.js';
import {
  type ControlState,
  type DatabaseLimits,
  type DatabaseSettings,
  DEFAULT_DATABASE_SETTINGS,
  evolve,
  utcDayOf,
} from '../../../../src/domain/control/index.js';
import { NO_PRICES, type Prices } from '../../../../src/domain/statistics/index.js';
import { isMillraceError } from '../../../../src/kernel/index.js';
import type { KvGrant } from '../../../../src/ports/index.js';
import { databaseCreated, db, INSTALLED, LIMITS, stateAfter } from '../../../spec/control/given.js';
import { repetitions } from '../../../support/depth.js';
import { ManualTime } from '../../../support/memory/index.js';
import { silentLog } from '../../../support/silent-log.js';

const BURST_MS = 100;
const PRICES: Prices = { ...NO_PRICES, kv: { ...NO_PRICES.kv, centsPer100kCommands: 20 } };

class Stand {
  readonly time = new ManualTime();
  readonly state: ControlState;
  /** The current grant after a change. */
  renewed: KvGrant | undefined;
  readonly view = {
    state: undefined as unknown as ControlState,
    version: 1,
    renewed: () => this.renewed,
  };
  readonly usedUp: string[] = [];
  dailyLeft = Number.POSITIVE_INFINITY;
  /** The times at which requests were let through, in order. */
  readonly letThrough: { readonly atMs: number; readonly commands: number; readonly mark: number }[] = [];
  refused = 0;
  readonly throttle: CommandThrottle;
  readonly grant: KvGrant;

  constructor(limits: Partial<DatabaseLimits> = {}) {
    const all = { ...LIMITS, ...limits };
    this.state = stateAfter(...INSTALLED, databaseCreated('d', all));
    this.view.state = this.state;
    this.grant = { database: db('d'), partitions: [], role: 'standard', user: 'default', limits: all };
    this.renewed = this.grant;
    this.throttle = new CommandThrottle(
      {
        clock: this.time,
        timers: this.time,
        log: silentLog,
        view: this.view,
        daily: {
          take: (_grant, commands) => {
            if (commands > this.dailyLeft) return false;
            this.dailyLeft -= commands;
            return true;
          },
        },
        onBandwidthUsedUp: (database) => this.usedUp.push(database),
      },
      PRICES,
    );
  }

  limit(limits: Partial<DatabaseLimits>): void {
    const all = { ...LIMITS, ...limits };
    evolve(this.state, { type: 'LimitsUpdated', database: db('d'), limits: all, atMs: this.time.nowMs() });
    this.view.version += 1;
  }

  set(settings: Partial<DatabaseSettings>): void {
    const all = { ...DEFAULT_DATABASE_SETTINGS, ...settings };
    evolve(this.state, { type: 'DatabaseSettingsSet', database: db('d'), settings: all, atMs: this.time.nowMs() });
    this.view.version += 1;
  }

  /** Adds usage like the meter, with a delay and without a change of the grant. */
  use(used: { readonly commands?: number; readonly bytesIn?: number; readonly bytesOut?: number }, daysAgo = 0): void {
    const none = { commands: 0, writes: 0, errors: 0, bytesIn: 0, bytesOut: 0 };
    this.state.setUsage(db('d'), utcDayOf(this.time.nowMs()) - daysAgo, { ...none, ...used });
  }

  async take(commands = 1, bytes = 0, mark = 0): Promise<boolean | 'refused'> {
    try {
      const taken = await this.throttle.take(this.grant, commands, bytes);
      if (taken) this.letThrough.push({ atMs: this.time.monotonicMs(), commands, mark });
      return taken;
    } catch (error) {
      if (!isMillraceError(error, 'RATE_LIMITED')) throw error;
      this.refused += 1;
      return 'refused';
    }
  }

  get commands(): number {
    return this.letThrough.reduce((sum, { commands }) => sum + commands, 0);
  }
}

describe('the command throttle', () => {
  it('answers synchronously, without a promise, where there is no limit', () => {
    const { throttle, grant, time } = new Stand();
    for (let i = 0; i < 100_000; i += 1) expect(throttle.take(grant, 10)).to.equal(true);
    expect(time.pendingCount).to.equal(0);
  });

  it('answers synchronously below the rate, also for a burst after a pause', async () => {
    const { throttle, grant, time } = new Stand({ maxCommandsPerSecond: 100 });
    for (let second = 0; second < 5; second += 1) {
      for (let i = 0; i < 10; i += 1) expect(throttle.take(grant, 1)).to.equal(true);
      await time.advance(1000);
    }
    expect(time.pendingCount).to.equal(0);
  });

  it('delays requests above the rate and lets them through in order, without an error', async () => {
    const stand = new Stand({ maxCommandsPerSecond: 100 });
    for (let mark = 0; mark < 200; mark += 1) void stand.take(1, 0, mark);
    await stand.time.advance(1000);
    expect(stand.commands).to.be.within(105, 112);
    await stand.time.advance(1000);
    expect(stand.commands).to.equal(200);
    expect(stand.refused).to.equal(0);
    expect(stand.letThrough.map(({ mark }) => mark)).to.deep.equal(Array.from({ length: 200 }, (_, at) => at));
    expect(stand.time.pendingCount).to.equal(0);
  });

  it('runs a large request whole, and delays later requests for longer', async () => {
    const stand = new Stand({ maxCommandsPerSecond: 100 });
    expect(await stand.take(200)).to.equal(true);
    void stand.take(1);
    await stand.time.advance(1800);
    expect(stand.commands).to.equal(200);
    await stand.time.advance(200);
    expect(stand.commands).to.equal(201);
  });

  it('never lets more through than rate, burst and one request allow, and each request in turn', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 2000 }),
        fc.array(fc.record({ pauseMs: fc.integer({ min: 0, max: 300 }), commands: fc.integer({ min: 1, max: 60 }) }), {
          minLength: 1,
          maxLength: 60,
        }),
        async (rate, requests) => {
          const stand = new Stand({ maxCommandsPerSecond: rate });
          for (const [mark, { pauseMs, commands }] of requests.entries()) {
            await stand.time.advance(pauseMs);
            void stand.take(commands, commands, mark);
          }
          await stand.time.advance(MAX_WAIT_MS + 1000);
          const { letThrough } = stand;
          expect(letThrough.length + stand.refused).to.equal(requests.length);
          expect(letThrough.map(({ mark }) => mark)).to.deep.equal(
            letThrough.map(({ mark }) => mark).sort((a, b) => a - b),
          );
          for (let from = 0; from < letThrough.length; from += 1) {
            let before = 0;
            for (let to = from; to < letThrough.length; to += 1) {
              const { atMs, commands } = letThrough[to] as (typeof letThrough)[number];
              const spanMs = atMs - (letThrough[from]?.atMs ?? 0);
              expect(before).to.be.at.most(((spanMs + BURST_MS) * rate) / 1000 + 0.001);
              before += commands;
            }
          }
          expect(stand.time.pendingCount).to.equal(0);
        },
      ),
      { numRuns: repetitions(60) },
    );
  });

  it('refuses requests that would wait longer than the bound, and accepts new ones later', async () => {
    const stand = new Stand({ maxCommandsPerSecond: 10 });
    await stand.take(60);
    expect(await stand.take()).to.equal('refused');
    await stand.time.advance(1000);
    void stand.take();
    await stand.time.advance(MAX_WAIT_MS);
    expect(stand.commands).to.equal(61);
  });

  it('bounds the number of waiting requests', async () => {
    const stand = new Stand({ maxCommandsPerSecond: 10_000 });
    await stand.take(1200);
    for (let i = 0; i < MAX_WAITING_REQUESTS; i += 1) void stand.take();
    expect(stand.throttle.waiting).to.equal(MAX_WAITING_REQUESTS);
    expect(await stand.take()).to.equal('refused');
    await stand.time.advance(1000);
    expect(stand.throttle.waiting).to.equal(0);
    expect(await stand.take()).to.equal(true);
  });

  it('bounds the bytes of waiting requests', async () => {
    const stand = new Stand({ maxCommandsPerSecond: 10 });
    await stand.take(11);
    void stand.take(1, MAX_THROTTLED_BYTES - 1);
    expect(await stand.take(1, 2)).to.equal('refused');
    void stand.take(1, 1);
    expect(stand.throttle.waiting).to.equal(2);
    await stand.time.advance(2000);
    expect(stand.throttle.waiting).to.equal(0);
    void stand.take(20, 0);
    void stand.take(1, MAX_THROTTLED_BYTES);
    expect(stand.refused).to.equal(1);
  });

  it('applies a changed rate within a moment, also to waiting requests', async () => {
    const stand = new Stand({ maxCommandsPerSecond: 1 });
    await stand.take(5);
    for (let i = 0; i < 1; i += 1) void stand.take();
    await stand.time.advance(500);
    expect(stand.commands).to.equal(5);
    stand.limit({ maxCommandsPerSecond: 1000 });
    await stand.time.advance(250);
    expect(stand.commands).to.equal(6);
    stand.limit({ maxCommandsPerSecond: 0 });
    for (let i = 0; i < 50; i += 1) expect(stand.throttle.take(stand.grant, 1000)).to.equal(true);
  });

  it('refuses waiting requests when their database is suspended', async () => {
    const stand = new Stand({ maxCommandsPerSecond: 10 });
    await stand.take(20);
    const waiting = stand.take();
    stand.set({ isSuspended: true });
    await stand.time.advance(250);
    expect(await waiting).to.equal('refused');
    expect(stand.commands).to.equal(20);
  });

  const changes: Readonly<Record<string, [(grant: KvGrant) => KvGrant | undefined, boolean | 'refused']>> = {
    'its token is gone': [() => undefined, 'refused'],
    'its user may do less': [(grant) => ({ ...grant, rules: '-@all' }), 'refused'],
    'it is a reader now': [(grant) => ({ ...grant, role: 'read-only' }), 'refused'],
    'others are let in': [(grant) => ({ ...grant, networks: new AllowedNetworks(['10.0.0.1']) }), 'refused'],
    'its database is suspended': [(grant) => ({ ...grant, isSuspended: true }), 'refused'],
    'only a limit was changed': [(grant) => ({ ...grant, limits: { ...grant.limits, maxConnections: 1 } }), true],
  };
  for (const [cause, [change, outcome]] of Object.entries(changes)) {
    it(`${outcome === true ? 'lets' : 'does not let'} a waiting request through when ${cause}`, async () => {
      const stand = new Stand({ maxCommandsPerSecond: 10 });
      await stand.take(20);
      const waiting = stand.take();
      stand.renewed = change(stand.grant);
      await stand.time.advance(3000);
      expect(await waiting).to.equal(outcome);
    });
  }

  it('checks the daily limit when the turn of a request comes, and returns that result', async () => {
    const stand = new Stand({ maxCommandsPerSecond: 100 });
    stand.dailyLeft = 21;
    await stand.take(21);
    const late = stand.take();
    await stand.time.advance(1000);
    expect(await late).to.equal(false);
  });

  it('applies a separate rate to each database', async () => {
    const stand = new Stand({ maxCommandsPerSecond: 10 });
    await stand.take(40);
    expect(stand.throttle.take({ ...stand.grant, database: db('first') }, 1000)).to.equal(true);
  });

  it('refuses waiting requests once it is stopped', async () => {
    const stand = new Stand({ maxCommandsPerSecond: 10 });
    await stand.take(20);
    const waiting = stand.take();
    stand.throttle.stop();
    expect(await waiting).to.equal('refused');
    expect(stand.time.pendingCount).to.equal(0);
  });

  describe('the command throttle at monthly limits', () => {
    it('slows a database down above its bandwidth, in and out together, until the next month', async () => {
      const stand = new Stand({ maxBytesPerMonth: 1000 });
      stand.use({ bytesIn: 400, bytesOut: 599 });
      expect(stand.throttle.take(stand.grant, 1000)).to.equal(true);
      stand.use({ bytesIn: 400, bytesOut: 600 });
      await stand.time.advance(1000);
      expect(stand.throttle.take(stand.grant, 1)).to.equal(true);
      expect(stand.usedUp).to.deep.equal([db('d')]);
      for (let i = 0; i < 30; i += 1) void stand.take();
      await stand.time.advance(1000);
      expect(stand.commands).to.be.within(SLOWED_COMMANDS_PER_SECOND - 1, SLOWED_COMMANDS_PER_SECOND + 1);
      await stand.time.advance(31 * 86_400_000);
      for (let i = 0; i < 100; i += 1) expect(stand.throttle.take(stand.grant, 1000)).to.equal(true);
    });

    it('counts the current month alone', async () => {
      const stand = new Stand({ maxBytesPerMonth: 1000 });
      // The clock begins on the first day of a month.
      stand.use({ bytesIn: 5000 }, 1);
      for (let i = 0; i < 100; i += 1) expect(stand.throttle.take(stand.grant, 1000)).to.equal(true);
      await stand.time.advance(30 * 86_400_000);
      stand.use({ bytesIn: 999 }, 30);
      for (let i = 0; i < 100; i += 1) expect(stand.throttle.take(stand.grant, 1000)).to.equal(true);
      stand.use({ bytesIn: 1 });
      await stand.time.advance(1000);
      await stand.take(20);
      expect(stand.throttle.take(stand.grant, 1)).to.be.a('promise');
      stand.throttle.stop();
    });

    it('slows a database down at its budget, and not before', async () => {
      const stand = new Stand();
      stand.set({ budgetDollars: 1 });
      stand.use({ commands: 499_999 });
      expect(stand.throttle.take(stand.grant, 1000)).to.equal(true);
      stand.use({ commands: 500_000 });
      await stand.time.advance(1000);
      await stand.take(SLOWED_COMMANDS_PER_SECOND);
      for (let i = 0; i < 30; i += 1) void stand.take();
      await stand.time.advance(2000);
      expect(stand.commands).to.be.within(2 * SLOWED_COMMANDS_PER_SECOND, 3 * SLOWED_COMMANDS_PER_SECOND);
      expect(stand.usedUp).to.deep.equal([]);
      stand.set({ budgetDollars: 2 });
      await stand.time.advance(250);
      expect(stand.throttle.take(stand.grant, 1000)).to.equal(true);
    });

    it('does not make a slow database faster', async () => {
      const stand = new Stand({ maxCommandsPerSecond: 2, maxBytesPerMonth: 10 });
      stand.use({ bytesIn: 10 });
      await stand.take(2);
      for (let i = 0; i < 5; i += 1) void stand.take();
      await stand.time.advance(1000);
      expect(stand.commands).to.be.within(2, 4);
      stand.throttle.stop();
    });
  });
});
