/** Applies what happened to the control state, in place. Total over everything ever journaled; never judges. */
import { assert, type DatabaseId, unreachable } from '../../kernel/index.js';
import type { ControlEvent } from './events.js';
import { type AccountEvent, evolveAccounts } from './evolve-accounts.js';
import { type BackupEvent, evolveBackups } from './evolve-backups.js';
import { type CountEvent, evolveCounts } from './evolve-counts.js';
import { evolveSearch, type SearchEvent } from './evolve-search.js';
import type { Database } from './records.js';
import type { ControlState } from './state.js';

type DatabaseEvent = Exclude<
  ControlEvent,
  AccountEvent | CountEvent | SearchEvent | BackupEvent | { readonly type: 'AuditNoted' | 'SignedOut' }
>;

export function evolve(state: ControlState, event: ControlEvent): void {
  switch (event.type) {
    case 'AccountCreated':
    case 'AccountLimitsSet':
    case 'AccountStateSet':
    case 'AccountPlanSet':
    case 'AccountDeleted':
    case 'TeamSet':
    case 'QueueMoved':
    case 'QueueTokensSet':
    case 'SigningKeysRotated':
    case 'ApiKeyCreated':
    case 'ApiKeyDeleted':
      evolveAccounts(state, event);
      return;
    case 'QuotaReserved':
    case 'SessionEnded':
    case 'MeterFolded':
    case 'QuotaRestored':
    case 'UsageRestored':
    case 'MeterRestored':
      evolveCounts(state, event);
      return;
    case 'SearchIndexCreated':
    case 'SearchIndexSet':
    case 'SearchIndexDeleted':
    case 'SearchTombstoneRestored':
      evolveSearch(state, event);
      return;
    case 'BackupStarted':
    case 'BackupEnded':
    case 'BackupDeleted':
      evolveBackups(state, event);
      return;
    case 'AuditNoted': {
      const { type: _, ...entry } = event;
      state.audit.add(entry);
      return;
    }
    case 'SignedOut':
      state.signedOut.add(event, event.atMs);
      return;
    default:
      evolveDatabases(state, event);
  }
}

function evolveDatabases(state: ControlState, event: DatabaseEvent): void {
  switch (event.type) {
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
    case 'DatabaseSettingsSet':
      state.put({ ...existing(state, event.database), settings: event.settings });
      return;
    case 'DatabaseRenamed':
      state.put({ ...existing(state, event.database), name: event.name });
      return;
    case 'DatabaseMoved':
      state.put({ ...existing(state, event.database), account: event.account });
      // C7.
      for (const backup of state.backups.of(event.database)) state.backups.put({ ...backup, account: event.account });
      return;
    case 'DatabaseDeleted': {
      // Its settings name tokens and addresses: of what is gone, only what keeps its id and partitions is remembered.
      const { settings: _, ...rest } = existing(state, event.database);
      state.put({ ...rest, secrets: undefined, deletedAtMs: event.atMs });
      state.dropUsers(event.database);
      state.dropCounts(event.database);
      for (const { id } of state.backups.of(event.database)) state.backups.delete(id);
      return;
    }
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
    case 'TombstoneRestored': {
      const { type: _, ...database } = event;
      state.put({ ...database, secrets: undefined });
      return;
    }
    default:
      unreachable(event);
  }
}

function existing(state: ControlState, id: DatabaseId): Database {
  const database = state.databases.get(id);
  assert(database !== undefined, 'an event of a database that is not there', { database: id });
  return database;
}
