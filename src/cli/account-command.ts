/**
 * `millrace account`: creates, lists, suspends and activates accounts, sets the limits of their queues and renews
 * tokens, through the control actor. Secrets are generated here and appear in clear text only in this output.
 */
import { type ControlClient, sealAccountCredentials, sealedSecret } from '../actors/control/index.js';
import {
  ACCOUNT_LIMIT_NAMES,
  type Account,
  DEFAULT_ACCOUNT_LIMITS,
  isPersons,
  personOf,
  queueOwnerOf,
} from '../domain/control/index.js';
import type { AccountLimits } from '../domain/queue/index.js';
import type { Random } from '../kernel/index.js';
import type { Sealing } from '../ports/index.js';
import { accountIdOfUuid, newAccountId, newQueueToken, newSecretText, uuidOf } from '../protocol/index.js';
import { askFor, doVerb, noted, RefusedCommand, type Verbs } from './command-line.js';
import { type ParsedArguments, shown, UsageError } from './parser.js';

export interface AccountCommandDeps {
  readonly client: ControlClient;
  readonly sealing: Sealing;
  readonly random: Random;
  write(text: string): void;
}

/**
 * @param verb one of `lines/account-line.ts`. @returns the exit code. @throws UsageError, RefusedCommand, errors of
 * asking
 */
export function accountCommand(verb: string, asked: ParsedArguments, deps: AccountCommandDeps): Promise<number> {
  return doVerb(VERBS, verb, asked, deps);
}

const VERBS: Verbs<AccountCommandDeps> = {
  create,
  list,
  show,
  suspend: (asked, deps) => setState('passive', asked, deps),
  activate: (asked, deps) => setState('active', asked, deps),
  limits,
  'reset-tokens': resetTokens,
};

async function create(asked: ParsedArguments, { client, random, sealing, write }: AccountCommandDeps): Promise<void> {
  const { name = '', email = '' } = asked.options;
  if (!/^[^\s@]+@[^\s@]+$/.test(email)) throw new UsageError('--email is not an e-mail address');
  const tokens = newTokens(random);
  const secrets = {
    queueToken: tokens.queueToken,
    mgmtKey: newSecretText(random, 'mrk_'),
    signingKeyCurrent: newSecretText(random, 'sig_'),
    signingKeyNext: newSecretText(random, 'sig_'),
  };
  const id = newAccountId(random);
  const command = {
    type: 'CreateAccount',
    account: {
      id,
      name,
      email,
      secrets: sealAccountCredentials(secrets, sealing),
      readOnlyToken: sealedSecret(tokens.readOnlyToken, sealing),
    },
  } as const;
  const account = (await askFor(client, noted(id, 'createAccount', name, command), 'OneAccount')).account;
  const keys = keysOf(secrets);
  const facts = { ...factsOf(account), ...tokens, ...keys };
  write(shown(asked, facts, () => about(account) + tokenLines(tokens) + keyLines(keys)));
}

async function list(asked: ParsedArguments, { client, write }: AccountCommandDeps): Promise<void> {
  const all = (await allAccounts(client)).map(factsOf);
  const line = ({ id, state, name, email }: Facts) => `${id}  ${state}  ${name}  ${email}\n`;
  write(shown(asked, all, () => all.map(line).join('')));
}

async function show(asked: ParsedArguments, { client, sealing, write }: AccountCommandDeps): Promise<void> {
  const account = await findAccount(client, asked.words[0]);
  const limits = limitsOf(account);
  const isOpened = asked.flags.has('show-secrets');
  if (asked.flags.has('json')) {
    const opened = isOpened ? openAccountSecrets(account, sealing) : {};
    write(`${JSON.stringify({ ...factsOf(account), limits, ...opened })}\n`);
    return;
  }
  write(`${about(account)}uuid=${uuidOf(account.id)}\n`);
  for (const name of ACCOUNT_LIMIT_NAMES) write(`${name}=${limits[name]}\n`);
  if (!isOpened) return;
  // Shows every secret that can be opened, even if others were sealed with a lost key.
  write(tokenLines(openedTokens(account, sealing)));
  write(keyLines(openedKeys(account, sealing)));
}

function openedTokens({ secrets, readOnlyToken }: Account, sealing: Sealing): Tokens {
  return { queueToken: opened(sealing, secrets.queueToken), readOnlyToken: opened(sealing, readOnlyToken) };
}

function openedKeys({ secrets }: Account, sealing: Sealing): Keys {
  return {
    mgmtKey: opened(sealing, secrets.mgmtKey),
    signingKeyCurrent: opened(sealing, secrets.signingKeyCurrent),
    signingKeyNext: opened(sealing, secrets.signingKeyNext),
  };
}

/** The secrets of an account in clear text. */
export function openAccountSecrets(account: Account, sealing: Sealing): Tokens & Keys {
  return { ...openedTokens(account, sealing), ...openedKeys(account, sealing) };
}

function opened(sealing: Sealing, secret: { readonly sealed: string } | undefined): string {
  return secret === undefined ? 'none yet' : sealing.open(secret.sealed);
}

