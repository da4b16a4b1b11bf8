/** What a read model answers when it could not wait: how far what it shows is behind what was asked for. */

export interface Behind {
  /** Messages of the journals that were stored and are not in the answer, as far as is known. */
  readonly positions: number;
  /** Milliseconds since the model was last known to have everything; undefined: it has nothing yet. */
  readonly ms: number | undefined;
}

/** Part of every answer of a read model; left out where it is as new as was asked for. */
export interface MaybeBehind {
  readonly behind?: Behind | undefined;
}
