/** The control state as a fold of its journal; the owner, each copy, snapshots and audits all use it. */
import { createHash } from 'node:crypto';
import { decodeControlEvents, encodeControlEvent } from '../../codec/control/index.js';
import { ControlState, type ControlStateOptions, evolve, rebuildingEvents } from '../../domain/control/index.js';
import { appliedInSlices, joinedInSegments, type PartitionFold } from '../../journal/index.js';

/** An event takes microseconds: a slice stays far below two milliseconds. */
const SLICE_EVENTS = 256;

export class ControlFold implements PartitionFold {
  readonly state: ControlState;

  /** @param options  the defaults are those of owners and snapshots */
  constructor(options: ControlStateOptions = {}) {
    this.state = new ControlState(options);
  }

  apply(effects: Uint8Array): void {
    for (const event of decodeControlEvents(effects)) evolve(this.state, event);
  }

  applyInSlices(effects: Uint8Array): Iterable<void> {
    return appliedInSlices(decodeControlEvents(effects), SLICE_EVENTS, (event) => evolve(this.state, event));
  }

  segments(segmentBytes: number): Iterable<Uint8Array> {
    return joinedInSegments(this.#pieces(), segmentBytes);
  }

  *#pieces(): Iterable<Uint8Array> {
    for (const event of rebuildingEvents(this.state)) yield encodeControlEvent(event);
  }

  /** Rebuilding events have a fixed order, so equal states have equal digests. */
  digest(): string {
    const hash = createHash('sha256');
    for (const piece of this.#pieces()) hash.update(piece);
    return hash.digest('hex');
  }

  get size(): number {
    const { accounts, databases, search } = this.state;
    return accounts.size + databases.size + search.byId.size;
  }
}
