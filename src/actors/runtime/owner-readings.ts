/**
 * Readings of owners' clocks, from which a caller computes a deadline on the owner's clock without comparing machine
 * clocks.
 *
 *  OR1 while a deadline computed from an instant here has not passed at its owner, that instant has not passed here
 *
 * Each answer contains the owner's monotonic clock. A caller that receives T knows that the owner's clock is at T or
 * later; from then on both clocks advance equally, except for drift. The deadline is therefore too early by at most the
 * duration of that answer.
 */
import type { OwnerInstant } from '../../codec/remote/index.js';
import type { ShardName } from '../../kernel/index.js';
import type { Clock } from '../../ports/index.js';

/** Ten times the drift between two slewed clocks, in milliseconds per millisecond. */
const DRIFT = 0.005;
/** An older reading would shorten deadlines by more than 150 ms, so a new one is requested. */
const MAX_AGE_MS = 30_000;

interface Heard {
  readonly epoch: number;
  /** The owner's clock is at least this far ahead of ours. */
  readonly leadMs: number;
  readonly atMs: number;
}

export class OwnerReadings {
  readonly #heardByShard = new Map<ShardName, Heard>();

  constructor(private readonly clock: Clock) {}

  hear(shard: ShardName, { epoch, atMs }: OwnerInstant): void {
    const nowMs = this.clock.monotonicMs();
    const leadMs = atMs - nowMs;
    const known = this.#heardByShard.get(shard);
    if (known !== undefined) {
      // The answer came from a replaced owner.
      if (known.epoch > epoch) return;
      const isKnownBetter = leadMs < known.leadMs - DRIFT * (nowMs - known.atMs);
      // A reading from a fast answer stays useful for long.
      if (known.epoch === epoch && isKnownBetter) return;
    }
    this.#heardByShard.set(shard, { epoch, leadMs, atMs: nowMs });
  }

  /** `endMs` of our clock on the owner's clock; undefined when the owner's clock has to be requested. */
  onOwnersClock(shard: ShardName, endMs: number): OwnerInstant | undefined {
    const heard = this.#heardByShard.get(shard);
    if (heard === undefined) return undefined;
    const { epoch, leadMs, atMs } = heard;
    if (this.clock.monotonicMs() - atMs > MAX_AGE_MS) return undefined;
    return { epoch, atMs: endMs + leadMs - DRIFT * Math.max(0, endMs - atMs) };
  }

  /** This activation no longer serves the shard. */
  forget(shard: ShardName, epoch: number): void {
    if (this.#heardByShard.get(shard)?.epoch === epoch) this.#heardByShard.delete(shard);
  }
}
