/**
 * Removes records of sessions that have ended without removing theirs: killed processes, and marks of the dead (SE2 of
 * session.ts). A session that lives renews its record every second or so; one that has not changed for `unchangedMs` is
 * over. Should its process come back, it finds no record, and begins another session (SE4).
 */
import type { SessionId } from '../../kernel/index.js';
import type { Clock, LeaseStore } from '../../ports/index.js';
import { sessionKey } from './session.js';

interface Seen {
  readonly revision: number;
  readonly sinceMs: number;
}

/** Longer than any silence that is asked about, and than a machine is suspended without anybody noticing. */
export const SESSION_UNCHANGED_MS = 600_000;

export class SessionSweep {
  #seen = new Map<string, Seen>();

  constructor(
    private readonly leases: Pick<LeaseStore, 'get' | 'keys' | 'delete'>,
    private readonly clock: Clock,
    private readonly unchangedMs = SESSION_UNCHANGED_MS,
  ) {}

  /** One look. @returns records removed. @throws JOURNAL_UNAVAILABLE */
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
