/**
 * `millrace account`: creates and lists accounts, suspends and activates them, sets the limits of their queues and makes
 * new tokens, by asking the control actor. Secrets are made here and printed here, and nowhere else in clear.
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
import { accountIdOfUuid, newAccountId, newQueueToken, newSecretText, uuidOf } from '../messages/index.js';
import type { Sealing } from '../ports/index.js';
import { askFor, noted, parse, RefusedCommand, runVerb, UsageError, type Verbs } from './command-line.js';

export interface AccountCommandDeps {
  readonly client: ControlClient;
  readonly sealing: Sealing;
  readonly random: Random;
  write(text: string): void;
  writeError(text: string): void;
}

const ACCOUNT_USAGE = `usage: millrace account create --name NAME --email EMAIL
       millrace account list
       millrace account show [ID|NAME|EMAIL] [--show-secrets]
       millrace account suspend|activate [ID|NAME|EMAIL]
       millrace account limits [ID|NAME|EMAIL] LIMIT=N ...
       millrace account reset-tokens [ID|NAME|EMAIL]
       (without a name: the only account there is; an ID may be a UUID of the management API)
`;

/** @returns the exit code. Never throws */
export function accountCommand(argv: readonly string[], deps: AccountCommandDeps): Promise<number> {
  return runVerb(['account', ACCOUNT_USAGE, VERBS], argv, deps);
}

const VERBS: Verbs<AccountCommandDeps> = {
  create,
  list,
  show,
  suspend: (argv, deps) => setState('passive', argv, deps),
  activate: (argv, deps) => setState('active', argv, deps),
  limits,
  'reset-tokens': resetTokens,
};

async function create(argv: readonly string[], { client, random, sealing, write }: AccountCommandDeps): Promise<void> {
  const { name, email } = parse(argv, ['name', 'email'], [], 0).options;
  if (name === undefined) throw new UsageError('--name is missing');
  if (email === undefined || !/^[^\s@]+@[^\s@]+$/.test(email)) throw new UsageError('--email is missing, or is none');
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
  write(about(account) + tokenLines(tokens) + keyLines(secrets));
}

async function list(argv: readonly string[], { client, write }: AccountCommandDeps): Promise<void> {
  parse(argv, [], [], 0);
  for (const account of await allAccounts(client)) {
    write(`${account.id}  ${account.state ?? 'active'}  ${account.name}  ${account.email}\n`);
  }
}

async function show(argv: readonly string[], { client, sealing, write }: AccountCommandDeps): Promise<void> {
  const { words, flags } = parse(argv, [], ['show-secrets'], Math.min(1, argv.filter(isWord).length));
  const account = await find(client, words[0]);
  write(`${about(account)}uuid=${uuidOf(account.id)}\n`);
  for (const name of ACCOUNT_LIMIT_NAMES) write(`${name}=${limitsOf(account)[name]}\n`);
  if (!flags.has('show-secrets')) return;
  const { secrets, readOnlyToken } = account;
  const open = (sealed: string | undefined) => (sealed === undefined ? 'none yet' : sealing.open(sealed));
  write(tokenLines({ queueToken: open(secrets.queueToken.sealed), readOnlyToken: open(readOnlyToken?.sealed) }));
  write(
    keyLines({
      mgmtKey: open(secrets.mgmtKey.sealed),
      signingKeyCurrent: open(secrets.signingKeyCurrent.sealed),
      signingKeyNext: open(secrets.signingKeyNext.sealed),
    }),
  );
}

async function setState(
  state: 'active' | 'passive',
  argv: readonly string[],
  { client, write }: AccountCommandDeps,
): Promise<void> {
  const { words } = parse(argv, [], [], Math.min(1, argv.length));
  const { id, name } = await find(client, words[0]);
  const action = state === 'passive' ? 'suspendAccount' : 'activateAccount';
  const command = { type: 'SetAccountState', account: id, state } as const;
  write(about((await askFor(client, noted(id, action, name, command), 'OneAccount')).account));
}

