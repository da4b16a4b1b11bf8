/** Background work of a queue shard's owner: when it begins, while it serves, and before a move. */
import type { Clock } from '../../ports/index.js';
import type { ShardActor } from '../runtime/index.js';
import { IntakeFollower, type IntakeFollowerPorts } from './intake-follower.js';
import type { QueuePlane } from './queue-plane.js';
import type { QueueWork } from './queue-work.js';

export interface OwnerDutiesPorts extends Omit<IntakeFollowerPorts, 'submit'> {
  readonly clock: Clock;
}

/** Time between two checks whether the last calls of a shard have ended. */
const LAST_CALLS_LOOK_MS = 20;

export class OwnerDuties {
  constructor(
    private readonly ports: OwnerDutiesPorts,
    /** How long a move waits for calls in progress. */
    private readonly lastCallsMs: number,
  ) {}

  /** Accepts the messages of the intake while this actor serves. */
  takeOverIntake(actor: ShardActor<QueueWork>): void {
    const submit = (work: QueueWork) => actor.submit(work);
    const follower = new IntakeFollower({ ...this.ports, submit }, actor.shard);
    follower.start();
    void actor.ended.then(() => follower.stop());
  }

  /** Waits a bounded time for calls in progress, because the successor repeats an interrupted call. */
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
