/**
 * The wall time at which this machine started, stored in the lease bucket. While the machine runs, the time since its
 * start then gives the present time, even if the wall clock was changed while the process was stopped.
 *
 *  BR1 one small record of the last machines and starts, written when its contents change, not at intervals
 */
import { type BootTimeRecord, decodeBootTimes, encodeBootTimes } from '../../codec/leases/index.js';
import type { BootTime, LeaseStore } from '../../ports/index.js';

const KEY = 'boot-times';
/** Machines, and starts of each, that are remembered. */
const KEPT = 64;
/** Readings of the time since boot differ by a hundredth of a second. */
const SAME_WITHIN_MS = 100;

export class BootRecord {
  #storedMs: number | undefined;

  constructor(
    private readonly leases: LeaseStore,
    private readonly boot: BootTime,
  ) {}

  /** The time that the clock should show now. @throws JOURNAL_UNAVAILABLE */
  async expectedMs(): Promise<number | undefined> {
    const { records } = await this.#read();
    this.#storedMs = records.find(({ bootId }) => bootId === this.boot.bootId)?.offsetMs;
    const sinceMs = this.boot.sinceBootMs();
    return this.#storedMs === undefined || sinceMs === undefined ? undefined : this.#storedMs + sinceMs;
  }

  /** A simultaneous change by another process wins; the next call tries again. @throws JOURNAL_UNAVAILABLE */
  async keep(nowMs: number): Promise<void> {
    const { bootId } = this.boot;
    const sinceMs = this.boot.sinceBootMs();
    if (bootId === undefined || sinceMs === undefined) return;
    const offsetMs = Math.round(nowMs - sinceMs);
    if (Math.abs(offsetMs - (this.#storedMs ?? Number.POSITIVE_INFINITY)) <= SAME_WITHIN_MS) return;
    const { records, revision } = await this.#read();
    const others = records.filter((record) => record.bootId !== bootId);
    const value = encodeBootTimes([...others, { bootId, offsetMs }].slice(-KEPT));
    const outcome =
      revision === undefined ? await this.leases.create(KEY, value) : await this.leases.update(KEY, value, revision);
    if (outcome.kind === 'stored') this.#storedMs = offsetMs;
  }

  async #read(): Promise<{ records: readonly BootTimeRecord[]; revision: number | undefined }> {
    const record = await this.leases.get(KEY);
    return { records: record === undefined ? [] : decodeBootTimes(record.value), revision: record?.revision };
  }
}
