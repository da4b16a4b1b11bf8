/**
 * `millrace db`: creates, lists, changes and deletes databases through the control actor. Secrets are generated here
 * and appear in clear text only in this output.
 */
import {
  type ControlClient,
  newDatabaseCredentials,
  openDatabaseCredentials,
  sealDatabaseCredentials,
} from '../actors/control/index.js';
import {
  cancellingOf,
  type Database,
  type DatabaseLimits,
  type DatabaseView,
  isChangingLayout,
} from '../domain/control/index.js';
import type { AccountId, PartitionName, Random } from '../kernel/index.js';
import type { Sealing } from '../ports/index.js';
import { accountIdOfUuid, databaseIdOfUuid, kvPartitions, newDatabaseId } from '../protocol/index.js';
import { ask, askFor, doVerb, noted, RefusedCommand, type Verbs, wholeOf } from './command-line.js';
import { databaseFacts, databaseTable, secretFacts, secretLines } from './db-output.js';
import { type ParsedArguments, shown, UsageError } from './parser.js';

export interface DbCommandDeps {
  readonly client: ControlClient;
  readonly sealing: Sealing;
  readonly random: Random;
  /** Default limits of a new database. */
  readonly defaultLimits: DatabaseLimits;
  write(text: string): void;
  pause(ms: number): Promise<void>;
  /** Empties partitions of a deleted database, which no token opens any more. */
  flush(database: Database, partitions: readonly PartitionName[]): Promise<void>;
}

/**
 * @param verb one of `lines/db-line.ts`. @returns the exit code. @throws UsageError, RefusedCommand, errors of asking
 */
export function dbCommand(verb: string, asked: ParsedArguments, deps: DbCommandDeps): Promise<number> {
  return doVerb(VERBS, verb, asked, deps);
}

const VERBS: Verbs<DbCommandDeps> = {
  create,
  list,
  partitions,
  'reset-password': resetPassword,
  limits,
  suspend: (asked, deps) => suspend(true, asked, deps),
  activate: (asked, deps) => suspend(false, asked, deps),
  delete: remove,
};

async function create(asked: ParsedArguments, { client, random, sealing, defaultLimits, write }: DbCommandDeps) {
  const { options } = asked;
  const { name = '' } = options;
  const credentials = newDatabaseCredentials(random);
  const account = accountIdOfUuid(options.account ?? '') ?? (options.account as AccountId | undefined);
  const command = {
    type: 'CreateDatabase',
    database: {
      id: newDatabaseId(random),
      name,
      account,
      partitions: wholeOf(asked, 'partitions') ?? 1,
      limits: {
        maxCommandBytes: wholeOf(asked, 'max-command-bytes') ?? defaultLimits.maxCommandBytes,
        maxRequestsPerDay: wholeOf(asked, 'max-requests-per-day') ?? defaultLimits.maxRequestsPerDay,
      },
      secrets: sealDatabaseCredentials(credentials, sealing),
      ...(asked.flags.has('cluster') && { isCluster: true }),
    },
  } as const;
  const owner = account ?? (await firstAccount(client));
  const order = owner === undefined ? command : noted(owner, 'createDatabase', name, command);
  const { database } = await askFor(client, order, 'OneDatabase');
  write(shown(asked, secretFacts(database, credentials), () => secretLines(database, credentials)));
}

async function list(asked: ParsedArguments, { client, sealing, write }: DbCommandDeps): Promise<void> {
  const databases = (await allDatabases(client)).filter(({ database }) => database.deletedAtMs === undefined);
  const opened = databases.map(({ database, today }) => {
    const { secrets } = database;
    const isShown = secrets !== undefined && asked.flags.has('show-secrets');
    return { database, today, credentials: isShown ? openDatabaseCredentials(secrets, sealing) : undefined };
  });
  const facts = opened.map(({ database, today, credentials }) => ({
    ...(credentials === undefined ? databaseFacts(database) : secretFacts(database, credentials)),
    today,
  }));
  write(
    shown(asked, facts, () => {
      const secrets = opened.map(({ database, credentials }) =>
        credentials === undefined ? '' : `\n${secretLines(database, credentials)}`,
      );
      return databaseTable(databases) + secrets.join('');
    }),
  );
}

async function resetPassword(asked: ParsedArguments, { client, random, sealing, write }: DbCommandDeps): Promise<void> {
  const former = await findDatabase(client, whichOf(asked));
  const credentials = newDatabaseCredentials(random);
  const secrets = sealDatabaseCredentials(credentials, sealing);
  const command = { type: 'ResetPassword', database: former.id, secrets } as const;
  const order = noted(former.account, 'resetPassword', former.name, command);
  const { database } = await askFor(client, order, 'OneDatabase');
  write(shown(asked, secretFacts(database, credentials), () => secretLines(database, credentials)));
}

async function limits(asked: ParsedArguments, { client, write }: DbCommandDeps): Promise<void> {
  const maxCommandBytes = wholeOf(asked, 'max-command-bytes');
  const maxRequestsPerDay = wholeOf(asked, 'max-requests-per-day');
  if (maxCommandBytes === undefined && maxRequestsPerDay === undefined) throw new UsageError('no limit was given');
  const { id, account, name } = await findDatabase(client, whichOf(asked));
  const command = { type: 'UpdateLimits', database: id, maxCommandBytes, maxRequestsPerDay } as const;
  const { database } = await askFor(client, noted(account, 'updateLimits', name, command), 'OneDatabase');
  const { limits: now } = database;
  write(
    shown(asked, databaseFacts(database), () => {
      const { maxCommandBytes: bytes, maxRequestsPerDay: requests } = now;
      return `${database.id} max-command-bytes=${bytes} max-requests-per-day=${requests}\n`;
    }),
  );
}