async function limits(argv: readonly string[], { client, write }: AccountCommandDeps): Promise<void> {
  const named = argv.filter((word) => !word.includes('='));
  if (named.length > 1) throw new UsageError(`${named[1]} is not LIMIT=N`);
  const wanted: { -readonly [Name in keyof AccountLimits]?: number } = {};
  for (const word of argv) {
    if (!word.includes('=')) continue;
    const [name = '', value = ''] = word.split('=');
    const known = ACCOUNT_LIMIT_NAMES.find((candidate) => candidate === name);
    if (known === undefined) throw new UsageError(`${name} is no limit: ${ACCOUNT_LIMIT_NAMES.join(', ')}`);
    if (!/^\d{1,15}$/.test(value)) throw new UsageError(`${name} accepts a whole number`);
    wanted[known] = Number(value);
  }
  if (Object.keys(wanted).length === 0) throw new UsageError('no limit is given');
  const { id, name: entity } = await find(client, named[0]);
  const command = { type: 'SetAccountLimits', account: id, limits: wanted } as const;
  const account = (await askFor(client, noted(id, 'updateLimits', entity, command), 'OneAccount')).account;
  for (const name of ACCOUNT_LIMIT_NAMES) if (name in wanted) write(`${name}=${limitsOf(account)[name]}\n`);
}

/** The old tokens are worth nothing by the time the new ones are printed. */
async function resetTokens(
  argv: readonly string[],
  { client, random, sealing, write }: AccountCommandDeps,
): Promise<void> {
  const { words } = parse(argv, [], [], Math.min(1, argv.length));
  const account = await find(client, words[0]);
  const { id, name } = account;
  const tokens = newTokens(random);
  const sealed = {
    queueToken: sealedSecret(tokens.queueToken, sealing),
    readOnlyToken: sealedSecret(tokens.readOnlyToken, sealing),
  };
  const reset = { type: 'ResetQueueTokens', account: id, tokens: sealed } as const;
  const command = noted(queueOwnerOf(account), 'rotateQueueToken', name, reset);
  write(about((await askFor(client, command, 'OneAccount')).account) + tokenLines(tokens));
}

interface Tokens {
  readonly queueToken: string;
  readonly readOnlyToken: string;
}

function newTokens(random: Random): Tokens {
  return { queueToken: newQueueToken(random), readOnlyToken: newSecretText(random, 'mrq_') };
}

function isWord(word: string): boolean {
  return !word.startsWith('--');
}

function limitsOf(account: Account): AccountLimits {
  return account.limits ?? DEFAULT_ACCOUNT_LIMITS;
}

function about({ id, name, email, state }: Account): string {
  return `id=${id}\nname=${name}\nemail=${email}\nstate=${state ?? 'active'}\n`;
}

function tokenLines({ queueToken, readOnlyToken }: Tokens): string {
  return `queue-token=${queueToken}\nqueue-readonly-token=${readOnlyToken}\n`;
}

function keyLines(keys: Readonly<Record<'mgmtKey' | 'signingKeyCurrent' | 'signingKeyNext', string>>): string {
  const { mgmtKey, signingKeyCurrent, signingKeyNext } = keys;
  return `mgmt-key=${mgmtKey}\nsigning-key-current=${signingKeyCurrent}\nsigning-key-next=${signingKeyNext}\n`;
}

async function allAccounts(client: ControlClient): Promise<readonly Account[]> {
  return (await askFor(client, { type: 'ListAccounts' }, 'Accounts')).accounts;
}

/** Finds an account by id, UUID, name or a person's email; where none is named, the only person's. */
async function find(client: ControlClient, which: string | undefined): Promise<Account> {
  const all = await allAccounts(client);
  const found = which === undefined ? all.filter(isPersons) : all.filter((account) => isNamed(account, which));
  const [first, second] = found;
  if (first === undefined) throw new RefusedCommand(`there is no account ${which ?? 'yet'}`);
  if (second !== undefined) throw new RefusedCommand(`there are ${found.length} such accounts: say which by its id`);
  return first;
}

/** A team has the email of its owner, and is not meant by it. */
function isNamed(account: Account, which: string): boolean {
  const { id, name } = account;
  if (id === (accountIdOfUuid(which) ?? which) || name === which) return true;
  return isPersons(account) && personOf(account) === which.toLowerCase();
}
