/**
 * What is left behind by those who ended in the middle, looked for now and then by the process that owns the control
 * shard. Each sweep tells by itself what is surely left behind, and what only looks so at the moment.
 */
import { describeError } from '../../kernel/index.js';
import type { Log, Timer, Timers } from '../../ports/index.js';

export interface Sweep {
  /** As it stands in the log. */
  readonly name: string;
  readonly everyMs: number;
  /** @returns how many it removed */
  run(): Promise<number>;
}

export interface SweepsParts {
  readonly sweeps: readonly Sweep[];
  /** Does this process own the control shard? */
  isOwner(): boolean;
  readonly timers: Timers;
  readonly log: Log;
}

export class Sweeps {
  readonly #waiting = new Map<Sweep, Timer>();
  #isStopped = false;

  constructor(private readonly parts: SweepsParts) {}

  start(): void {
    for (const sweep of this.parts.sweeps) this.#later(sweep);
  }

  stop(): void {
    this.#isStopped = true;
    for (const timer of this.#waiting.values()) timer.cancel();
  }

  #later(sweep: Sweep): void {
    if (this.#isStopped) return;
    const timer = this.parts.timers.after(sweep.everyMs, () => void this.#run(sweep).then(() => this.#later(sweep)));
    this.#waiting.set(sweep, timer);
  }

  /** Never rejects: what failed is looked for the next time. */
  async #run({ name, run }: Sweep): Promise<void> {
    const { isOwner, log } = this.parts;
    if (!isOwner()) return;
    try {
      const removed = await run();
      if (removed > 0) log.info('sweep.removed', { what: name, removed });
    } catch (error) {
      log.warn('sweep.failed', { what: name, cause: describeError(error) });
    }
  }
}
