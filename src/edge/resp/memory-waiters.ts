/**
 * Connections that wait for room in the budget. The budget does not notify them, so they check again at intervals: in
 * order, and a few of each tenant at a time.
 *
 *  LIN1 no wait is longer than `maxWaitMs`: then the slowest reader of the same tenant is cut, or, if there is none,
 *       the wait ends without room
 */
import type { Clock, Timers } from '../../ports/index.js';
import type { SlowReaders } from './slow-readers.js';

const LOOK_AGAIN_MS = 10;
/** Waiters of one tenant that continue at each check: their use shows only after their answers. */
const ADMITTED_AT_ONCE = 4;

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

  /** @returns false if there was no room for too long, or the client has disconnected */
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
    const admitted = new Map<string, number>();
    for (const waiting of this.#waiting) {
      const { tenant, fits, isGone, untilMs, settle } = waiting;
      const count = admitted.get(tenant) ?? 0;
      const isOver = nowMs >= untilMs;
      let hasRoom = !isGone() && (isOver || count < ADMITTED_AT_ONCE) && fits();
      if (!hasRoom && !isOver && !isGone()) continue;
      if (!hasRoom && !isGone() && this.slowReaders.cutSlowest(tenant)) hasRoom = !isGone() && fits();
      if (hasRoom) admitted.set(tenant, count + 1);
      this.#waiting.delete(waiting);
      settle(hasRoom);
    }
    if (this.#waiting.size > 0) this.#lookLater();
  }
}
