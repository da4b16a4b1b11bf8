/**
 * In-memory records with compare-and-set. All users of one instance share one server; every outcome is definite.
 * Revisions come from one counter, as in a NATS bucket, so they grow also over deletions.
 */
import type { Clock, LeaseOutcome, LeaseRecord, LeaseStore } from '../../../src/ports/index.js';

export class MemoryLeaseStore implements LeaseStore {
  private readonly records = new Map<string, LeaseRecord>();
  private lastRevision = 0;

  constructor(private readonly clock: Pick<Clock, 'nowMs'> = { nowMs: () => 0 }) {}

  async get(key: string): Promise<LeaseRecord | undefined> {
    const record = this.records.get(key);
    return record === undefined ? undefined : { ...record, value: new Uint8Array(record.value) };
  }

  async keys(prefix: string): Promise<string[]> {
    return [...this.records.keys()].filter((key) => key.startsWith(prefix)).sort();
  }

  async create(key: string, value: Uint8Array): Promise<LeaseOutcome> {
    return this.records.has(key) ? { kind: 'conflict' } : this.store(key, value);
  }

  async update(key: string, value: Uint8Array, revision: number): Promise<LeaseOutcome> {
    return this.records.get(key)?.revision === revision ? this.store(key, value) : { kind: 'conflict' };
  }

  async delete(key: string): Promise<void> {
    this.records.delete(key);
  }

  private store(key: string, value: Uint8Array): LeaseOutcome {
    this.lastRevision += 1;
    const storedAtMs = this.clock.nowMs();
    this.records.set(key, { value: new Uint8Array(value), revision: this.lastRevision, storedAtMs });
    return { kind: 'stored', revision: this.lastRevision };
  }
}