async function setState(
  state: 'active' | 'passive',
  asked: ParsedArguments,
  { client, write }: AccountCommandDeps,
): Promise<void> {
  const { id, name } = await findAccount(client, asked.words[0]);
  const action = state === 'passive' ? 'suspendAccount' : 'activateAccount';
  const command = { type: 'SetAccountState', account: id, state } as const;
  const { account } = await askFor(client, noted(id, action, name, command), 'OneAccount');
  write(shown(asked, factsOf(account), () => about(account)));
}

async function limits(asked: ParsedArguments, { client, write }: AccountCommandDeps): Promise<void> {
  const named = asked.words.filter((word) => !word.includes('='));
  if (named.length > 1) throw new UsageError(`${named[1]} is not of the form LIMIT=N`);
  const wanted: { -readonly [Name in keyof AccountLimits]?: number } = {};
  for (const word of asked.words) {
    if (!word.includes('=')) continue;
    const [name = '', value = ''] = word.split('=');
    const known = ACCOUNT_LIMIT_NAMES.find((candidate) => candidate === name);
    if (known === undefined)
      throw new UsageError(`${name} is not a limit; limits are ${ACCOUNT_LIMIT_NAMES.join(', ')}`);
    if (!/^\d{1,15}$/.test(value)) throw new UsageError(`${name} must be a whole number`);
    wanted[known] = Number(value);
  }
  if (Object.keys(wanted).length === 0) throw new UsageError('no limit was given');
  const { id, name: entity } = await findAccount(client, named[0]);
  const command = { type: 'SetAccountLimits', account: id, limits: wanted } as const;
  const account = (await askFor(client, noted(id, 'updateLimits', entity, command), 'OneAccount')).account;
  const now = limitsOf(account);
  const changed = ACCOUNT_LIMIT_NAMES.filter((name) => name in wanted);
  const lines = () => changed.map((name) => `${name}=${now[name]}\n`).join('');
  write(shown(asked, { ...factsOf(account), limits: now }, lines));
}

/** The old tokens are already invalid when the new ones are printed. */
async function resetTokens(
  asked: ParsedArguments,
  { client, random, sealing, write }: AccountCommandDeps,
): Promise<void> {
  const former = await findAccount(client, asked.words[0]);
  const { id, name } = former;
  const tokens = newTokens(random);
  const sealed = {
    queueToken: sealedSecret(tokens.queueToken, sealing),
    readOnlyToken: sealedSecret(tokens.readOnlyToken, sealing),
  };
  const reset = { type: 'ResetQueueTokens', account: id, tokens: sealed } as const;
  const command = noted(queueOwnerOf(former), 'rotateQueueToken', name, reset);
  const { account } = await askFor(client, command, 'OneAccount');
  write(shown(asked, { ...factsOf(account), ...tokens }, () => about(account) + tokenLines(tokens)));
}

interface Tokens {
  readonly queueToken: string;
  readonly readOnlyToken: string;
}

function newTokens(random: Random): Tokens {
  return { queueToken: newQueueToken(random), readOnlyToken: newSecretText(random, 'mrq_') };
}

function limitsOf(account: Account): AccountLimits {
  return account.limits ?? DEFAULT_ACCOUNT_LIMITS;
}

type Facts = ReturnType<typeof factsOf>;

/** The output of `--json` for an account. */
function factsOf({ id, name, email, state = 'active' }: Account) {
  return { id, name, email, state, uuid: uuidOf(id) };
}

function about(account: Account): string {
  const { id, name, email, state } = factsOf(account);
  return `id=${id}\nname=${name}\nemail=${email}\nstate=${state}\n`;
}

function tokenLines({ queueToken, readOnlyToken }: Tokens): string {
  return `queue-token=${queueToken}\nqueue-readonly-token=${readOnlyToken}\n`;
}

type Keys = Readonly<Record<'mgmtKey' | 'signingKeyCurrent' | 'signingKeyNext', string>>;

function keysOf({ mgmtKey, signingKeyCurrent, signingKeyNext }: Keys): Keys {
  return { mgmtKey, signingKeyCurrent, signingKeyNext };
}

function keyLines(keys: Keys): string {
  const { mgmtKey, signingKeyCurrent, signingKeyNext } = keys;
  return `mgmt-key=${mgmtKey}\nsigning-key-current=${signingKeyCurrent}\nsigning-key-next=${signingKeyNext}\n`;
}

async function allAccounts(client: ControlClient): Promise<readonly Account[]> {
  return (await askFor(client, { type: 'ListAccounts' }, 'Accounts')).accounts;
}

/** Finds an account by id, UUID, name or a person's email; by default the only person's. */
export async function findAccount(client: ControlClient, which: string | undefined): Promise<Account> {
  const all = await allAccounts(client);
  const found = which === undefined ? all.filter(isPersons) : all.filter((account) => isNamed(account, which));
  const [first, second] = found;
  if (first === undefined) throw new RefusedCommand(`there is no account ${which ?? 'yet'}`);
  if (second !== undefined) throw new RefusedCommand(`${found.length} accounts match: give the id of one`);
  return first;
}

/** A team has the email of its owner, but is not found by it. */
function isNamed(account: Account, which: string): boolean {
  const { id, name } = account;
  if (id === (accountIdOfUuid(which) ?? which) || name === which) return true;
  return isPersons(account) && personOf(account) === which.toLowerCase();
}
