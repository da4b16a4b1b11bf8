/** Puts away what nobody has asked for: now and then each owner here is told to look through its partitions. */
import type { Clock, Timer, Timers } from '../../ports/index.js';
import type { KvPlane } from './kv-plane.js';

/** A tenth of the time after which a partition counts as idle. */
const EVERY_MS = 60_000;

export interface PassivationParts {
  readonly clock: Clock;
  readonly timers: Timers;
  planes(): Iterable<{ readonly plane: Pick<KvPlane, 'passivateIdle'> }>;
}

export class Passivation {
  #timer: Timer | undefined;

  constructor(private readonly parts: PassivationParts) {}

  start(): void {
    this.#timer = this.parts.timers.every(EVERY_MS, () => {
      for (const { plane } of this.parts.planes()) plane.passivateIdle(this.parts.clock.nowMs());
    });
  }

  stop(): void {
    this.#timer?.cancel();
  }
}
