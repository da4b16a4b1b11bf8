/**
 * Removes leftovers of interrupted work, regularly, in the process that owns the control shard. Each sweep itself
 * distinguishes real leftovers from work in progress.
 */
import { describeError } from '../../kernel/index.js';
import type { Log, Timer, Timers } from '../../ports/index.js';

export interface Sweep {
  /** The name in the log. */
  readonly name: string;
  readonly everyMs: number;
  /** @returns how many it removed */
  run(): Promise<number>;
}

export interface SweepsParts {
  readonly sweeps: readonly Sweep[];
  /** True when this process owns the control shard. */
  isOwner(): boolean;
  readonly timers: Timers;
  readonly log: Log;
}

export class Sweeps {
  #timers: readonly Timer[] = [];

  constructor(private readonly parts: SweepsParts) {}

  start(): void {
    const { sweeps, timers } = this.parts;
    this.#timers = sweeps.map((sweep) => timers.every(sweep.everyMs, () => this.#run(sweep)));
  }

  stop(): void {
    for (const timer of this.#timers) timer.cancel();
  }

  /** Never rejects: the next sweep repeats a failed one. */
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
