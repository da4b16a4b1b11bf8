/** Decides leases and returns of daily limits by processes, and counts the metered use. */
import type { DatabaseId } from '../../kernel/index.js';
import type { ControlCommandOf, MeteredRecord } from './commands.js';
import { unknownDatabase } from './decide-databases.js';
import { type Decision, decided, rejected } from './decision.js';
import { MAX_FOLD_ROWS, QUOTA_DAY_SKEW, USAGE_DAYS } from './limits.js';
import { readSubject } from './quota-subjects.js';
import { type MeterMark, type UsageRow, type UtcDay, utcDayOf } from './records.js';
import type { ControlState } from './state.js';

/** No daily limit: a database stores 0, a search index -1. */
const NO_LIMIT = 0;

export function decideLease(command: ControlCommandOf<'LeaseQuota'>, state: ControlState, nowMs: number): Decision {
  const { session, database: id, day, known, wanted } = command;
  const limit = dailyLimitOf(id, state);
  if (limit === undefined) return unknownDatabase(id);
  if (Math.abs(day - utcDayOf(nowMs)) > QUOTA_DAY_SKEW) return rejected('DAY_CLOSED', `day ${day} is not today`);
  if (limit === NO_LIMIT) return decided({ type: 'QuotaLeased', granted: wanted });
  const quota = state.quotaOf(id, day);
  const reserved = quota?.reservedBy(session) ?? 0;
  // Granted before in a lost answer, so it still belongs to the process.
  const lost = Math.min(Math.max(0, reserved - known), wanted);
  const free = quota?.freeOf(limit) ?? limit;
  const added = Math.min(wanted - lost, free);
  if (added <= 0) return decided({ type: 'QuotaLeased', granted: lost });
  return decided(
    { type: 'QuotaLeased', granted: lost + added },
    { type: 'QuotaReserved', database: id, day, session, reserved: reserved + added },
  );
}

/** The daily limit of a database, or of a subject of a search index; undefined: unknown, or never leased. */
function dailyLimitOf(id: DatabaseId, state: ControlState): number | undefined {
  const subject = readSubject(id);
  if (subject === undefined) return state.live(id)?.limits.maxRequestsPerDay;
  const limits = state.search.live(subject.index)?.limits;
  if (limits === undefined || subject.of === 'reranks') return undefined;
  const limit = subject.of === 'updates' ? limits.maxDailyUpdates : limits.maxDailyQueries;
  return Math.max(NO_LIMIT, limit);
}

export function decideReturn(command: ControlCommandOf<'ReturnQuota'>, state: ControlState): Decision {
  const { session, database, day, known, unused } = command;
  const reserved = state.quotaOf(database, day)?.reservedBy(session) ?? 0;
  if (reserved !== known || unused <= 0) return decided({ type: 'QuotaReturned', reserved });
  const kept = Math.max(0, known - unused);
  return decided(
    { type: 'QuotaReturned', reserved: kept },
    { type: 'QuotaReserved', database, day, session, reserved: kept },
  );
}

export function decideEndSession(
  { session }: ControlCommandOf<'EndSession'>,
  state: ControlState,
  nowMs: number,
): Decision {
  const holds = [...state.quotas.values()].some((days) => [...days.values()].some(({ shares }) => shares.has(session)));
  if (!holds) return decided({ type: 'SessionIsOver' });
  return decided({ type: 'SessionIsOver' }, { type: 'SessionEnded', session, atMs: nowMs });
}

/**
 * Counts each record once: positions already counted are skipped, and so are record numbers of a record that was
 * stored twice.
 */
export function decideFold(command: ControlCommandOf<'FoldMeter'>, state: ControlState, nowMs: number): Decision {
  const { after, position, records } = command;
  if (after > state.meterPosition || position <= state.meterPosition) {
    return decided({ type: 'MeterIsFolded', position: state.meterPosition });
  }
  const today = utcDayOf(nowMs);
  const marks = new Map<string, MeterMark>();
  const rows = new Map<string, UsageRow>();
  let reached = state.meterPosition;
  for (const record of records) {
    if (record.position <= reached) continue;
    // The first record is always taken, so that the fold makes progress.
    if (rows.size > 0 && rows.size + record.rows.length > MAX_FOLD_ROWS) {
      return folded(reached, marks, rows);
    }
    reached = record.position;
    const last = marks.get(record.session) ?? state.meterMarks.get(record.session);
    if (last !== undefined && record.number <= last.number) continue;
    const day = clampDay(record.day, today);
    marks.set(record.session, { session: record.session, number: record.number, day });
    addRows(rows, record, day, state);
  }
  return folded(position, marks, rows);
}

function folded(position: number, marks: Map<string, MeterMark>, rows: Map<string, UsageRow>): Decision {
  return decided(
    { type: 'MeterIsFolded', position },
    { type: 'MeterFolded', position, marks: [...marks.values()], rows: [...rows.values()] },
  );
}

/**
 * Keeps the day near today: a clock far ahead must not make today expire, and a clock far behind counts as the oldest
 * day.
 */
function clampDay(day: UtcDay, today: UtcDay): UtcDay {
  return Math.min(Math.max(day, today - USAGE_DAYS), today + QUOTA_DAY_SKEW);
}

function addRows(rows: Map<string, UsageRow>, record: MeteredRecord, day: UtcDay, state: ControlState): void {
  const { session } = record;
  for (const row of record.rows) {
    const { database } = row;
    const id = readSubject(database)?.index ?? database;
    if (state.live(id) === undefined && state.search.live(id) === undefined) continue;
    const key = `${database} ${day} ${session}`;
    const sum = rows.get(key);
    rows.set(key, {
      database,
      day,
      session,
      commands: (sum?.commands ?? 0) + row.commands,
      writes: (sum?.writes ?? 0) + row.writes,
      errors: (sum?.errors ?? 0) + row.errors,
      bytesIn: (sum?.bytesIn ?? 0) + row.bytesIn,
      bytesOut: (sum?.bytesOut ?? 0) + row.bytesOut,
    });
  }
}
