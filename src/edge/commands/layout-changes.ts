/**
 * Requests that a closed partition has refused: its keys move to the partitions of another layout. They wait here until
 * the partition is open again, or until this process knows the new layout, and are then sent to the present partitions.
 *
 *  LCH1 a request is sent again only if no part of it was executed
 *  LCH2 it waits at most `HOLD_MS`
 */
import { isMillraceError, MillraceError } from '../../kernel/index.js';
import type { Access, Clock, KvGrant, Timers } from '../../ports/index.js';

export interface LayoutParts {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly access: Pick<Access, 'layoutOf'>;
}

/** Twice the time that a database is closed for (actors/control/partition-copy.ts). */
const HOLD_MS = 10_000;
const LOOK_EVERY_MS = 20;

export function isClosed(failure: unknown): boolean {
  return isMillraceError(failure, 'PARTITION_CLOSED');
}

/** The failure of a request of which a part was refused. */
export function closedFailure(): MillraceError {
  return new MillraceError('PARTITION_CLOSED', 'the partitions of the database are being changed');
}

export class LayoutChanges {
  constructor(private readonly parts: LayoutParts) {}

  /** The grant with the present partitions. */
  present(grant: KvGrant): KvGrant {
    const layout = this.parts.access.layoutOf?.(grant.database);
    return layout === undefined ? grant : { ...grant, ...layout };
  }

  /** Runs the request again until no partition is closed. @throws the failure, if it has another cause or for too long */
  async again<T>(failure: unknown, grant: KvGrant, run: (present: KvGrant) => Promise<T>): Promise<T> {
    const { clock, timers } = this.parts;
    const endMs = clock.monotonicMs() + HOLD_MS;
    let last = failure;
    while (isClosed(last) && clock.monotonicMs() < endMs) {
      await timers.pause(LOOK_EVERY_MS);
      try {
        return await run(this.present(grant));
      } catch (error) {
        last = error;
      }
    }
    throw last;
  }
}
