/** Proves QS1–QS4. */
import { expect } from 'chai';
import fc from 'fast-check';
import { type ControlClient, QuotaSlices } from '../../../../src/actors/control/index.js';
import { type ControlState, decide, evolve, utcDayOf } from '../../../../src/domain/control/index.js';
import { MillraceError } from '../../../../src/kernel/index.js';
import type { KvGrant } from '../../../../src/ports/index.js';
import { databaseCreated, db, INSTALLED, session, stateAfter } from '../../../spec/control/given.js';
import { repetitions } from '../../../support/depth.js';
import { ManualTime } from '../../../support/memory/index.js';
import { silentLog } from '../../../support/silent-log.js';

const DAY_MS = 86_400_000;
/** More than any limit here, so that a broken limit ends the test. */
const MOST = 3000;

function grantOf(maxRequestsPerDay: number): KvGrant {
  const limits = { maxCommandBytes: 4096, maxRequestsPerDay };
  return { database: db('q'), partitions: [], role: 'standard', user: 'default', limits };
}

function stateWith(maxRequestsPerDay: number): ControlState {
  return stateAfter(...INSTALLED, databaseCreated('q', { maxCommandBytes: 4096, maxRequestsPerDay }));
}

interface Owner extends ControlClient {
  asked: number;
}

function ownerOf(
  state: ControlState,
  time: ManualTime,
  before?: () => Promise<void>,
  after?: () => Promise<void>,
): Owner {
  const owner: Owner = {
    asked: 0,
    async send(command) {
      owner.asked += 1;
      await before?.();
      const { reply, events } = decide(command, state, { nowMs: time.nowMs() });
      for (const event of events) evolve(state, event);
      await after?.();
      return reply;
    },
  };
  return owner;
}

function slicesOf(client: ControlClient, time: ManualTime, name = 'a'): QuotaSlices {
  return new QuotaSlices({ client, clock: time, log: silentLog }, session(name));
}

const pauseOf = (scheduler: fc.Scheduler) => () => scheduler.schedule(Promise.resolve());

/** Takes one command at a time, until refused. @returns how many were let through */
async function takeUntilRefused(slices: QuotaSlices, grant: KvGrant): Promise<number> {
  let taken = 0;
  while (taken < MOST && (await slices.take(grant, 1))) taken += 1;
  return taken;
}

