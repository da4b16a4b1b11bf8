/**
 * Whether a partition accepts commands of clients. It is closed while its keys move to the partitions of another layout,
 * and stays closed when they have moved, so that a process with an old copy of the layout can neither write nor read
 * here. Its effects are journaled, so the next owner knows it too.
 */
import type { ByteString } from '../../kernel/index.js';

export const CLOSE_EFFECT = 'PARTITION.CLOSE';
export const OPEN_EFFECT = 'PARTITION.OPEN';

export class Closure {
  isClosed = false;
  /** The number of the copy that closed or opened it last; those of later copies are higher. 0: none. */
  attempt = 0;

  set(isClosed: boolean, attempt: number): void {
    this.isClosed = isClosed;
    this.attempt = attempt;
  }

  /** The effects that recreate it. */
  *rebuilding(): Iterable<ByteString[]> {
    if (this.attempt > 0) yield [this.isClosed ? CLOSE_EFFECT : OPEN_EFFECT, String(this.attempt)];
  }
}
