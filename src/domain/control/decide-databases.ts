/**
 * Decides commands that create, change and delete databases. A repetition (same ids and secrets) gets the same
 * answer.
 */
import type { AccountId, DatabaseId } from '../../kernel/index.js';
import { refuseBranch } from './branches.js';
import type { ControlCommandOf } from './commands.js';
import { refuseLimits, refuseOneMore, refuseSettings } from './database-rules.js';
import { accountCreation, accountOf } from './decide-accounts.js';
import { type Decision, decided, rejected } from './decision.js';
import type { ControlEvent } from './events.js';
import { tombstoneOf } from './evolve-databases.js';
import { MAX_DATABASES, MAX_GIVEN_NAME_CHARACTERS, MAX_PARTITIONS } from './limits.js';
import { isTypedName, refuseName } from './names.js';
import { type Database, type DatabaseLimits, type DatabaseSecrets, type NewDatabase, utcDayOf } from './records.js';
import type { ControlState } from './state.js';

export function decideFirstStart(
  command: ControlCommandOf<'FirstStart'>,
  state: ControlState,
  nowMs: number,
): Decision {
  const { firstStart } = state;
  if (firstStart !== undefined) {
    const account = state.accounts.get(firstStart.account);
    const database = state.databases.get(firstStart.database);
    if (account !== undefined && database !== undefined) {
      // Another process was first, or this is a repetition after a lost answer.
      const isNew = account.id === command.account.id && database.id === command.database.id;
      return decided({ type: 'FirstStarted', isNew, account, database });
    }
  }
  const account = accountOf(command.account, nowMs);
  const refusal = refuseNew(command.database, account.id, state);
  if (refusal !== undefined) return refusal;
  const created = creationOf(command.database, account.id, nowMs);
  return decided(
    { type: 'FirstStarted', isNew: true, account, database: databaseOf(created) },
    ...accountCreation(command.account, nowMs),
    created,
    { type: 'FirstStarted', account: account.id, database: created.id, atMs: nowMs },
  );
}

export function decideCreate(
  { database }: ControlCommandOf<'CreateDatabase'>,
  state: ControlState,
  nowMs: number,
): Decision {
  const account = database.account ?? state.firstStart?.account;
  if (account === undefined || !state.accounts.has(account)) {
    return rejected('UNKNOWN_ACCOUNT', `there is no account ${account ?? 'yet'}`);
  }
  const known = state.live(database.id);
  if (known !== undefined && known.account === account && hasSecrets(known, database.secrets)) {
    return decided({ type: 'OneDatabase', database: known });
  }
  const refusal = refuseBranch(database, account, state, nowMs) ?? refuseNew(database, account, state);
  if (refusal !== undefined) return refusal;
  const created = creationOf(database, account, nowMs);
  const { settings } = database;
  if (settings === undefined) return decided({ type: 'OneDatabase', database: databaseOf(created) }, created);
  return decided({ type: 'OneDatabase', database: { ...databaseOf(created), settings } }, created, {
    type: 'DatabaseSettingsSet',
    database: created.id,
    settings,
    atMs: nowMs,
  });
}

export function decideReset(command: ControlCommandOf<'ResetPassword'>, state: ControlState, nowMs: number): Decision {
  const { database: id, secrets } = command;
  const database = state.live(id);
  if (database === undefined) return unknownDatabase(id);
  if (hasSecrets(database, secrets)) return decided({ type: 'OneDatabase', database });
  if (!areFresh(secrets, state)) return rejected('SECRET_TAKEN', 'a token or password is in use already');
  return decided(
    { type: 'OneDatabase', database: { ...database, secrets } },
    { type: 'PasswordReset', database: id, secrets, atMs: nowMs },
  );
}

export function decideLimits(command: ControlCommandOf<'UpdateLimits'>, state: ControlState, nowMs: number): Decision {
  const database = state.live(command.database);
  if (database === undefined) return unknownDatabase(command.database);
  const limits: DatabaseLimits = {
    ...database.limits,
    maxCommandBytes: command.maxCommandBytes ?? database.limits.maxCommandBytes,
    maxRequestsPerDay: command.maxRequestsPerDay ?? database.limits.maxRequestsPerDay,
  };
  const refusal = refuseLimits(limits);
  if (refusal !== undefined) return refusal;
  const isSame =
    limits.maxCommandBytes === database.limits.maxCommandBytes &&
    limits.maxRequestsPerDay === database.limits.maxRequestsPerDay;
  if (isSame) return decided({ type: 'OneDatabase', database });
  return decided(
    { type: 'OneDatabase', database: { ...database, limits } },
    { type: 'LimitsUpdated', database: database.id, limits, atMs: nowMs },
  );
}

