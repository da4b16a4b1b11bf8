/** The control state as a fold of its journal: what the owner, every copy, snapshots and audits hold alike. */
import { createHash } from 'node:crypto';
import { decodeControlEvents, encodeControlEvent } from '../../codec/control/index.js';
import { ControlState, evolve, rebuildingEvents } from '../../domain/control/index.js';
import type { PartitionFold } from '../../journal/index.js';

/** An event takes microseconds: a slice stays far below two milliseconds. */
const SLICE_EVENTS = 256;

export class ControlFold implements PartitionFold {
  readonly state = new ControlState();

  apply(effects: Uint8Array): void {
    for (const event of decodeControlEvents(effects)) evolve(this.state, event);
  }

  *applyInSlices(effects: Uint8Array): Iterable<void> {
    let count = 0;
    for (const event of decodeControlEvents(effects)) {
      evolve(this.state, event);
      count += 1;
      if (count % SLICE_EVENTS === 0) yield;
    }
  }

  *segments(segmentBytes: number): Iterable<Uint8Array> {
    let pieces: Uint8Array[] = [];
    let bytes = 0;
    for (const event of rebuildingEvents(this.state)) {
      const piece = encodeControlEvent(event);
      pieces.push(piece);
      bytes += piece.length;
      if (bytes < segmentBytes) continue;
      yield Buffer.concat(pieces);
      pieces = [];
      bytes = 0;
    }
    if (pieces.length > 0) yield Buffer.concat(pieces);
  }

  /** Rebuilding events come in an order of their own, whatever order led to the state. */
  digest(): string {
    const hash = createHash('sha256');
    for (const event of rebuildingEvents(this.state)) hash.update(encodeControlEvent(event));
    return hash.digest('hex');
  }

  get size(): number {
    return this.state.accounts.size + this.state.databases.size;
  }
}
