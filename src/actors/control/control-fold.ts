/** The control state as a fold of its journal: what the owner, every copy, snapshots and audits hold alike. */
import { createHash } from 'node:crypto';
import { decodeControlEvents, encodeControlEvent } from '../../codec/control/index.js';
import { ControlState, evolve, rebuildingEvents } from '../../domain/control/index.js';
import { appliedInSlices, joinedInSegments, type PartitionFold } from '../../journal/index.js';

/** An event takes microseconds: a slice stays far below two milliseconds. */
const SLICE_EVENTS = 256;

export class ControlFold implements PartitionFold {
  readonly state = new ControlState();

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

  /** Rebuilding events come in an order of their own, whatever order led to the state. */
  digest(): string {
    const hash = createHash('sha256');
    for (const piece of this.#pieces()) hash.update(piece);
    return hash.digest('hex');
  }

  get size(): number {
    return this.state.accounts.size + this.state.databases.size;
  }
}
