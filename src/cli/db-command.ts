/**
 * `millrace db`: creates, lists, changes and deletes databases by asking the control actor. Secrets are made
 * here and printed here, and nowhere else in clear.
 */
import {
  type ControlClient,
  newDatabaseCredentials,
  openDatabaseCredentials,
  sealDatabaseCredentials,
} from '../actors/control/index.js';
import type { Database, DatabaseLimits, DatabaseView } from '../domain/control/index.js';
import type { AccountId, PartitionName, Random } from '../kernel/index.js';
import { accountIdOfUuid, databaseIdOfUuid, kvPartition, newDatabaseId } from '../messages/index.js';
import type { Sealing } from '../ports/index.js';
import {
  ask,
  askFor,
  noted,
  parse,
  RefusedCommand,
  runVerb,
  UsageError,
  type Verbs,
  wholeOption,
} from './command-line.js';
import { databaseTable, secretLines } from './db-output.js';

export interface DbCommandDeps {
  readonly client: ControlClient;
  readonly sealing: Sealing;
  readonly random: Random;
  /** Limits of a database that is given none. */
  readonly defaultLimits: DatabaseLimits;
  write(text: string): void;
  writeError(text: string): void;
  /** Empties partitions of a database that nothing opens any more. */
  flush(database: Database, partitions: readonly PartitionName[]): Promise<void>;
}

const DB_USAGE = `usage: millrace db create --name NAME [--partitions N] [--max-command-bytes N]
                           [--max-requests-per-day N] [--account ID]
       millrace db list [--show-secrets]
       millrace db reset-password ID|NAME
       millrace db limits ID|NAME [--max-command-bytes N] [--max-requests-per-day N]
       millrace db suspend|activate ID|NAME
       millrace db delete ID|NAME --yes
       (an ID may be a UUID of the management API)
`;

/** @returns the exit code. Never throws */
export function dbCommand(argv: readonly string[], deps: DbCommandDeps): Promise<number> {
  return runVerb(['db', DB_USAGE, VERBS], argv, deps);
}

const VERBS: Verbs<DbCommandDeps> = {
  create,
  list,
  'reset-password': resetPassword,
  limits,
  suspend: (argv, deps) => suspend(true, argv, deps),
  activate: (argv, deps) => suspend(false, argv, deps),
  delete: remove,
};

async function create(argv: readonly string[], { client, random, sealing, defaultLimits, write }: DbCommandDeps) {
  const { options } = parse(argv, ['name', 'partitions', 'account', ...LIMIT_OPTIONS], [], 0);
  const { name } = options;
  if (name === undefined) throw new UsageError('--name is missing');
  const credentials = newDatabaseCredentials(random);
  const account = accountIdOfUuid(options.account ?? '') ?? (options.account as AccountId | undefined);
  const command = {
    type: 'CreateDatabase',
    database: {
      id: newDatabaseId(random),
      name,
      account,
      partitions: wholeOption(options, 'partitions') ?? 1,
      limits: {
        maxCommandBytes: wholeOption(options, 'max-command-bytes') ?? defaultLimits.maxCommandBytes,
        maxRequestsPerDay: wholeOption(options, 'max-requests-per-day') ?? defaultLimits.maxRequestsPerDay,
      },
      secrets: sealDatabaseCredentials(credentials, sealing),
    },
  } as const;
  const owner = account ?? (await firstAccount(client));
  const asked = owner === undefined ? command : noted(owner, 'createDatabase', name, command);
  write(secretLines((await askFor(client, asked, 'OneDatabase')).database, credentials));
}

async function list(argv: readonly string[], { client, sealing, write }: DbCommandDeps): Promise<void> {
  const { flags } = parse(argv, [], ['show-secrets'], 0);
  const databases = (await allDatabases(client)).filter(({ database }) => database.deletedAtMs === undefined);
  write(databaseTable(databases));
  if (!flags.has('show-secrets')) return;
  for (const { database } of databases) {
    if (database.secrets === undefined) continue;
    write(`\n${secretLines(database, openDatabaseCredentials(database.secrets, sealing))}`);
  }
}

