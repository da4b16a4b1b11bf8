/**
 * The execution of a request's commands on a partition: the place, the caller and the turn, and where the running
 * command began. One object serves all commands of the request.
 */
import type { KvEngine } from '../../domain/kv/index.js';
import type { ShouldStop, Turn } from '../runtime/index.js';
import type { KvWork } from './kv-work.js';
import type { OwnedPartition } from './owned-partition.js';

export class CommandExecution {
  /** The effects in the partition's entry before the running command, and their bytes. */
  effectsBefore = 0;
  bytesBefore = 0;
  /** As `CommandClock.begin` returned it, less the time between slices. */
  startedAtMs = 0;

  constructor(
    readonly owned: OwnedPartition,
    readonly engine: KvEngine,
    readonly work: KvWork,
    readonly turn: Turn,
    readonly shouldStop: ShouldStop,
  ) {}

  beginAfter({ count, bytes }: { readonly count: number; readonly bytes: number }): void {
    this.effectsBefore = count;
    this.bytesBefore = bytes;
  }
}
