/**
 * Removes the front of the meter's log that is in two snapshots of the statistics and counted by the control state.
 * Each process with statistics may do so, because no process needs those records any more.
 */
import { describeError } from '../../kernel/index.js';
import type { Journal, Log, Timer, Timers } from '../../ports/index.js';
import { METER_SHARD } from '../../protocol/index.js';

export interface MeterTrimmerParts {
  readonly journal: Pick<Journal, 'tail' | 'truncateFront'>;
  readonly timers: Timers;
  readonly log: Log;
  /** The position up to which snapshots have the log; 0: none. */
  coveredUpTo(): number;
  /** The position up to which the stored control state has counted the log; 0: unknown. */
  countedUpTo(): number;
}

/** Far less often than snapshots are made at most. */
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

  /** Never rejects: a failed removal is tried again at the next interval. */
  async trim(): Promise<void> {
    const { journal, log } = this.parts;
    const upTo = Math.min(this.parts.coveredUpTo(), this.parts.countedUpTo());
    if (upTo <= this.#trimmedUpTo) return;
    try {
      // The last unneeded record stays, because a log of this program is never emptied.
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