export function decideDelete(
  { database: id }: ControlCommandOf<'DeleteDatabase'>,
  state: ControlState,
  nowMs: number,
): Decision {
  const database = state.databases.get(id);
  if (database === undefined) return unknownDatabase(id);
  // A repetition succeeds, because the data may still have to be removed.
  if (database.deletedAtMs !== undefined) return decided({ type: 'OneDatabase', database });
  return decided(
    { type: 'OneDatabase', database: tombstoneOf(database, nowMs) },
    { type: 'DatabaseDeleted', database: id, atMs: nowMs },
  );
}

export function unknownDatabase(id: DatabaseId): Decision {
  return rejected('UNKNOWN_DATABASE', `there is no database ${id}`);
}

function refuseNew(database: NewDatabase, account: AccountId, state: ControlState): Decision | undefined {
  const { id, name, partitions, limits, secrets, settings } = database;
  const badName = settings === undefined ? refuseTypedName(account, name, state) : refuseName(name);
  if (badName !== undefined) return badName;
  if (!Number.isSafeInteger(partitions) || partitions < 1 || partitions > MAX_PARTITIONS) {
    return rejected('BAD_PARTITIONS', `a database has 1 to ${MAX_PARTITIONS} partitions`);
  }
  const refusal = refuseLimits(limits);
  if (refusal !== undefined) return refusal;
  if (state.databases.has(id) || state.search.byId.has(id)) {
    return rejected('ID_TAKEN', `there is a database ${id} already`);
  }
  if (settings !== undefined) {
    // Branches have a separate limit.
    const isOneMore = database.branch === undefined;
    const wrong = refuseSettings(settings) ?? (isOneMore ? refuseOneMore(state, account, settings) : undefined);
    if (wrong !== undefined) return wrong;
  }
  if (!areFresh(secrets, state)) return rejected('SECRET_TAKEN', 'a token or password is in use already');
  if (state.liveCount >= MAX_DATABASES) {
    return rejected('TOO_MANY_DATABASES', `there are ${MAX_DATABASES} databases, which is the maximum`);
  }
  return undefined;
}

/**
 * Checks the name of a database of the command line, which operators use to select it, so it must be unique.
 * Databases with settings come from the management API, which uses ids and allows a name several times.
 */
function refuseTypedName(account: AccountId, name: string, state: ControlState): Decision | undefined {
  if (!isTypedName(name)) {
    return rejected(
      'BAD_NAME',
      `a name must have 1 to ${MAX_GIVEN_NAME_CHARACTERS} characters, without control characters and without spaces at its ends`,
    );
  }
  if (state.named(account, name) === undefined) return undefined;
  return rejected('NAME_TAKEN', `there is a database named ${name} already`);
}

/** No two databases share a secret, and the two tokens of one database differ. */
function areFresh({ standardToken, readOnlyToken, password }: DatabaseSecrets, state: ControlState): boolean {
  if (standardToken.sha256 === readOnlyToken.sha256) return false;
  const isTaken = state.tokens.has(standardToken.sha256) || state.tokens.has(readOnlyToken.sha256);
  return !isTaken && !state.passwords.has(password.sha256);
}

function hasSecrets({ secrets }: Database, { standardToken, readOnlyToken, password }: DatabaseSecrets): boolean {
  if (secrets === undefined) return false;
  return (
    secrets.standardToken.sha256 === standardToken.sha256 &&
    secrets.readOnlyToken.sha256 === readOnlyToken.sha256 &&
    secrets.password.sha256 === password.sha256
  );
}

type Creation = Extract<ControlEvent, { readonly type: 'DatabaseCreated' }>;

function creationOf(database: NewDatabase, account: AccountId, createdAtMs: number): Creation {
  const { id, name, partitions, limits, secrets, isCluster, branch } = database;
  const created = { id, name, account, partitions, limits, secrets, createdAtMs } as const;
  return {
    type: 'DatabaseCreated',
    ...created,
    ...(isCluster === true && { isCluster }),
    ...(branch !== undefined && { branch }),
  };
}

function databaseOf({ type: _, ...database }: Creation): Database {
  return { ...database, deletedAtMs: undefined };
}

/** Includes deleted ones, oldest first, because their data may still have to be removed. */
export function decideListDatabases(
  _: ControlCommandOf<'ListDatabases'>,
  state: ControlState,
  nowMs: number,
): Decision {
  const today = utcDayOf(nowMs);
  const databases = [...state.databases.values()]
    .sort((a, b) => a.createdAtMs - b.createdAtMs || (a.id < b.id ? -1 : 1))
    .map((database) => ({ database, today: state.usageOf(database.id, today) }));
  return decided({ type: 'Databases', databases });
}