describe('quota slices', () => {
  it('let all commands through synchronously, without a request, where there is no limit', () => {
    const time = new ManualTime();
    const owner = ownerOf(stateWith(0), time);
    expect(slicesOf(owner, time).take(grantOf(0), 1_000_000)).to.equal(true);
    expect(owner.asked).to.equal(0);
  });

  it('answer synchronously from the held slice, and ask for more before it runs out', async () => {
    const time = new ManualTime();
    const owner = ownerOf(stateWith(1000), time);
    const slices = slicesOf(owner, time);
    const grant = grantOf(1000);
    expect(await slices.take(grant, 1)).to.equal(true);
    for (let i = 0; i < 900; i += 1) {
      expect(slices.take(grant, 1), `command ${i}`).to.equal(true);
      await time.advance(0);
    }
    expect(owner.asked).to.be.below(190);
  });

  it('ask once for all waiting commands together', async () => {
    const time = new ManualTime();
    const owner = ownerOf(stateWith(100), time);
    const slices = slicesOf(owner, time);
    const taken = await Promise.all(Array.from({ length: 150 }, () => slices.take(grantOf(100), 1)));
    expect(taken.filter(Boolean)).to.have.length(100);
    expect(owner.asked).to.be.below(10);
  });

  it('refuse a pipeline that is larger than the remaining quota, and let smaller ones through', async () => {
    const time = new ManualTime();
    const slices = slicesOf(ownerOf(stateWith(10), time), time);
    expect(await slices.take(grantOf(10), 8)).to.equal(true);
    expect(await slices.take(grantOf(10), 3)).to.equal(false);
    expect(await slices.take(grantOf(10), 2)).to.equal(true);
    expect(await slices.take(grantOf(10), 1)).to.equal(false);
  });

  it('cache a refusal for a second, or until the limit changes', async () => {
    const time = new ManualTime();
    const state = stateWith(1);
    const owner = ownerOf(state, time);
    const slices = slicesOf(owner, time);
    expect(await takeUntilRefused(slices, grantOf(1))).to.equal(1);
    const { asked } = owner;
    expect(slices.take(grantOf(1), 1)).to.equal(false);
    expect(owner.asked).to.equal(asked);
    await time.advance(1001);
    expect(await slices.take(grantOf(1), 1)).to.equal(false);
    expect(owner.asked).to.equal(asked + 1);
    evolve(state, {
      type: 'LimitsUpdated',
      database: db('q'),
      limits: { maxCommandBytes: 4096, maxRequestsPerDay: 2 },
      atMs: 0,
    });
    expect(await slices.take(grantOf(2), 1)).to.equal(true);
  });

  it('start again with a full quota on a new day', async () => {
    const time = new ManualTime();
    const slices = slicesOf(ownerOf(stateWith(5), time), time);
    expect(await takeUntilRefused(slices, grantOf(5))).to.equal(5);
    time.jumpWallClock(DAY_MS);
    expect(await takeUntilRefused(slices, grantOf(5))).to.equal(5);
  });

  it('return their unused quota for other processes', async () => {
    const time = new ManualTime();
    const state = stateWith(1000);
    const owner = ownerOf(state, time);
    const [one, two] = [slicesOf(owner, time, 'one'), slicesOf(owner, time, 'two')];
    expect(await one.take(grantOf(1000), 3)).to.equal(true);
    await one.giveBack();
    expect(state.quotaOf(db('q'), utcDayOf(time.nowMs()))?.charged).to.equal(3);
    expect(await takeUntilRefused(two, grantOf(1000))).to.equal(997);
  });

  it('return their quota after a long silence, before they let a command through', async () => {
    const time = new ManualTime();
    const state = stateWith(1000);
    const slices = slicesOf(ownerOf(state, time), time);
    expect(await slices.take(grantOf(1000), 1)).to.equal(true);
    // The process was taken for dead during the silence; nine of ten units are free again.
    evolve(state, { type: 'SessionEnded', session: session('a'), atMs: 0 });
    slices.backInTouch(60_000);
    expect(slices.take(grantOf(1000), 1)).to.not.equal(true);
    await time.advance(0);
    const { charged } = state.quotaOf(db('q'), utcDayOf(time.nowMs()))!;
    expect(charged).to.be.at.least(1);
  });

  it('fail waiting commands when the owner does not answer, and ask again for the next one', async () => {
    const time = new ManualTime();
    const owner = ownerOf(stateWith(1), time);
    let isDown = true;
    const client: ControlClient = {
      send: (command) =>
        isDown ? Promise.reject(new MillraceError('SHARD_UNAVAILABLE', 'down')) : owner.send(command),
    };
    const slices = slicesOf(client, time);
    const outcome = await Promise.resolve(slices.take(grantOf(1), 1)).catch((error: MillraceError) => error.code);
    expect(outcome).to.equal('SHARD_UNAVAILABLE');
    isDown = false;
    expect(await slices.take(grantOf(1), 1)).to.equal(true);
  });

  it('let exactly the limit through, in any order of requests', () =>
    fc.assert(
      fc.asyncProperty(fc.scheduler(), fc.integer({ min: 1, max: 700 }), async (scheduler, limit) => {
        const time = new ManualTime();
        const owner = ownerOf(stateWith(limit), time, pauseOf(scheduler), pauseOf(scheduler));
        const holders = ['a', 'b', 'c'].map((name) => takeUntilRefused(slicesOf(owner, time, name), grantOf(limit)));
        const all = Promise.all(holders);
        const counts = await scheduler.waitFor(all);
        expect(counts.reduce((sum, count) => sum + count, 0)).to.equal(limit);
      }),
      { numRuns: repetitions(40) },
    ));

  it('never let more than the limit through when answers are lost or late, slices are returned and pipelines are mixed in', () =>
    fc.assert(
      fc.asyncProperty(
        fc.scheduler(),
        fc.integer({ min: 1, max: 400 }),
        fc.array(
          fc.record({
            who: fc.nat(2),
            commands: fc.integer({ min: 1, max: 30 }),
            act: fc.constantFrom('take', 'take', 'return'),
          }),
          { minLength: 20, maxLength: 120 },
        ),
        fc.infiniteStream(fc.integer({ min: 0, max: 9 })),
        async (scheduler, limit, steps, dice) => {
          const time = new ManualTime();
          const owner = ownerOf(stateWith(limit), time, pauseOf(scheduler), pauseOf(scheduler));
          // A request is executed even if its caller has stopped waiting, sometimes much later.
          const client: ControlClient = {
            send: (command) => {
              const answer = owner.send(command);
              if (dice.next().value > 1) return answer;
              return pauseOf(scheduler)().then(() => Promise.reject(new MillraceError('TIMED_OUT', 'lost')));
            },
          };
          const holders = ['a', 'b', 'c'].map((name) => slicesOf(client, time, name));
          let through = 0;
          const run = async ({ who, commands, act }: (typeof steps)[number]) => {
            const slices = holders[who] as QuotaSlices;
            if (act === 'return') return slices.giveBack();
            const isTaken = await Promise.resolve(slices.take(grantOf(limit), commands)).catch(() => false);
            if (isTaken) through += commands;
          };
          const all = Promise.all(steps.map(run));
          await scheduler.waitFor(all);
          expect(through).to.be.at.most(limit);
        },
      ),
      { numRuns: repetitions(150) },
    ));
});
