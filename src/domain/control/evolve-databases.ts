/** Events of databases and of their users. */
import { assert, type BackupId, type DatabaseId } from '../../kernel/index.js';
import type { ControlEventOf } from './events.js';
import type { Backup, SearchIndex } from './management.js';
import { type Database, endOfPartitions } from './records.js';
import type { ControlState } from './state.js';

export function databaseCreated(
  { type: _, ...database }: ControlEventOf<'DatabaseCreated'>,
  state: ControlState,
): void {
  state.put({ ...database, deletedAtMs: undefined });
}

export function firstStarted({ account, database }: ControlEventOf<'FirstStarted'>, state: ControlState): void {
  state.firstStart = { account, database };
}

export function passwordReset({ database, secrets }: ControlEventOf<'PasswordReset'>, state: ControlState): void {
  state.put({ ...existing(state, database), secrets });
  state.dropVoidTokens(database, 'default');
}

export function limitsUpdated({ database, limits }: ControlEventOf<'LimitsUpdated'>, state: ControlState): void {
  state.put({ ...existing(state, database), limits });
}

export function databaseSettingsSet(event: ControlEventOf<'DatabaseSettingsSet'>, state: ControlState): void {
  state.put({ ...existing(state, event.database), settings: event.settings });
}

export function databaseLayoutSet(event: ControlEventOf<'DatabaseLayoutSet'>, state: ControlState): void {
  const { database, firstPartition, partitions, layoutChange, former } = event;
  const { layoutChange: _, former: __, ...rest } = existing(state, database);
  const change = layoutChange === undefined ? {} : { layoutChange };
  state.put({ ...rest, firstPartition, partitions, ...change, ...(former && { former }) });
}

export function databaseRenamed({ database, name }: ControlEventOf<'DatabaseRenamed'>, state: ControlState): void {
  state.put({ ...existing(state, database), name });
}

export function databaseMoved({ database, account }: ControlEventOf<'DatabaseMoved'>, state: ControlState): void {
  state.put({ ...existing(state, database), account });
  // CST7 (a backup belongs to the account of its database).
  for (const backup of state.backups.of(database)) state.backups.put({ ...backup, account });
}

export function databaseDeleted({ database, atMs }: ControlEventOf<'DatabaseDeleted'>, state: ControlState): void {
  // Settings contain tokens and addresses, so they are dropped. Of a deleted database only the fields that keep its
  // id and partitions reserved remain.
  state.put(tombstoneOf(existing(state, database), atMs));
  state.dropUsers(database);
  state.dropCounts(database);
  state.triggers.dropOfDatabase(database);
  state.usageRecords.drop(database);
  for (const { id } of state.backups.of(database)) state.backups.delete(id);
}

/** All partitions that it has ever had, so that the data of each is removed. */
export function tombstoneOf(database: Database, deletedAtMs: number): Database {
  const { settings: _, firstPartition: __, layoutChange: ___, former: ____, ...rest } = database;
  return { ...rest, partitions: endOfPartitions(database), secrets: undefined, deletedAtMs };
}

export function tombstoneRestored(event: ControlEventOf<'TombstoneRestored'>, state: ControlState): void {
  const { type: _, ...database } = event;
  state.put({ ...database, secrets: undefined });
}

export function userSet(event: ControlEventOf<'UserSet'>, state: ControlState): void {
  const { type: _, database, atMs: __, ...user } = event;
  state.putUser(database, user);
}

export function userDeleted({ database, name }: ControlEventOf<'UserDeleted'>, state: ControlState): void {
  state.deleteUser(database, name);
}

export function userTokenIssued(event: ControlEventOf<'UserTokenIssued'>, state: ControlState): void {
  const { type: _, atMs: __, ...token } = event;
  state.putToken(token);
}

function existing(state: ControlState, id: DatabaseId): Database {
  const database = state.databases.get(id);
  assert(database !== undefined, 'an event of a database that is not there', { database: id });
  return database;
}

/** Events of backups. */
export function backupStarted({ type: _, ...backup }: ControlEventOf<'BackupStarted'>, state: ControlState): void {
  state.backups.put({ ...backup, state: 'pending', bytes: 0, manifests: [], reason: '' });
}

export function backupEnded(event: ControlEventOf<'BackupEnded'>, state: ControlState): void {
  const { backup, state: ended, bytes, manifests, reason } = event;
  state.backups.put({ ...existingBackup(state, backup), state: ended, bytes, manifests, reason });
}

export function backupDeleted({ backup }: ControlEventOf<'BackupDeleted'>, state: ControlState): void {
  state.backups.delete(backup);
}

function existingBackup(state: ControlState, id: BackupId): Backup {
  const backup = state.backups.byId.get(id);
  assert(backup !== undefined, 'an event of a backup that is not there', { backup: id });
  return backup;
}

/** Events of search indexes. */
export function searchIndexCreated({ index }: ControlEventOf<'SearchIndexCreated'>, state: ControlState): void {
  state.search.put({ ...index, deletedAtMs: undefined });
}

export function searchIndexSet(event: ControlEventOf<'SearchIndexSet'>, state: ControlState): void {
  const { name, account, limits, tokens } = event;
  const before = existingIndex(state, event.index);
  state.search.put({ ...before, name, account, limits, tokens, type: event.plan ?? before.type });
}

export function searchIndexDeleted({ index, atMs }: ControlEventOf<'SearchIndexDeleted'>, state: ControlState): void {
  state.search.put({ ...existingIndex(state, index), tokens: undefined, deletedAtMs: atMs });
  state.dropCounts(index);
  state.usageRecords.drop(index);
}

export function searchTombstoneRestored(
  { index }: ControlEventOf<'SearchTombstoneRestored'>,
  state: ControlState,
): void {
  state.search.put({ ...index, tokens: undefined });
}

function existingIndex(state: ControlState, id: DatabaseId): SearchIndex {
  const index = state.search.byId.get(id);
  assert(index !== undefined, 'an event of a search index that is not there', { index: id });
  return index;
}
