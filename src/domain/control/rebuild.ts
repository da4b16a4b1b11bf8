/** The control state as events that build it again: what a snapshot holds. Equal states give equal events in equal order. */
import type { ControlEvent } from './events.js';
import type { Account, Database } from './records.js';
import type { ControlState } from './state.js';

export function* rebuildingEvents(state: ControlState): Iterable<ControlEvent> {
  for (const account of sorted(state.accounts)) yield* accountEvents(account);
  for (const database of sorted(state.databases)) yield databaseEvent(database);
  for (const [database, users] of sortedEntries(state.users)) {
    const atMs = state.databases.get(database)?.createdAtMs ?? 0;
    for (const user of sorted(users)) yield { type: 'UserSet', database, ...user, atMs };
  }
  for (const token of sorted(state.userTokens)) {
    yield { type: 'UserTokenIssued', ...token, atMs: state.databases.get(token.database)?.createdAtMs ?? 0 };
  }
  const { firstStart } = state;
  if (firstStart !== undefined) {
    const atMs = state.accounts.get(firstStart.account)?.createdAtMs ?? 0;
    yield { type: 'FirstStarted', ...firstStart, atMs };
  }
  for (const [database, days] of sortedEntries(state.quotas)) {
    for (const [day, { settled, shares }] of sortedDays(days)) {
      const held = sortedEntries(shares).map(([session, { reserved, metered }]) => ({ session, reserved, metered }));
      yield { type: 'QuotaRestored', database, day, settled, shares: held };
    }
  }
  for (const [database, days] of sortedEntries(state.usage)) {
    for (const [day, usage] of sortedDays(days)) yield { type: 'UsageRestored', database, day, ...usage };
  }
  const { meterPosition: position, latestDay } = state;
  if (position > 0 || latestDay > 0) {
    yield { type: 'MeterRestored', position, marks: sorted(state.meterMarks), latestDay };
  }
}

function* accountEvents({ readOnlyToken, limits, state, ...created }: Account): Iterable<ControlEvent> {
  const { id: account, secrets, createdAtMs: atMs } = created;
  yield { type: 'AccountCreated', ...created };
  if (readOnlyToken !== undefined) {
    yield { type: 'QueueTokensSet', account, queueToken: secrets.queueToken, readOnlyToken, atMs };
  }
  if (limits !== undefined) yield { type: 'AccountLimitsSet', account, limits, atMs };
  if (state !== undefined) yield { type: 'AccountStateSet', account, state, atMs };
}

function databaseEvent({ deletedAtMs, secrets, ...database }: Database): ControlEvent {
  if (deletedAtMs !== undefined || secrets === undefined) {
    return { type: 'TombstoneRestored', ...database, deletedAtMs: deletedAtMs ?? database.createdAtMs };
  }
  return { type: 'DatabaseCreated', ...database, secrets };
}

function sorted<V>(map: ReadonlyMap<string, V>): V[] {
  return sortedEntries(map).map(([, value]) => value);
}

function sortedEntries<K extends string, V>(map: ReadonlyMap<K, V>): [K, V][] {
  return [...map].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
}

function sortedDays<V>(map: ReadonlyMap<number, V>): [number, V][] {
  return [...map].sort(([a], [b]) => a - b);
}
