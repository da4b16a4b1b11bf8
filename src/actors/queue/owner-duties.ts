/** What the owner of a shard of the queue does beside answering: at first, for as long as it serves, and at last. */
import type { Clock } from '../../ports/index.js';
import type { ShardActor } from '../runtime/index.js';
import { IntakeFollower, type IntakeFollowerPorts } from './intake-follower.js';
import type { QueuePlane } from './queue-plane.js';
import type { QueueWork } from './queue-work.js';

export interface OwnerDutiesPorts extends Omit<IntakeFollowerPorts, 'submit'> {
  readonly clock: Clock;
}

/** Between two looks whether the last calls of a shard have ended. */
const LAST_CALLS_LOOK_MS = 20;

export class OwnerDuties {
  constructor(
    private readonly ports: OwnerDutiesPorts,
    /** How long a shard that is handed over waits for the calls that it has begun. */
    private readonly lastCallsMs: number,
  ) {}

  /** What was told while nobody owned the shard is taken over for as long as this actor serves. */
  takeOverIntake(actor: ShardActor<QueueWork>): void {
    const submit = (work: QueueWork) => actor.submit(work);
    const follower = new IntakeFollower({ ...this.ports, submit }, actor.shard);
    follower.start();
    void actor.ended.then(() => follower.stop());
  }

  /** This waits for a while: a call that is cut off is made again by the successor. */
  async untilCallsHaveEnded(
    actor: Pick<ShardActor<QueueWork>, 'state'>,
    plane: Pick<QueuePlane, 'startNoMore' | 'attemptsInFlight'>,
  ): Promise<void> {
    const { clock, timers } = this.ports;
    plane.startNoMore();
    const endMs = clock.monotonicMs() + this.lastCallsMs;
    while (plane.attemptsInFlight > 0 && actor.state === 'serving' && clock.monotonicMs() < endMs) {
      await timers.pause(LAST_CALLS_LOOK_MS);
    }
  }
}
