/** How far a read model's answer is older than the request asked for, when it could not wait. */

export interface Behind {
  /** Stored messages of the journals that are not in the answer, as far as is known. */
  readonly positions: number;
  /** Milliseconds since the model was last complete; undefined: it has no data yet. */
  readonly ms: number | undefined;
}

/** The number of rows that match a filter, by category. */
export interface Counts extends MaybeBehind {
  readonly counts: Readonly<Record<string, number>>;
  /** False when the time ended before all were counted; the counts are then lower bounds. */
  readonly isWhole: boolean;
}

/** Part of every answer of a read model; missing when the answer is as new as requested. */
export interface MaybeBehind {
  readonly behind?: Behind | undefined;
}
