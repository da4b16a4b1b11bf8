/**
 * The first start of an installation: one account and one database, with credentials that were given or
 * made. Safe to be done by several processes at once, and again after a crash anywhere.
 *
 *  FS1 credentials are in the private file before anything is journaled: nobody is locked out by a crash
 *  FS2 only credentials that are in force are printed, and only by the process whose they are
 *  FS3 whoever came second keeps the first one's credentials in its file, or no file at all
 */
import type { Account, Database, DatabaseLimits } from '../../domain/control/index.js';
import { type AccountId, type DatabaseId, describeError, MillraceError, type Random } from '../../kernel/index.js';
import {
  CREDENTIAL_NAMES,
  CREDENTIAL_VARIABLES,
  type FirstStartCredentials,
  type GivenCredentials,
  hashSecret,
  newAccountId,
  newDatabaseId,
} from '../../messages/index.js';
import type { Sealing } from '../../ports/index.js';
import type { ControlClient } from './control-client.js';
import {
  openAccountCredentials,
  openDatabaseCredentials,
  sealAccountCredentials,
  sealDatabaseCredentials,
  sealedSecret,
} from './credentials.js';

/** The private file of credentials, as far as the first start needs it. */
export interface CredentialsKeeper {
  /** What the file holds, completed by what was given or made; written before it returns. `isNew`: there was no file. */
  prepare(): Promise<{ readonly credentials: FirstStartCredentials; readonly isNew: boolean }>;
  replace(credentials: FirstStartCredentials): Promise<void>;
  remove(): Promise<void>;
}

export interface FirstStartOptions {
  readonly client: ControlClient;
  readonly keeper: CredentialsKeeper;
  readonly sealing: Sealing;
  readonly random: Random;
  readonly given: Partial<GivenCredentials>;
  readonly limits: DatabaseLimits;
  /** Tries again while the control shard has no owner yet. */
  pause(): Promise<void>;
}

export interface FirstStartOutcome {
  readonly account: Account;
  readonly database: Database;
  /** They are shown this once. */
  readonly toPrint: FirstStartCredentials | undefined;
  /** One line each. */
  readonly warnings: readonly string[];
}

const FIRST_NAME = 'default';

/** @throws what is not worth another try */
export async function firstStart(options: FirstStartOptions): Promise<FirstStartOutcome> {
  const { keeper, given } = options;
  const { credentials, isNew: isNewFile } = await keeper.prepare();
  const { isNew, account, database } = await create(options, credentials);
  const inForce = hashesInForce(account, database);
  const warnings = differences(given, inForce);
  if (isNew) return { account, database, toPrint: credentials, warnings };
  // FS3. A file of which any secret is in force is of this installation: what was reset since is left as it was.
  const isOurs =
    !isNewFile &&
    CREDENTIAL_NAMES.some((name) => name !== 'mgmtEmail' && inForce[name] === hashSecret(credentials[name]));
  if (!isOurs) await keepTheirs(options, account, database, warnings);
  return { account, database, toPrint: undefined, warnings };
}

async function create(
  { client, random, sealing, limits, pause }: FirstStartOptions,
  credentials: FirstStartCredentials,
): Promise<{ isNew: boolean; account: Account; database: Database }> {
  const accountId: AccountId = newAccountId(random);
  const databaseId: DatabaseId = newDatabaseId(random);
  const { kvToken, kvReadonlyToken, kvPassword, mgmtEmail } = credentials;
  const clear = { standardToken: kvToken, readOnlyToken: kvReadonlyToken, password: kvPassword };
  const command = {
    type: 'FirstStart',
    account: {
      id: accountId,
      name: FIRST_NAME,
      email: mgmtEmail,
      secrets: sealAccountCredentials(credentials, sealing),
      readOnlyToken: sealedSecret(credentials.queueReadonlyToken, sealing),
    },
    database: {
      id: databaseId,
      name: FIRST_NAME,
      account: accountId,
      partitions: 1,
      limits,
      secrets: sealDatabaseCredentials(clear, sealing),
    },
  } as const;
  for (;;) {
    try {
      const reply = await client.send(command);
      if (reply.type === 'FirstStarted') return reply;
      const why = reply.type === 'Rejected' ? reply.message : reply.type;
      throw new MillraceError('BAD_CONFIG', `the first database cannot be created: ${why}`);
    } catch (error) {
      // The same command again: its ids say that it is ours.
      if (!mayAskAgain(error)) throw error;
      await pause();
    }
  }
}

function mayAskAgain(error: unknown): boolean {
  return error instanceof MillraceError && (error.retryable || error.code === 'OUTCOME_UNKNOWN');
}

async function keepTheirs(
  { keeper, sealing }: FirstStartOptions,
  account: Account,
  database: Database,
  warnings: string[],
): Promise<void> {
  try {
    if (database.secrets === undefined) throw new MillraceError('NOT_FOUND', 'the first database was deleted');
    const { standardToken, readOnlyToken, password } = openDatabaseCredentials(database.secrets, sealing);
    await keeper.replace({
      kvToken: standardToken,
      kvReadonlyToken: readOnlyToken,
      kvPassword: password,
      mgmtEmail: account.email,
      ...openAccountCredentials(account.secrets, sealing),
      // Accounts of older releases have none.
      queueReadonlyToken: account.readOnlyToken === undefined ? '' : sealing.open(account.readOnlyToken.sealed),
    });
  } catch (error) {
    await keeper.remove();
    warnings.push(
      `the credentials are those of an earlier first start and cannot be shown here: ${describeError(error)}`,
    );
  }
}

type Hashes = Readonly<Record<keyof GivenCredentials, string | undefined>>;

/** Nothing is in force of a database that was deleted. */
function hashesInForce(account: Account, { secrets }: Database): Hashes {
  return {
    kvToken: secrets?.standardToken.sha256,
    kvReadonlyToken: secrets?.readOnlyToken.sha256,
    kvPassword: secrets?.password.sha256,
    queueToken: account.secrets.queueToken.sha256,
    queueReadonlyToken: account.readOnlyToken?.sha256,
    mgmtEmail: hashSecret(account.email),
    mgmtKey: account.secrets.mgmtKey.sha256,
    signingKeyCurrent: account.secrets.signingKeyCurrent.sha256,
    signingKeyNext: account.secrets.signingKeyNext.sha256,
  };
}

/** A value that was given and is not the one in force: one line each, without any value. */
function differences(given: Partial<GivenCredentials>, inForce: Hashes): string[] {
  return CREDENTIAL_NAMES.filter((name) => {
    const value = given[name];
    return value !== undefined && inForce[name] !== undefined && hashSecret(value) !== inForce[name];
  }).map((name) => `${CREDENTIAL_VARIABLES[name]} is not the value in force: it counts at the first start only`);
}
