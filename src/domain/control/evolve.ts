/** Applies what happened to the control state, in place. Total over everything ever journaled; never judges. */
import { type AccountId, assert, type DatabaseId, unreachable } from '../../kernel/index.js';
import type { ControlEvent } from './events.js';
import { METER_MARK_DAYS, QUOTA_DAYS, USAGE_DAYS } from './limits.js';
import type { Account, Database, MeterMark, UsageRow, UtcDay } from './records.js';
import type { ControlState } from './state.js';

export function evolve(state: ControlState, event: ControlEvent): void {
  switch (event.type) {
    case 'AccountCreated': {
      const { type: _, ...account } = event;
      state.putAccount(account);
      return;
    }
    case 'AccountLimitsSet':
      state.putAccount({ ...existingAccount(state, event.account), limits: event.limits });
      return;
    case 'AccountStateSet':
      state.putAccount({ ...existingAccount(state, event.account), state: event.state });
      return;
    case 'QueueTokensSet': {
      const before = existingAccount(state, event.account);
      const { queueToken, readOnlyToken } = event;
      state.putAccount({ ...before, secrets: { ...before.secrets, queueToken }, readOnlyToken });
      return;
    }
    case 'SigningKeysRotated': {
      const before = existingAccount(state, event.account);
      const { current: signingKeyCurrent, next: signingKeyNext } = event;
      state.putAccount({ ...before, secrets: { ...before.secrets, signingKeyCurrent, signingKeyNext } });
      return;
    }
    case 'DatabaseCreated': {
      const { type: _, ...database } = event;
      state.put({ ...database, deletedAtMs: undefined });
      return;
    }
    case 'FirstStarted':
      state.firstStart = { account: event.account, database: event.database };
      return;
    case 'PasswordReset':
      state.put({ ...existing(state, event.database), secrets: event.secrets });
      state.dropVoidTokens(event.database, 'default');
      return;
    case 'LimitsUpdated':
      state.put({ ...existing(state, event.database), limits: event.limits });
      return;
    case 'DatabaseDeleted':
      state.put({ ...existing(state, event.database), secrets: undefined, deletedAtMs: event.atMs });
      state.dropUsers(event.database);
      state.quotas.delete(event.database);
      state.usage.delete(event.database);
      return;
    case 'UserSet': {
      const { type: _, database, atMs: __, ...user } = event;
      state.putUser(database, user);
      return;
    }
    case 'UserDeleted':
      state.deleteUser(event.database, event.name);
      return;
    case 'UserTokenIssued': {
      const { type: _, atMs: __, ...token } = event;
      state.putToken(token);
      return;
    }
    case 'QuotaReserved':
      state.quotaDay(event.database, event.day).reserve(event.session, event.reserved);
      reachDay(state, event.day);
      return;
    case 'SessionEnded':
      for (const days of state.quotas.values()) for (const quota of days.values()) quota.end(event.session);
      return;
    case 'MeterFolded':
      state.meterPosition = event.position;
      for (const mark of event.marks) setMark(state, mark);
      for (const row of event.rows) addUsage(state, row);
      return;
    case 'TombstoneRestored': {
      const { type: _, ...database } = event;
      state.put({ ...database, secrets: undefined });
      return;
    }
    case 'QuotaRestored': {
      const quota = state.quotaDay(event.database, event.day);
      quota.settled = event.settled;
      for (const { session, reserved, metered } of event.shares) quota.shares.set(session, { reserved, metered });
      return;
    }
    case 'UsageRestored': {
      const { type: _, database, day, ...usage } = event;
      state.setUsage(database, day, usage);
      return;
    }
    case 'MeterRestored':
      state.meterPosition = event.position;
      for (const mark of event.marks) state.meterMarks.set(mark.session, mark);
      state.latestDay = event.latestDay;
      return;
    default:
      unreachable(event);
  }
}

function existingAccount(state: ControlState, id: AccountId): Account {
  const account = state.accounts.get(id);
  assert(account !== undefined, 'an event of an account that is not there', { account: id });
  return account;
}

function existing(state: ControlState, id: DatabaseId): Database {
  const database = state.databases.get(id);
  assert(database !== undefined, 'an event of a database that is not there', { database: id });
  return database;
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
  // What is too old to be leased is history: counted above, charged to nobody.
  if (day > state.latestDay - QUOTA_DAYS) state.quotaDay(database, day).meter(session, commands);
  reachDay(state, day);
}

/** C3: a new day drops what is too old. */
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
