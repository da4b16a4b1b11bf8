/**
 * Removes keys that no command deletes: expired ones, and those that are evicted to make room. Each removal is an effect,
 * and is counted and notified.
 */
import type { ByteString } from '../../kernel/index.js';
import type { Audience } from './audience.js';
import type { CommandContext } from './command-spec.js';
import { evictedEffect, expiredEffect } from './effects.js';
import { MAX_EVICTIONS } from './eviction.js';
import { removeExpiredFields } from './field-expiry.js';
import type { MemoryBounds } from './memory-bounds.js';
import { ERRORS, type ErrorReply } from './reply.js';
import type { Collection } from './value.js';

export class KeyRemoval {
  constructor(
    private readonly host: Pick<CommandContext, 'keyspace' | 'effects' | 'notify' | 'statistics'>,
    private readonly bounds: MemoryBounds,
    private readonly audience: Audience,
  ) {}

  /**
   * Removes expired keys (recording an `UNLINK` each) and expired hash fields (recording `HDEL`), at most `limit`. @returns
   * the number removed
   */
  expireDue(nowMs: number, limit: number): number {
    const { keyspace, statistics } = this.host;
    const due = keyspace.dueKeys(nowMs, limit);
    for (const key of due) this.#expire(key);
    statistics.activelyExpiredKeys += due.length;
    let removed = due.length;
    const fieldsBefore = statistics.expiredFields;
    for (const key of keyspace.expiries.keysWithDueFields(nowMs, limit - removed)) {
      const value = keyspace.stored(key) as Collection;
      removed += removeExpiredFields(this.host, key, value, nowMs, limit - removed);
    }
    statistics.activelyExpiredFields += statistics.expiredFields - fieldsBefore;
    return removed;
  }

  /** Removes the expired keys that read-only commands have met. @returns the number removed */
  expireMet(nowMs: number): number {
    const { keyspace } = this.host;
    keyspace.nowMs = nowMs;
    const met = keyspace.expiries.takeMet(nowMs);
    for (const key of met) this.#expire(key);
    return met.length;
  }

  #expire(key: ByteString): void {
    this.host.keyspace.delete(key);
    this.host.effects.push(...expiredEffect(key));
    this.noteExpired(key);
  }

  /** Counts and notifies the removal of an expired key. */
  noteExpired(key: ByteString): void {
    this.host.statistics.expiredKeys += 1;
    this.host.notify('x', 'expired', key);
  }

  /**
   * Evicts keys as the policy says until the partition is within its bounds; returns an error if that is impossible.
   */
  makeRoom(nowMs: number): ErrorReply | undefined {
    const { host, bounds } = this;
    if (!bounds.areReached || this.audience.isPaused === true) return undefined;
    host.keyspace.nowMs = nowMs;
    for (let i = 0; i < MAX_EVICTIONS && bounds.areReached; i += 1) {
      const victim = bounds.nextVictim();
      if (victim === undefined) return ERRORS.databaseFull;
      host.keyspace.delete(victim);
      host.effects.push(...evictedEffect(victim));
      host.statistics.evictedKeys += 1;
      host.notify('e', 'evicted', victim);
    }
    return bounds.areReached ? ERRORS.databaseFull : undefined;
  }
}
