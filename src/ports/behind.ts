/** What a read model answers when it could not wait: how far what it shows is behind what was asked for. */

export interface Behind {
  /** Messages of the journals that were stored and are not in the answer, as far as is known. */
  readonly positions: number;
  /** Milliseconds since the model was last known to have everything; undefined: it has nothing yet. */
  readonly ms: number | undefined;
}

/** How many rows a filter meets, by what they are told apart by. */
export interface Counts extends MaybeBehind {
  readonly counts: Readonly<Record<string, number>>;
  /** False: time was over before all had been counted, and there are at least so many. */
  readonly isWhole: boolean;
}

/** Part of every answer of a read model; left out where it is as new as was asked for. */
export interface MaybeBehind {
  readonly behind?: Behind | undefined;
}
