/** The conditions under which the owner of a queue shard hands the shard over. */
import { expect } from 'chai';
import { OwnerDuties, type OwnerDutiesPorts } from '../../../../src/actors/queue/index.js';
import { ManualTime } from '../../../support/memory/index.js';

describe('a queue shard that is handed over', () => {
  let time: ManualTime;
  let actor: { state: 'serving' | 'ended' };
  let plane: { attemptsInFlight: number; isLeaving: boolean; startNoMore(): void };
  let isOver: boolean;

  beforeEach(async () => {
    time = new ManualTime();
    actor = { state: 'serving' };
    plane = {
      attemptsInFlight: 1,
      isLeaving: false,
      startNoMore() {
        this.isLeaving = true;
      },
    };
    isOver = false;
    const duties = new OwnerDuties(
      { clock: time, timers: time } as Partial<OwnerDutiesPorts> as OwnerDutiesPorts,
      1000,
    );
    void duties.untilCallsHaveEnded(actor, plane).then(() => {
      isOver = true;
    });
    await time.advance(100);
  });

  it('starts no more calls, and waits for the open ones', async () => {
    expect(plane.isLeaving).to.equal(true);
    expect(isOver).to.equal(false);
    plane.attemptsInFlight = 0;
    await time.advance(20);
    expect(isOver).to.equal(true);
  });

  it('waits for a bounded time', async () => {
    await time.advance(850);
    expect(isOver).to.equal(false);
    await time.advance(70);
    expect(isOver).to.equal(true);
  });

  it('stops waiting when its actor has ended', async () => {
    actor.state = 'ended';
    await time.advance(20);
    expect(isOver).to.equal(true);
  });
});
