/**
 * Rebuilds an actor's state from the newest snapshot and every later entry up to its claim. The next actor can follow
 * the present owner's entries, so that few are left when it claims.
 */
import type { ChainHead, ChainLink, ComingClaim, RecoveryEnd } from '../../journal/index.js';
import type { PartitionName, ShardName } from '../../kernel/index.js';
import type { Timer, Timers } from '../../ports/index.js';
import type { RecoveryStep } from './work.js';

export interface Recovery {
  /**
   * A manifest step first (possibly without one), then every later entry, some in each step, the claim last; each checked against the
   * chain.
   */
  readonly steps: AsyncIterable<RecoveryStep>;
  /** Each partition's last section, once `steps` has ended. */
  links(): Iterable<readonly [PartitionName, ChainLink]>;
}

/**
 * @param highWater  the last entry known from another source to be stored: it must be on the chain
 * The steps throw JOURNAL_DAMAGED when the chain is broken or shorter than it was.
 */
export type RecoverFn = (shard: ShardName, claim: ChainHead, highWater: ChainLink | undefined) => Recovery;
/** The same for a claim that is to be appended later. */
export type FollowFn = (shard: ShardName, coming: ComingClaim) => Recovery;

/** A read costs one request to the stream's leader. Entries stored after the last read are replayed after the claim. */
const LOOK_EVERY_MS = 100;

export class Following implements ComingClaim {
  #end: RecoveryEnd | undefined;
  #cause: unknown;
  #isOver = false;
  #isLevel = false;
  #timer: Timer | undefined;
  #wake: () => void = () => {};

  /** @param onLevel  called once, when the copy becomes level */
  constructor(
    private readonly timers: Timers,
    private readonly onLevel: () => void,
  ) {}

  get end(): RecoveryEnd | undefined {
    return this.#end;
  }

  /** True when nearly all entries of the present owner are replayed. */
  get isLevel(): boolean {
    return this.#isLevel;
  }

  level(): void {
    if (this.#isLevel) return;
    this.#isLevel = true;
    this.onLevel();
  }

  async wait(): Promise<void> {
    if (!this.#isOver) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        this.#timer = this.timers.after(LOOK_EVERY_MS, resolve);
      });
    }
    if (this.#cause !== undefined) throw this.#cause;
  }

  /** The claim is stored. */
  claimed(end: RecoveryEnd): void {
    this.#end = end;
    this.#stopWaiting();
  }

  /** There will be no claim. */
  cancel(cause: unknown): void {
    this.#cause = cause;
    this.#stopWaiting();
  }

  #stopWaiting(): void {
    this.#isOver = true;
    this.#timer?.cancel();
    this.#wake();
  }
}