const LOOK_EVERY_MS = 500;
const NEEDS_ONE_SLOT = `with several partitions a command, transaction or script on several keys needs keys of one hash slot,
such as {user1}:cart and {user1}:orders; others are answered CROSSSLOT`;

async function partitions(asked: ParsedArguments, deps: DbCommandDeps): Promise<void> {
  const { client, write } = deps;
  const { flags, words } = asked;
  const before = await findDatabase(client, whichOf(asked));
  const { id, account, name } = before;
  const wanted = Number(words[1]);
  if (flags.has('cancel') === (words[1] !== undefined))
    throw new UsageError('give a number of partitions, or --cancel');
  const isSplit = before.partitions === 1 && wanted > 1;
  if (isSplit && !flags.has('yes')) throw new UsageError(`${NEEDS_ONE_SLOT}: confirm with --yes`);
  const order = flags.has('cancel')
    ? noted(account, 'cancelPartitions', name, cancellingOf(id, before.layoutChange))
    : noted(account, 'changePartitions', name, { type: 'ChangePartitions', database: id, partitions: wanted });
  const { database } = await askFor(client, order, 'OneDatabase');
  const after = flags.has('wait') ? await untilChanged(database, asked, deps) : database;
  write(shown(asked, databaseFacts(after), () => `${layoutLine(after)}\n`));
  const { layoutChange } = after;
  if (layoutChange?.phase === 'failed' && flags.has('wait') && !flags.has('cancel')) {
    throw new RefusedCommand(`the number of partitions was not changed: ${layoutChange.reason}`);
  }
}

/** Shows each step of the progress. */
async function untilChanged(begun: Database, asked: ParsedArguments, { client, write, pause }: DbCommandDeps) {
  let last = '';
  for (let database = begun; ; ) {
    if (!isChangingLayout(database)) return database;
    const line = layoutLine(database);
    if (line !== last && !asked.flags.has('json')) write(`${line}\n`);
    last = line;
    await pause(LOOK_EVERY_MS);
    database = await findDatabase(client, begun.id);
  }
}

function layoutLine({ id, partitions: present, layoutChange }: Database): string {
  if (layoutChange === undefined) return `${id} partitions=${present}`;
  const { phase, partitions: other, percent, reason } = layoutChange;
  const to = phase === 'copying' ? ` to=${other} copied=${percent}%` : '';
  return `${id} partitions=${present} ${phase}${to}${reason === '' ? '' : ` reason="${reason}"`}`;
}

/** A suspended database refuses every client until it is activated; its data stays. */
async function suspend(isSuspended: boolean, asked: ParsedArguments, { client, write }: DbCommandDeps): Promise<void> {
  const { id, account, name } = await findDatabase(client, whichOf(asked));
  const change = { settings: { isSuspended } };
  const command = { type: 'ChangeDatabase', account, database: id, change } as const;
  const action = isSuspended ? 'suspendDatabase' : 'activateDatabase';
  const { database } = await askFor(client, noted(account, action, name, command), 'OneDatabase');
  const facts = databaseFacts(database);
  write(shown(asked, facts, () => `${id} state=${facts.state}\n`));
}

/**
 * Tokens are revoked first, so that no data is written to emptied partitions. Repeating the command empties them
 * again.
 */
async function remove(asked: ParsedArguments, { client, flush, write }: DbCommandDeps): Promise<void> {
  if (!asked.flags.has('yes')) throw new UsageError('a deleted database cannot be restored: confirm with --yes');
  const { id, account, name } = await findDatabase(client, whichOf(asked), true);
  const command = { type: 'DeleteDatabase', database: id } as const;
  const { database } = await askFor(client, noted(account, 'deleteDatabase', name, command), 'OneDatabase');
  try {
    await flush(database, kvPartitions(id, database));
  } catch (cause) {
    throw new Error(
      `${id} is deleted and its tokens are refused, but its data is not removed yet: run the command again`,
      { cause },
    );
  }
  write(shown(asked, { id, name, deleted: true }, () => `${id} deleted\n`));
}

export async function allDatabases(client: ControlClient): Promise<readonly DatabaseView[]> {
  return (await askFor(client, { type: 'ListDatabases' }, 'Databases')).databases;
}

/** The first account owns databases created without an account. */
async function firstAccount(client: ControlClient): Promise<AccountId | undefined> {
  const reply = await ask(client, { type: 'ListAccounts' });
  return reply.type === 'Accounts' ? reply.accounts[0]?.id : undefined;
}

/**
 * Finds a database by its id or UUID, on request also a deleted one; otherwise by the name of one that is not
 * deleted.
 */
export async function findDatabase(client: ControlClient, idOrName: string, withDeleted = false): Promise<Database> {
  const all = (await allDatabases(client)).map(({ database }) => database);
  const wanted = databaseIdOfUuid(idOrName) ?? idOrName;
  const byId = all.find(({ id, deletedAtMs }) => id === wanted && (withDeleted || deletedAtMs === undefined));
  if (byId !== undefined) return byId;
  const named = all.filter(({ name, deletedAtMs }) => name === idOrName && deletedAtMs === undefined);
  const [first, second] = named;
  if (first === undefined) throw new RefusedCommand(`there is no database ${idOrName}`);
  if (second !== undefined)
    throw new RefusedCommand(`${named.length} databases are named ${idOrName}: give the id of one`);
  return first;
}

function whichOf({ words: [idOrName = ''] }: ParsedArguments): string {
  return idOrName;
}
