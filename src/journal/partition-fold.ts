/**
 * The state of one partition as the journal sees it: something that folds effects. Live actors,
 * recovery, the compactor and the audit commands all fold with the same code, so they end alike.
 */
import type { PartitionName } from '../kernel/index.js';

/** Bytes that a state refers to by number and does not hold: they lie beside its segments. */
export interface BodySource {
  /** Those that came with effects applied to this fold and are still needed, in order of number. */
  fresh(): Iterable<readonly [number: number, content: Uint8Array]>;
  /** They are written down: those that come from now on are fresh. */
  forgetFresh(): void;
  isNeeded(number: number): boolean;
}

export interface PartitionFold {
  /**
   * Applies the effects of one section, or of one snapshot segment, whole.
   * @throws DEFECT when an effect does not apply
   */
  apply(effects: Uint8Array): void;
  /**
   * The same in slices: applies some of it each time it is advanced, so that nothing waits long.
   * A generator's every step stays under about 2 ms.
   */
  applyInSlices(effects: Uint8Array): Iterable<void>;
  /** The state as effects that rebuild it, in segments of about `segmentBytes`; deterministic for equal histories. */
  segments(segmentBytes: number): Iterable<Uint8Array>;
  /** Order-free hash of the state, hex. Equal states, however they came about, have equal digests. */
  digest(): string;
  /** Keys, or whatever is counted in this plane. */
  readonly size: number;
  /** Left out: the segments hold all there is. */
  readonly bodies?: BodySource;
}

/** Makes the empty state of a partition. */
export type FoldFactory = (partition: PartitionName) => PartitionFold;
