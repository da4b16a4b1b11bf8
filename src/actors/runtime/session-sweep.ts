/**
 * Removes the records of sessions that ended without removing them: killed processes, and sessions marked dead (SE2: a
 * session marked dead cannot renew). A living session renews its record about every second, so one unchanged for
 * `unchangedMs` is over. If its process continues after all, it finds no record and begins another session (SE4).
 */
import type { SessionId } from '../../kernel/index.js';
import type { Clock, LeaseStore } from '../../ports/index.js';
import { sessionKey } from './session.js';

interface Seen {
  readonly revision: number;
  readonly sinceMs: number;
}

/** Longer than any silence that is asked for, and than an unnoticed suspension of a machine. */
export const SESSION_UNCHANGED_MS = 600_000;

export class SessionSweep {
  #seen = new Map<string, Seen>();

  constructor(
    private readonly leases: Pick<LeaseStore, 'get' | 'keys' | 'delete'>,
    private readonly clock: Clock,
    private readonly unchangedMs = SESSION_UNCHANGED_MS,
  ) {}

  /** Checks once. @returns records removed. @throws JOURNAL_UNAVAILABLE */
  async look(): Promise<number> {
    const nowMs = this.clock.monotonicMs();
    const seen = new Map<string, Seen>();
    let removed = 0;
    for (const key of await this.leases.keys(sessionKey('' as SessionId))) {
      const record = await this.leases.get(key);
      if (record === undefined) continue;
      const before = this.#seen.get(key);
      const isUnchanged = before?.revision === record.revision;
      if (isUnchanged && nowMs - before.sinceMs >= this.unchangedMs) {
        await this.leases.delete(key);
        removed += 1;
      } else {
        seen.set(key, isUnchanged ? before : { revision: record.revision, sinceMs: nowMs });
      }
    }
    this.#seen = seen;
    return removed;
  }
}
