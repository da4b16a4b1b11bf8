/**
 * What the clocks of other processes say, as far as they have been heard: enough to tell an owner until when it may
 * begin a command, though no two machines' clocks are compared.
 *
 *  OR1 when a deadline made of an instant here has not passed at its owner, that instant has not come here
 *
 * An owner says with each answer what its monotonic clock shows. Whoever hears "T" knows that there it is T or later;
 * from then on both clocks run, as fast as each other but for what oscillators drift. So an instant here is at least
 * that far on there: the bound errs on the early side by as long as the answer took.
 */
import type { OwnerInstant } from '../../codec/remote/index.js';
import type { ShardName } from '../../kernel/index.js';
import type { Clock } from '../../ports/index.js';

/** Ten times what two slewed clocks part by, in milliseconds a millisecond. */
const DRIFT = 0.005;
/** A reading that is older would cut deadlines short by more than 150 ms: the owner is asked for another. */
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
      // An owner that was replaced answers, too.
      if (known.epoch > epoch) return;
      const isKnownBetter = leadMs < known.leadMs - DRIFT * (nowMs - known.atMs);
      // What was heard on a good moment is good for long.
      if (known.epoch === epoch && isKnownBetter) return;
    }
    this.#heardByShard.set(shard, { epoch, leadMs, atMs: nowMs });
  }

  /** `endMs` of our clock, on the owner's; undefined when the owner has to be asked what its clock says. */
  onOwnersClock(shard: ShardName, endMs: number): OwnerInstant | undefined {
    const heard = this.#heardByShard.get(shard);
    if (heard === undefined) return undefined;
    const { epoch, leadMs, atMs } = heard;
    if (this.clock.monotonicMs() - atMs > MAX_AGE_MS) return undefined;
    return { epoch, atMs: endMs + leadMs - DRIFT * Math.max(0, endMs - atMs) };
  }

  /** This activation serves the shard no more. */
  forget(shard: ShardName, epoch: number): void {
    if (this.#heardByShard.get(shard)?.epoch === epoch) this.#heardByShard.delete(shard);
  }
}
