/**
 * What was denied lately, for ACL LOG: of this process, by database. A repetition within a minute counts up
 * the entry it repeats and brings it to the front.
 */
import { DEFAULT_ACL_LOG, DoubleReply, MAX_ACL_LOG, MapReply, type Reply } from '../../domain/kv/index.js';
import type { ByteString, DatabaseId } from '../../kernel/index.js';
import type { Clock } from '../../ports/index.js';

export interface AclDenial {
  readonly reason: 'command' | 'key' | 'channel' | 'auth';
  readonly context: 'toplevel' | 'multi' | 'lua' | 'module';
  /** The command, the key or the channel; of a failed sign-in the command that tried. */
  readonly object: ByteString;
  readonly user: ByteString;
  /** The line by which CLIENT LIST shows the connection. */
  readonly clientInfo: string;
}

interface Entry extends AclDenial {
  readonly id: number;
  readonly createdAtMs: number;
  updatedAtMs: number;
  count: number;
}

/** All databases together keep so many, some 30 MB; beyond it the database that was quiet for longest loses its own. */
const MAX_ENTRIES = 2 * MAX_ACL_LOG;
/** The latest, among which a repetition is looked for. */
const MAY_BE_REPEATED = DEFAULT_ACL_LOG;
const SAME_WITHIN_MS = 60_000;
/** A key may be long; an entry is to be read. */
const MAX_OBJECT_BYTES = 1024;

export class AclLog {
  readonly #entries = new Map<DatabaseId, Entry[]>();
  #nextId = 0;
  #size = 0;

  constructor(private readonly clock: Clock) {}

  note(database: DatabaseId, denial: AclDenial): void {
    const nowMs = this.clock.nowMs();
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

  /** Forgets all but the latest `max` of them. */
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

  /** The latest first, at most `count` of them. */
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
