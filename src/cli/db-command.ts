/**
 * `millrace db`: creates, lists, changes and deletes databases by asking the control actor. Secrets are made
 * here and printed here, and nowhere else in clear.
 */
import { parseArgs } from 'node:util';
import {
  type ControlClient,
  newDatabaseCredentials,
  openDatabaseCredentials,
  sealDatabaseCredentials,
} from '../actors/control/index.js';
import type { ControlCommand, ControlReply, Database, DatabaseLimits, DatabaseView } from '../domain/control/index.js';
import { type AccountId, describeError, isMillraceError, type PartitionName, type Random } from '../kernel/index.js';
import { kvPartition, newDatabaseId } from '../messages/index.js';
import type { Sealing } from '../ports/index.js';
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

export const DB_USAGE = `usage: millrace db create --name NAME [--partitions N] [--max-command-bytes N]
                           [--max-requests-per-day N] [--account ID]
       millrace db list [--show-secrets]
       millrace db reset-password ID|NAME
       millrace db limits ID|NAME [--max-command-bytes N] [--max-requests-per-day N]
       millrace db delete ID|NAME --yes
`;

/** Each try waits as long as the client does: together longer than a change of owners. */
const MAX_TRIES = 3;

const DONE = 0;
const FAILED = 1;
const WRONG_USAGE = 2;

/** What is wrong with the command line; its message is one line. */
class UsageError extends Error {}
/** What the control actor refused, or cannot be found. */
class Refused extends Error {}

/** @returns the exit code: 0 done, 1 refused or failed, 2 wrong usage. Never throws */
export async function dbCommand(argv: readonly string[], deps: DbCommandDeps): Promise<number> {
  try {
    await run(argv, deps);
    return DONE;
  } catch (error) {
    if (error instanceof UsageError) {
      deps.writeError(`millrace db: ${error.message}\n${DB_USAGE}`);
      return WRONG_USAGE;
    }
    deps.writeError(`millrace db: ${describeError(error)}\n`);
    return FAILED;
  }
}

async function run([verb, ...rest]: readonly string[], deps: DbCommandDeps): Promise<void> {
  switch (verb) {
    case 'create':
      return create(rest, deps);
    case 'list':
      return list(rest, deps);
    case 'reset-password':
      return resetPassword(rest, deps);
    case 'limits':
      return limits(rest, deps);
    case 'delete':
      return remove(rest, deps);
    default:
      throw new UsageError(verb === undefined ? 'what is to be done?' : `${verb} is not one of its commands`);
  }
}

async function create(argv: readonly string[], { client, random, sealing, defaultLimits, write }: DbCommandDeps) {
  const { options } = parse(argv, ['name', 'partitions', 'account', ...LIMIT_OPTIONS], [], 0);
  const { name } = options;
  if (name === undefined) throw new UsageError('--name is missing');
  const credentials = newDatabaseCredentials(random);
  const reply = await ask(client, {
    type: 'CreateDatabase',
    database: {
      id: newDatabaseId(random),
      name,
      account: options.account as AccountId | undefined,
      partitions: wholeOption(options, 'partitions') ?? 1,
      limits: {
        maxCommandBytes: wholeOption(options, 'max-command-bytes') ?? defaultLimits.maxCommandBytes,
        maxRequestsPerDay: wholeOption(options, 'max-requests-per-day') ?? defaultLimits.maxRequestsPerDay,
      },
      secrets: sealDatabaseCredentials(credentials, sealing),
    },
  });
  write(secretLines(oneDatabase(reply), credentials));
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
  const { words } = parse(argv, [], [], 1);
  const database = await find(client, words[0] as string);
  const credentials = newDatabaseCredentials(random);
  const secrets = sealDatabaseCredentials(credentials, sealing);
  const reply = await ask(client, { type: 'ResetPassword', database: database.id, secrets });
  write(secretLines(oneDatabase(reply), credentials));
}

