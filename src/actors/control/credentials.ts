/**
 * Secrets of databases and accounts. They are generated and sealed here, before the decision, so that no secret is
 * stored in clear text.
 */
import type { AccountSecret, DatabaseSecrets, SealedSecret } from '../../domain/control/index.js';
import { ACCOUNT_SECRETS } from '../../domain/control/index.js';
import type { Random } from '../../kernel/index.js';
import type { Sealing } from '../../ports/index.js';
import { hashSecret, newSecretText } from '../../protocol/index.js';

/** Clear text: shown once and not kept. */
export interface DatabaseCredentials {
  readonly standardToken: string;
  readonly readOnlyToken: string;
  readonly password: string;
}

export function newDatabaseCredentials(random: Random): DatabaseCredentials {
  return {
    standardToken: newSecretText(random, 'mrs_'),
    readOnlyToken: newSecretText(random, 'mrr_'),
    password: newSecretText(random, 'mrp_'),
  };
}

export function sealDatabaseCredentials(credentials: DatabaseCredentials, sealing: Sealing): DatabaseSecrets {
  return {
    standardToken: sealedSecret(credentials.standardToken, sealing),
    readOnlyToken: sealedSecret(credentials.readOnlyToken, sealing),
    password: sealedSecret(credentials.password, sealing),
  };
}

/** @throws as `Sealing.open` */
export function openDatabaseCredentials(secrets: DatabaseSecrets, sealing: Sealing): DatabaseCredentials {
  return {
    standardToken: sealing.open(secrets.standardToken.sealed),
    readOnlyToken: sealing.open(secrets.readOnlyToken.sealed),
    password: sealing.open(secrets.password.sealed),
  };
}

export type AccountCredentials = Readonly<Record<AccountSecret, string>>;

export function sealAccountCredentials(
  credentials: AccountCredentials,
  sealing: Sealing,
): Readonly<Record<AccountSecret, SealedSecret>> {
  return mapAccountSecrets((name) => sealedSecret(credentials[name], sealing));
}

/** @throws as `Sealing.open` */
export function openAccountCredentials(
  secrets: Readonly<Record<AccountSecret, SealedSecret>>,
  sealing: Sealing,
): AccountCredentials {
  return mapAccountSecrets((name) => sealing.open(secrets[name].sealed));
}

function mapAccountSecrets<T>(make: (name: AccountSecret) => T): Record<AccountSecret, T> {
  const entries = ACCOUNT_SECRETS.map((name) => [name, make(name)] as const);
  return Object.fromEntries(entries) as Record<AccountSecret, T>;
}

export function sealedSecret(text: string, sealing: Sealing): SealedSecret {
  return { sha256: hashSecret(text), sealed: sealing.seal(text) };
}
