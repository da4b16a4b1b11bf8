/**
 * Connections that wait until there is room for what they are about to hold. There is no word when bytes are given
 * back: those who wait look again, in their order, some of each tenant at a time.
 *
 *  LIN1 nobody waits longer than `maxWaitMs`: then somebody of the same tenant who does not read is in the way, and is
 *       cut, or there is none, and it is told that there is no room
 */
import type { Clock, Timers } from '../../ports/index.js';
import type { SlowReaders } from './slow-readers.js';

const LOOK_AGAIN_MS = 10;
/** So many of one tenant go on at each look: what they take shows only when they have been answered. */
const LET_IN_AT_ONCE = 4;

interface Waiting {
  readonly tenant: string;
  readonly fits: () => boolean;
  readonly isGone: () => boolean;
  readonly untilMs: number;
  readonly settle: (hasRoom: boolean) => void;
}

export class MemoryWaiters {
  readonly #waiting = new Set<Waiting>();

  constructor(
    private readonly clock: Clock,
    private readonly timers: Timers,
    private readonly maxWaitMs: number,
    private readonly slowReaders: SlowReaders,
  ) {}

  /** @returns false when there was no room for too long, or nobody is there any more to use it */
  wait(tenant: string, fits: () => boolean, isGone: () => boolean): Promise<boolean> {
    return new Promise((settle) => {
      if (this.#waiting.size === 0) this.#lookLater();
      const untilMs = this.clock.monotonicMs() + this.maxWaitMs;
      this.#waiting.add({ tenant, fits, isGone, untilMs, settle });
    });
  }

  #lookLater(): void {
    this.timers.after(LOOK_AGAIN_MS, () => this.#look());
  }

  #look(): void {
    const nowMs = this.clock.monotonicMs();
    const letIn = new Map<string, number>();
    for (const waiting of this.#waiting) {
      const { tenant, fits, isGone, untilMs, settle } = waiting;
      const count = letIn.get(tenant) ?? 0;
      const isOver = nowMs >= untilMs;
      let hasRoom = !isGone() && (isOver || count < LET_IN_AT_ONCE) && fits();
      if (!hasRoom && !isOver && !isGone()) continue;
      if (!hasRoom && !isGone() && this.slowReaders.cutSlowest(tenant)) hasRoom = !isGone() && fits();
      if (hasRoom) letIn.set(tenant, count + 1);
      this.#waiting.delete(waiting);
      settle(hasRoom);
    }
    if (this.#waiting.size > 0) this.#lookLater();
  }
}
