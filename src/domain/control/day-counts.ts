/** The part of the control state that is counted by day: leases of daily limits, and use as metered. */
import { type DatabaseId, getOrCreate, type SessionId } from '../../kernel/index.js';
import { firstDayOfMonth } from '../statistics/index.js';
import { QuotaDay } from './quota.js';
import { searchSubjectsOf } from './quota-subjects.js';
import { type DayUsage, type MeterMark, NO_USAGE, type UtcDay, utcDayOf } from './records.js';

export class DayCounts {
  readonly quotas = new Map<DatabaseId, Map<UtcDay, QuotaDay>>();
  readonly usage = new Map<DatabaseId, Map<UtcDay, DayUsage>>();
  /** All records of the meter's log up to this position are counted. */
  meterPosition = 0;
  readonly meterMarks = new Map<SessionId, MeterMark>();
  /** The latest day with a count; expiry is measured from it. */
  latestDay: UtcDay = 0;

  usageOf(database: DatabaseId, day: UtcDay): DayUsage {
    return this.usage.get(database)?.get(day) ?? NO_USAGE;
  }

  /** Metered bytes, in and out, of a database or search index in the UTC month of `nowMs`. */
  bytesThisMonth(subject: DatabaseId, nowMs: number): number {
    return this.#sumOfMonth(subject, nowMs, ({ bytesIn, bytesOut }) => bytesIn + bytesOut);
  }

  /** Commands of a database, requests of a search index, or units of a subject (quota-subjects.ts). */
  commandsThisMonth(subject: DatabaseId, nowMs: number): number {
    return this.#sumOfMonth(subject, nowMs, ({ commands }) => commands);
  }

  #sumOfMonth(subject: DatabaseId, nowMs: number, countOf: (usage: DayUsage) => number): number {
    const first = firstDayOfMonth(utcDayOf(nowMs));
    let sum = 0;
    for (const [day, usage] of this.usage.get(subject) ?? []) if (day >= first) sum += countOf(usage);
    return sum;
  }

  quotaOf(database: DatabaseId, day: UtcDay): QuotaDay | undefined {
    return this.quotas.get(database)?.get(day);
  }

  /** Processes with a share of a daily limit. */
  quotaSessions(): Set<SessionId> {
    const sessions = new Set<SessionId>();
    for (const days of this.quotas.values()) {
      for (const { shares } of days.values()) for (const session of shares.keys()) sessions.add(session);
    }
    return sessions;
  }

  quotaDay(database: DatabaseId, day: UtcDay): QuotaDay {
    const days = dayMap(this.quotas, database);
    const quota = getOrCreate(days, day, () => new QuotaDay());
    return quota;
  }

  /** Removes all daily counts of a database or search index. */
  dropCounts(id: DatabaseId): void {
    for (const subject of [id, ...searchSubjectsOf(id)]) {
      this.quotas.delete(subject);
      this.usage.delete(subject);
    }
  }

  setUsage(database: DatabaseId, day: UtcDay, usage: DayUsage): void {
    dayMap(this.usage, database).set(day, usage);
  }
}

function dayMap<T>(byDatabase: Map<DatabaseId, Map<UtcDay, T>>, database: DatabaseId): Map<UtcDay, T> {
  const days = getOrCreate(byDatabase, database, () => new Map());
  return days;
}