async function limits(argv: readonly string[], { client, write }: DbCommandDeps): Promise<void> {
  const { words, options } = parse(argv, LIMIT_OPTIONS, [], 1);
  const maxCommandBytes = wholeOption(options, 'max-command-bytes');
  const maxRequestsPerDay = wholeOption(options, 'max-requests-per-day');
  if (maxCommandBytes === undefined && maxRequestsPerDay === undefined) throw new UsageError('no limit is given');
  const { id } = await find(client, words[0] as string);
  const reply = await ask(client, { type: 'UpdateLimits', database: id, maxCommandBytes, maxRequestsPerDay });
  const database = oneDatabase(reply);
  const { limits: now } = database;
  write(`${database.id} max-command-bytes=${now.maxCommandBytes} max-requests-per-day=${now.maxRequestsPerDay}\n`);
}

/** Tokens die first: nothing is written to partitions that were emptied. Asked again, it empties them again. */
async function remove(argv: readonly string[], { client, flush, write }: DbCommandDeps): Promise<void> {
  const { words, flags } = parse(argv, [], ['yes'], 1);
  if (!flags.has('yes')) throw new UsageError('a deleted database is gone for good: confirm with --yes');
  const { id } = await find(client, words[0] as string, true);
  const database = oneDatabase(await ask(client, { type: 'DeleteDatabase', database: id }));
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

/** A lost answer is asked for again: the same command, with the same id and secrets, is carried out once. */
async function ask(client: ControlClient, command: ControlCommand): Promise<ControlReply> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await client.send(command);
    } catch (error) {
      const mayAskAgain = isMillraceError(error) && (error.retryable || error.code === 'OUTCOME_UNKNOWN');
      if (!mayAskAgain || tries >= MAX_TRIES) throw error;
    }
  }
}

async function allDatabases(client: ControlClient): Promise<readonly DatabaseView[]> {
  const reply = await ask(client, { type: 'ListDatabases' });
  if (reply.type !== 'Databases') throw refusal(reply);
  return reply.databases;
}

/** By id, deleted ones too where wanted; else by the name of one that is not. */
async function find(client: ControlClient, idOrName: string, withDeleted = false): Promise<Database> {
  const all = (await allDatabases(client)).map(({ database }) => database);
  const byId = all.find(({ id, deletedAtMs }) => id === idOrName && (withDeleted || deletedAtMs === undefined));
  if (byId !== undefined) return byId;
  const named = all.filter(({ name, deletedAtMs }) => name === idOrName && deletedAtMs === undefined);
  const [first, second] = named;
  if (first === undefined) throw new Refused(`there is no database ${idOrName}`);
  if (second !== undefined) throw new Refused(`${named.length} databases are named ${idOrName}: say which by its id`);
  return first;
}

function oneDatabase(reply: ControlReply): Database {
  if (reply.type !== 'OneDatabase') throw refusal(reply);
  return reply.database;
}

function refusal(reply: ControlReply): Refused {
  return new Refused(reply.type === 'Rejected' ? reply.message : `an answer that was not expected: ${reply.type}`);
}

// ── the command line ───────────────────────────────────────────────────────────────────────────────

const LIMIT_OPTIONS = ['max-command-bytes', 'max-requests-per-day'] as const;

interface Parsed {
  readonly words: readonly string[];
  readonly options: Readonly<Record<string, string | undefined>>;
  readonly flags: ReadonlySet<string>;
}

function parse(argv: readonly string[], options: readonly string[], flags: readonly string[], words: number): Parsed {
  const spec = Object.fromEntries([
    ...options.map((name) => [name, { type: 'string' }] as const),
    ...flags.map((name) => [name, { type: 'boolean' }] as const),
  ]);
  let parsed: ReturnType<typeof parseArgs>;
  try {
    parsed = parseArgs({ args: [...argv], options: spec, allowPositionals: true, strict: true });
  } catch (error) {
    throw new UsageError(describeError(error).split('\n')[0] as string);
  }
  const { values, positionals } = parsed as { values: Record<string, unknown>; positionals: string[] };
  if (positionals.length < words) throw new UsageError('which database? Name it by its id or its name');
  if (positionals.length > words) throw new UsageError(`${positionals[words]} is one word too many`);
  return {
    words: positionals,
    options: Object.fromEntries(options.map((name) => [name, values[name] as string | undefined])),
    flags: new Set(flags.filter((name) => values[name] === true)),
  };
}

function wholeOption(options: Parsed['options'], name: string): number | undefined {
  const text = options[name];
  if (text === undefined) return undefined;
  if (!/^\d{1,15}$/.test(text)) throw new UsageError(`--${name} accepts a whole number`);
  return Number(text);
}
