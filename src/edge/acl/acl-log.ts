/**
 * Entries of ACL LOG: recent denials in this process, by database. A repetition within a minute increments its entry
 * and moves it to the front.
 */
import { DEFAULT_ACL_LOG, DoubleReply, MAX_ACL_LOG, MapReply, type Reply } from '../../domain/kv/index.js';
import type { ByteString, DatabaseId } from '../../kernel/index.js';
import type { Clock } from '../../ports/index.js';

export interface AclDenial {
  readonly reason: 'command' | 'key' | 'channel' | 'auth';
  readonly context: 'toplevel' | 'multi' | 'lua' | 'module';
  /** The command, key or channel; for a failed sign-in the command used. */
  readonly object: ByteString;
  readonly user: ByteString;
  /** The connection's line in CLIENT LIST. */
  readonly clientInfo: string;
}

interface Entry extends AclDenial {
  readonly id: number;
  readonly createdAtMs: number;
  updatedAtMs: number;
  count: number;
}

/** Entries of all databases, about 30 MB; above it the database with the oldest last denial loses its entries. */
const MAX_ENTRIES = 2 * MAX_ACL_LOG;
/** Repetitions are searched among this many latest entries. */
const MAY_BE_REPEATED = DEFAULT_ACL_LOG;
const SAME_WITHIN_MS = 60_000;
/** A longer key is cut, to keep entries readable. */
const MAX_OBJECT_BYTES = 1024;

export class AclLog {
  readonly #entries = new Map<DatabaseId, Entry[]>();
  /** Counts of all databases since the process started. */
  readonly totals = { auth: 0, command: 0, key: 0, channel: 0 };
  #nextId = 0;
  #size = 0;

  constructor(private readonly clock: Clock) {}

  note(database: DatabaseId, denial: AclDenial): void {
    const nowMs = this.clock.nowMs();
    this.totals[denial.reason] += 1;
    const object = denial.object.slice(0, MAX_OBJECT_BYTES);
    const entries = this.#entries.get(database) ?? [];
    const latest = entries.slice(0, MAY_BE_REPEATED);
    const at = latest.findIndex((entry) => isRepetition(entry, { ...denial, object }, nowMs));
    const [same] = at < 0 ? [] : entries.splice(at, 1);
    if (same !== undefined) {
      same.count += 1;
      same.updatedAtMs = nowMs;
      entries.unshift(same);
    } else {
      entries.unshift({ ...denial, object, id: this.#nextId, createdAtMs: nowMs, updatedAtMs: nowMs, count: 1 });
      this.#nextId += 1;
      this.#size += 1;
    }
    this.#entries.delete(database);
    this.#entries.set(database, entries);
    this.trim(database, MAX_ACL_LOG);
    if (this.#size > MAX_ENTRIES) this.clear(this.#entries.keys().next().value as DatabaseId);
  }

  /** Removes all but the latest `max` entries. */
  trim(database: DatabaseId, max: number): void {
    const entries = this.#entries.get(database);
    if (entries === undefined || entries.length <= max) return;
    this.#size -= entries.length - max;
    entries.length = max;
  }

  clear(database: DatabaseId): void {
    this.#size -= this.#entries.get(database)?.length ?? 0;
    this.#entries.delete(database);
  }

  /** The latest entries first, at most `count`. */
  latest(database: DatabaseId, count: number): Reply {
    const nowMs = this.clock.nowMs();
    return (this.#entries.get(database) ?? []).slice(0, count).map((entry) => {
      const { reason, context, object, user, clientInfo, id, createdAtMs, updatedAtMs } = entry;
      return new MapReply([
        ...['count', entry.count, 'reason', reason, 'context', context, 'object', object, 'username', user],
        ...['age-seconds', new DoubleReply((nowMs - createdAtMs) / 1000), 'client-info', clientInfo, 'entry-id', id],
        ...['timestamp-created', Math.trunc(createdAtMs), 'timestamp-last-updated', Math.trunc(updatedAtMs)],
      ]);
    });
  }
}

function isRepetition(entry: Entry, denial: AclDenial, nowMs: number): boolean {
  return (
    nowMs - entry.updatedAtMs <= SAME_WITHIN_MS &&
    entry.reason === denial.reason &&
    entry.context === denial.context &&
    entry.object === denial.object &&
    entry.user === denial.user
  );
}
