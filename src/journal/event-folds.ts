/** What folds of events have in common: applying in slices, and a state's events joined into segments. */

/** Applies each item; yields after every `count` of them. */
export function* appliedInSlices<T>(items: Iterable<T>, count: number, apply: (item: T) => void): Iterable<void> {
  let applied = 0;
  for (const item of items) {
    apply(item);
    applied += 1;
    if (applied % count === 0) yield;
  }
}

/** Pieces one behind the other, cut where a segment has `segmentBytes` or more; never within a piece. */
export function* joinedInSegments(pieces: Iterable<Uint8Array>, segmentBytes: number): Iterable<Uint8Array> {
  let open: Uint8Array[] = [];
  let bytes = 0;
  for (const piece of pieces) {
    open.push(piece);
    bytes += piece.length;
    if (bytes < segmentBytes) continue;
    yield Buffer.concat(open);
    open = [];
    bytes = 0;
  }
  if (open.length > 0) yield Buffer.concat(open);
}
