/** Events of leases, sessions and the meter: all daily counts. */
import type { DatabaseId } from '../../kernel/index.js';
import type { ControlEventOf } from './events.js';
import { METER_MARK_DAYS, QUOTA_DAYS, USAGE_DAYS } from './limits.js';
import { readSubject } from './quota-subjects.js';
import type { MeterMark, UsageRow, UtcDay } from './records.js';
import type { ControlState } from './state.js';

export function quotaReserved(event: ControlEventOf<'QuotaReserved'>, state: ControlState): void {
  state.quotaDay(event.database, event.day).reserve(event.session, event.reserved);
  reachDay(state, event.day);
}

export function sessionEnded({ session }: ControlEventOf<'SessionEnded'>, state: ControlState): void {
  for (const [subject, days] of state.quotas) {
    // QU3 (without metering, an ended process counts as having used its whole share): search subjects are not metered
    //     as leased.
    const isMetered = readSubject(subject) === undefined;
    for (const quota of days.values()) quota.end(session, isMetered);
  }
}

export function meterFolded({ position, marks, rows }: ControlEventOf<'MeterFolded'>, state: ControlState): void {
  state.meterPosition = position;
  for (const mark of marks) setMark(state, mark);
  for (const row of rows) addUsage(state, row);
}

export function quotaRestored(event: ControlEventOf<'QuotaRestored'>, state: ControlState): void {
  const quota = state.quotaDay(event.database, event.day);
  quota.settled = event.settled;
  for (const { session, reserved, metered } of event.shares) quota.shares.set(session, { reserved, metered });
}

export function usageRestored(event: ControlEventOf<'UsageRestored'>, state: ControlState): void {
  const { type: _, database, day, ...usage } = event;
  state.setUsage(database, day, usage);
}

export function meterRestored(event: ControlEventOf<'MeterRestored'>, state: ControlState): void {
  state.meterPosition = event.position;
  for (const mark of event.marks) state.meterMarks.set(mark.session, mark);
  state.latestDay = event.latestDay;
}

function setMark(state: ControlState, mark: MeterMark): void {
  state.meterMarks.set(mark.session, mark);
  reachDay(state, mark.day);
}

function addUsage(state: ControlState, row: UsageRow): void {
  const { database, day, session, commands } = row;
  const before = state.usageOf(database, day);
  state.setUsage(database, day, {
    commands: before.commands + commands,
    writes: before.writes + row.writes,
    errors: before.errors + row.errors,
    bytesIn: before.bytesIn + row.bytesIn,
    bytesOut: before.bytesOut + row.bytesOut,
  });
  // Old days and subjects that are not databases are counted without charging a lease.
  const isLeasable = day > state.latestDay - QUOTA_DAYS && state.databases.has(database);
  if (isLeasable) state.quotaDay(database, day).meter(session, commands);
  reachDay(state, day);
}

/** CST3 (daily counts are bounded in days): a new day drops expired ones. */
function reachDay(state: ControlState, day: UtcDay): void {
  if (day <= state.latestDay) return;
  state.latestDay = day;
  dropDays(state.quotas, day - QUOTA_DAYS);
  dropDays(state.usage, day - USAGE_DAYS);
  for (const [session, mark] of state.meterMarks) {
    if (mark.day <= day - METER_MARK_DAYS) state.meterMarks.delete(session);
  }
}

function dropDays(byDatabase: Map<DatabaseId, Map<UtcDay, unknown>>, upToDay: UtcDay): void {
  for (const [database, days] of byDatabase) {
    for (const day of days.keys()) if (day <= upToDay) days.delete(day);
    if (days.size === 0) byDatabase.delete(database);
  }
}
