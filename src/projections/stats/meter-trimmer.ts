/**
 * Lets go of the front of the meter's log: what is in two snapshots of the statistics, and counted by the control state.
 * Every process that keeps statistics does so; whatever one of them lets go of, all can do without.
 */
import { describeError } from '../../kernel/index.js';
import { METER_SHARD } from '../../messages/index.js';
import type { Journal, Log, Timer, Timers } from '../../ports/index.js';

export interface MeterTrimmerParts {
  readonly journal: Pick<Journal, 'tail' | 'truncateFront'>;
  readonly timers: Timers;
  readonly log: Log;
  /** Up to where snapshots have the log; 0: nowhere. */
  coveredUpTo(): number;
  /** Up to where the control state, as it is stored, has counted it; 0 where that is not known yet. */
  countedUpTo(): number;
}

/** Far more seldom than snapshots are made at their most frequent. */
const EVERY_MS = 5000;

export class MeterTrimmer {
  #timer: Timer | undefined;
  #trimmedUpTo = 0;
  #hasFailed = false;

  constructor(
    private readonly parts: MeterTrimmerParts,
    private readonly everyMs = EVERY_MS,
  ) {}

  start(): void {
    this.#timer = this.parts.timers.every(this.everyMs, () => this.trim());
  }

  stop(): void {
    this.#timer?.cancel();
  }

  /** Never rejects: what failed is done the next time. */
  async trim(): Promise<void> {
    const { journal, log } = this.parts;
    const upTo = Math.min(this.parts.coveredUpTo(), this.parts.countedUpTo());
    if (upTo <= this.#trimmedUpTo) return;
    try {
      // The last record that is not needed stays: no log of ours is ever emptied.
      const { first } = await journal.tail(METER_SHARD);
      if (first < upTo) {
        await journal.truncateFront(METER_SHARD, upTo);
        log.debug('meter.trimmed', { from: first, to: upTo - 1 });
      }
      this.#trimmedUpTo = upTo;
      this.#hasFailed = false;
    } catch (error) {
      if (!this.#hasFailed) log.warn('meter.not-trimmed', { upTo, cause: describeError(error) });
      this.#hasFailed = true;
    }
  }
}
