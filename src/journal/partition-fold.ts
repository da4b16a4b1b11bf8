/**
 * The state of one partition as a fold of effects. Live actors, recovery, compaction and the audit commands use the
 * same code, so they reach the same state.
 */
import type { PartitionName } from '../kernel/index.js';

/** Bodies to which a state refers by number without holding them; they are stored separately from its segments. */
export interface BodySource {
  /** Bodies that came with effects applied to this fold and are still needed, in order of number. */
  fresh(): Iterable<readonly [number: number, content: Uint8Array]>;
  /** The present bodies are written; later ones are new. */
  forgetFresh(): void;
  isNeeded(number: number): boolean;
}

export interface PartitionFold {
  /**
   * Applies the effects of one section, or of one snapshot segment, completely.
   * @throws DEFECT when an effect does not apply
   */
  apply(effects: Uint8Array): void;
  /** The same in slices: each step takes at most about 2 ms. */
  applyInSlices(effects: Uint8Array): Iterable<void>;
  /** The state as effects that rebuild it, in segments of about `segmentBytes`; deterministic for equal histories. */
  segments(segmentBytes: number): Iterable<Uint8Array>;
  /** A hash of the state that does not depend on order, hex. Equal states have equal digests, for any history. */
  digest(): string;
  /** Keys, or the objects counted in this plane. */
  readonly size: number;
  /** Messages that its owner has to send; undefined: none. */
  readonly pending?: number;
  /** Undefined: the segments hold everything. */
  readonly bodies?: BodySource;
}

/** Makes the empty state of a partition. */
export type FoldFactory = (partition: PartitionName) => PartitionFold;
