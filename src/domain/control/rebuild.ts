/** The content of a snapshot: events that rebuild the control state. Equal states give equal events in equal order. */
import type { ControlEvent } from './events.js';
import type { Backup, SearchIndex } from './management.js';
import type { Account, Database } from './records.js';
import type { ControlState } from './state.js';

export function* rebuildingEvents(state: ControlState): Iterable<ControlEvent> {
  if (state.format !== undefined) yield { type: 'FormatRaised', ...state.format };
  for (const account of sorted(state.accounts)) yield* accountEvents(account);
  for (const [account, atMs] of sortedEntries(state.deletedAccounts)) yield { type: 'AccountDeleted', account, atMs };
  for (const role of state.roles.all()) yield { type: 'RoleSet', role, atMs: 0 };
  for (const assignment of sorted(state.roles.assignments)) yield { type: 'RoleAssigned', assignment };
  for (const key of sorted(state.apiKeys.byId)) yield { type: 'ApiKeyCreated', ...key };
  for (const database of sorted(state.databases)) yield* databaseEvents(database);
  for (const index of sorted(state.search.byId)) yield searchEvent(index);
  for (const backup of sorted(state.backups.byId)) yield* backupEvents(backup);
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
  for (const rule of sorted(state.alerts.rules)) yield { type: 'AlertRuleSet', rule, atMs: 0 };
  for (const alert of state.alerts.byNumber.values()) yield { type: 'AlertRestored', alert };
  for (const trigger of sorted(state.triggers.byId)) yield { type: 'TriggerSet', trigger, atMs: 0 };
  for (const entry of state.audit.all()) yield { type: 'AuditNoted', ...entry };
  for (const session of state.signedOut.all()) yield { type: 'SignedOut', ...session, atMs: 0 };
  for (const { sinceMs: atMs, ...person } of sorted(state.providerPeople.byEmail)) {
    yield { type: 'ProviderPersonSet', ...person, atMs };
  }
  for (const session of state.sessions.byName.values()) yield { type: 'SessionBegan', ...session };
  for (const labels of sorted(state.usageRecords.labels)) yield { type: 'LabelsSet', ...labels, atMs: 0 };
  for (const report of sorted(state.usageRecords.reports)) yield { type: 'UsageReportSet', ...report, atMs: 0 };
  for (const one of sorted(state.auditExports)) yield { type: 'AuditExportSet', ...one, atMs: 0 };
}

function* accountEvents(record: Account): Iterable<ControlEvent> {
  const { readOnlyToken, limits, state, plan, team, queueOwner, ...created } = record;
  const { id: account, secrets, createdAtMs: atMs } = created;
  yield { type: 'AccountCreated', ...created };
  if (readOnlyToken !== undefined) {
    yield { type: 'QueueTokensSet', account, queueToken: secrets.queueToken, readOnlyToken, atMs };
  }
  if (limits !== undefined) yield { type: 'AccountLimitsSet', account, limits, atMs };
  if (state !== undefined) yield { type: 'AccountStateSet', account, state, atMs };
  if (plan !== undefined) yield { type: 'AccountPlanSet', account, plan, atMs };
  if (team !== undefined) yield { type: 'TeamSet', account, team, atMs };
  if (queueOwner !== undefined) yield { type: 'QueueMoved', account, owner: queueOwner, atMs };
}

function* databaseEvents({
  deletedAtMs,
  secrets,
  settings,
  layoutChange,
  former,
  ...database
}: Database): Iterable<ControlEvent> {
  const { id, createdAtMs: atMs } = database;
  if (deletedAtMs !== undefined || secrets === undefined) {
    yield { type: 'TombstoneRestored', ...database, deletedAtMs: deletedAtMs ?? atMs };
    return;
  }
  yield { type: 'DatabaseCreated', ...database, secrets };
  const { firstPartition, partitions } = database;
  if (firstPartition !== undefined) {
    yield {
      type: 'DatabaseLayoutSet',
      database: id,
      firstPartition,
      partitions,
      atMs,
      ...(layoutChange && { layoutChange }),
      ...(former && { former }),
    };
  }
  if (settings !== undefined) yield { type: 'DatabaseSettingsSet', database: id, settings, atMs };
}

function searchEvent({ deletedAtMs, tokens, ...index }: SearchIndex): ControlEvent {
  if (deletedAtMs !== undefined || tokens === undefined) {
    return { type: 'SearchTombstoneRestored', index: { ...index, deletedAtMs: deletedAtMs ?? index.createdAtMs } };
  }
  return { type: 'SearchIndexCreated', index: { ...index, tokens } };
}

function* backupEvents({ state, bytes, manifests, reason, ...started }: Backup): Iterable<ControlEvent> {
  const { id: backup, createdAtMs: atMs } = started;
  yield { type: 'BackupStarted', ...started };
  if (state !== 'pending') yield { type: 'BackupEnded', backup, state, bytes, manifests, reason, atMs };
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