async function resetPassword(
  argv: readonly string[],
  { client, random, sealing, write }: DbCommandDeps,
): Promise<void> {
  const { words } = parse(argv, [], [], 1, WHICH);
  const database = await find(client, words[0] as string);
  const credentials = newDatabaseCredentials(random);
  const secrets = sealDatabaseCredentials(credentials, sealing);
  const command = { type: 'ResetPassword', database: database.id, secrets } as const;
  const asked = noted(database.account, 'resetPassword', database.name, command);
  write(secretLines((await askFor(client, asked, 'OneDatabase')).database, credentials));
}

async function limits(argv: readonly string[], { client, write }: DbCommandDeps): Promise<void> {
  const { words, options } = parse(argv, LIMIT_OPTIONS, [], 1, WHICH);
  const maxCommandBytes = wholeOption(options, 'max-command-bytes');
  const maxRequestsPerDay = wholeOption(options, 'max-requests-per-day');
  if (maxCommandBytes === undefined && maxRequestsPerDay === undefined) throw new UsageError('no limit is given');
  const { id, account, name } = await find(client, words[0] as string);
  const command = { type: 'UpdateLimits', database: id, maxCommandBytes, maxRequestsPerDay } as const;
  const { database } = await askFor(client, noted(account, 'updateLimits', name, command), 'OneDatabase');
  const { limits: now } = database;
  write(`${database.id} max-command-bytes=${now.maxCommandBytes} max-requests-per-day=${now.maxRequestsPerDay}\n`);
}

/** Nobody gets in until it is activated; its data stays. */
async function suspend(isSuspended: boolean, argv: readonly string[], { client, write }: DbCommandDeps): Promise<void> {
  const { words } = parse(argv, [], [], 1, WHICH);
  const { id, account, name } = await find(client, words[0] as string);
  const change = { settings: { isSuspended } };
  const command = { type: 'ChangeDatabase', account, database: id, change } as const;
  const action = isSuspended ? 'suspendDatabase' : 'activateDatabase';
  const { database } = await askFor(client, noted(account, action, name, command), 'OneDatabase');
  write(`${id} state=${database.settings?.isSuspended === true ? 'suspended' : 'active'}\n`);
}

/** Tokens die first: nothing is written to partitions that were emptied. Asked again, it empties them again. */
async function remove(argv: readonly string[], { client, flush, write }: DbCommandDeps): Promise<void> {
  const { words, flags } = parse(argv, [], ['yes'], 1, WHICH);
  if (!flags.has('yes')) throw new UsageError('a deleted database is gone for good: confirm with --yes');
  const { id, account, name } = await find(client, words[0] as string, true);
  const command = { type: 'DeleteDatabase', database: id } as const;
  const { database } = await askFor(client, noted(account, 'deleteDatabase', name, command), 'OneDatabase');
  try {
    await flush(
      database,
      Array.from({ length: database.partitions }, (_, index) => kvPartition(id, index)),
    );
  } catch (cause) {
    throw new Error(`${id} is deleted and its tokens are dead, but its data is not removed yet: ask again`, { cause });
  }
  write(`${id} deleted\n`);
}

async function allDatabases(client: ControlClient): Promise<readonly DatabaseView[]> {
  return (await askFor(client, { type: 'ListDatabases' }, 'Databases')).databases;
}

/** A database for which no account is named belongs to the first one. */
async function firstAccount(client: ControlClient): Promise<AccountId | undefined> {
  const reply = await ask(client, { type: 'ListAccounts' });
  return reply.type === 'Accounts' ? reply.accounts[0]?.id : undefined;
}

/** Finds a database by its id or UUID, a deleted one too where wanted; else by the name of one that is not deleted. */
async function find(client: ControlClient, idOrName: string, withDeleted = false): Promise<Database> {
  const all = (await allDatabases(client)).map(({ database }) => database);
  const wanted = databaseIdOfUuid(idOrName) ?? idOrName;
  const byId = all.find(({ id, deletedAtMs }) => id === wanted && (withDeleted || deletedAtMs === undefined));
  if (byId !== undefined) return byId;
  const named = all.filter(({ name, deletedAtMs }) => name === idOrName && deletedAtMs === undefined);
  const [first, second] = named;
  if (first === undefined) throw new RefusedCommand(`there is no database ${idOrName}`);
  if (second !== undefined)
    throw new RefusedCommand(`${named.length} databases are named ${idOrName}: say which by its id`);
  return first;
}

const WHICH = 'which database? Name it by its id or its name';
const LIMIT_OPTIONS = ['max-command-bytes', 'max-requests-per-day'] as const;
