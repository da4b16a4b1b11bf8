/**
 * The first start of an installation: creates one account and one database, with given or generated credentials.
 * Several processes may do it at the same time, and it can be repeated after a crash at any point.
 *
 *  FS1 credentials are in the private file before anything is journaled, so a crash locks out no user
 *  FS2 only valid credentials are printed, and only by the process that created them
 *  FS3 a process that came second keeps the first one's credentials in its file, or keeps no file
 */
import type { Account, Database, DatabaseLimits } from '../../domain/control/index.js';
import {
  type AccountId,
  type DatabaseId,
  describeError,
  FORMAT_LEVEL,
  MillraceError,
  type Random,
} from '../../kernel/index.js';
import type { Sealing } from '../../ports/index.js';
import {
  CREDENTIAL_NAMES,
  CREDENTIAL_VARIABLES,
  type FirstStartCredentials,
  type GivenCredentials,
  hashSecret,
  newAccountId,
  newDatabaseId,
} from '../../protocol/index.js';
import type { ControlClient } from './control-client.js';
import {
  openAccountCredentials,
  openDatabaseCredentials,
  sealAccountCredentials,
  sealDatabaseCredentials,
  sealedSecret,
} from './credentials.js';

/** The private file of credentials, as the first start uses it. */
export interface CredentialsKeeper {
  /**
   * Returns the contents of the file, completed with given or generated values and written. `isNew`: there was no file.
   */
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
  /** Raises the level of stored formats in the layout of a new installation; undefined: an operator does it. */
  readonly raiseLayout?: ((level: number) => Promise<void>) | undefined;
  /** The pause between tries while the control shard has no owner. */
  pause(): Promise<void>;
}

export interface FirstStartOutcome {
  readonly account: Account;
  readonly database: Database;
  /** Shown to the user once. */
  readonly toPrint: FirstStartCredentials | undefined;
  /** One line each. */
  readonly warnings: readonly string[];
}

const FIRST_NAME = 'default';

/** @throws errors for which another try is useless */
export async function firstStart(options: FirstStartOptions): Promise<FirstStartOutcome> {
  const { keeper, given } = options;
  const { credentials, isNew: isNewFile } = await keeper.prepare();
  const { isNew, account, database } = await create(options, credentials);
  const inForce = hashesInForce(account, database);
  const warnings = differences(given, inForce);
  if (isNew) {
    await beginAtNewestFormat(options, warnings);
    return { account, database, toPrint: credentials, warnings };
  }
  // A file with any valid secret belongs to this installation; secrets that were reset since stay as they are (FS3).
  const isOurs =
    !isNewFile &&
    CREDENTIAL_NAMES.some((name) => name !== 'mgmtEmail' && inForce[name] === hashSecret(credentials[name]));
  if (!isOurs) await keepTheirs(options, account, database, warnings);
  return { account, database, toPrint: undefined, warnings };
}

/**
 * A new installation has no data that a previous release could need. It works at the first level too, and an operator
 * can raise the level later, so a failure is only a warning.
 */
async function beginAtNewestFormat({ client, raiseLayout }: FirstStartOptions, warnings: string[]): Promise<void> {
  if (raiseLayout === undefined) return;
  try {
    await raiseLayout(FORMAT_LEVEL);
    await client.send({ type: 'RaiseFormat', level: FORMAT_LEVEL, by: 'first start' });
  } catch (error) {
    warnings.push(`the format level was not raised (millrace cluster upgrade): ${describeError(error)}`);
  }
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
      const reason = reply.type === 'Rejected' ? reply.message : reply.type;
      throw new MillraceError('BAD_CONFIG', `the first database cannot be created: ${reason}`);
    } catch (error) {
      // The same command is sent again; its ids show that the result is this process's.
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

/** A deleted database has no valid credentials. */
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

/** Given values that differ from the valid ones: one line each, without the value. */
function differences(given: Partial<GivenCredentials>, inForce: Hashes): string[] {
  return CREDENTIAL_NAMES.filter((name) => {
    const value = given[name];
    return value !== undefined && inForce[name] !== undefined && hashSecret(value) !== inForce[name];
  }).map(
    (name) =>
      `${CREDENTIAL_VARIABLES[name]} differs from the value in effect and is ignored: it is read at the first start only`,
  );
}
