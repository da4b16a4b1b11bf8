/** Shared code of folds of events: applying in slices, and joining a state's events into segments. */

/** Applies each item; yields after every `count` of them. */
export function* appliedInSlices<T>(items: Iterable<T>, count: number, apply: (item: T) => void): Iterable<void> {
  let applied = 0;
  for (const item of items) {
    apply(item);
    applied += 1;
    if (applied % count === 0) yield;
  }
}

/** Joins pieces into segments of `segmentBytes` or slightly more; a piece is never split. */
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
