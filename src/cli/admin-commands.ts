/** `millrace db`, `millrace account` and other commands with a connection to the installation. */
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { openDatabaseCredentials } from '../actors/control/index.js';
import { readRunningFile } from '../adapters/node/index.js';
import { type Config, type Environment, loadConfig } from '../config/index.js';
import type { Database } from '../domain/control/index.js';
import { type AccountCommandDeps, accountCommand, findAccount, openAccountSecrets } from './account-command.js';
import { branchCommand } from './branch-command.js';
import {
  type Addresses,
  type ClientCredentials,
  clientVariables,
  ownVariables,
  type Variables,
  variableLine,
} from './client-variables.js';
import { RefusedCommand } from './command-line.js';
import { dataCommand } from './data-command.js';
import { allDatabases, dbCommand, findDatabase } from './db-command.js';
import { Api, basic, bearer } from './dev/api.js';
import { interruptible } from './interruption.js';
import { currentLogin, loginCommand, loginFile, logoutCommand } from './login-command.js';
import type { ManagementLogin } from './mcp/area-tokens.js';
import type { ParsedArguments } from './parser.js';
import { type ReachedInstallation, withInstallation } from './reached-installation.js';
import { roleCommand } from './role-command.js';
import { labelsCommand, usageCommand } from './usage-command.js';

export function runDbCommand(verb: string, asked: ParsedArguments, env: Environment): Promise<number> {
  return withInstallation(env, true, async (installation, config) => {
    const { maxCommandBytes, maxRequestsPerDay } = config.bounds;
    return dbCommand(verb, asked, {
      ...(await controlDeps(installation)),
      defaultLimits: { maxCommandBytes, maxRequestsPerDay },
      pause: (ms) => installation.parts.timers.pause(ms),
      flush: async ({ id }, partitions) => {
        for (const partition of partitions) await installation.emptyPartition(id, partition);
      },
    });
  });
}

export function runAccountCommand(verb: string, asked: ParsedArguments, env: Environment): Promise<number> {
  return withInstallation(env, true, async (installation) =>
    accountCommand(verb, asked, await controlDeps(installation)),
  );
}

export async function runEnvCommand(asked: ParsedArguments, env: Environment): Promise<number> {
  const { config } = loadConfig(env);
  const { wireAlias } = config.endpoints;
  return envCommand(asked, {
    addresses: await runningAddresses(config),
    words: wireAlias && [wireAlias.headerWord, wireAlias.queueWord, wireAlias.kvWord].join(':'),
    credentials: () => withInstallation(env, true, (installation) => credentialsOf(asked, installation)),
    write: (text) => void process.stdout.write(text),
  });
}

/** Calls the addresses of the environment (`millrace env`), or else those of the process of the data directory. */
export async function runDataCommand(verb: string, asked: ParsedArguments, env: Environment): Promise<number> {
  const { MILLRACE_KV_URL, MILLRACE_KV_TOKEN, MILLRACE_QUEUE_URL, MILLRACE_QUEUE_TOKEN } = env;
  const isGiven = MILLRACE_KV_URL && MILLRACE_KV_TOKEN && MILLRACE_QUEUE_URL && MILLRACE_QUEUE_TOKEN;
  const apis = isGiven
    ? {
        kv: new Api(MILLRACE_KV_URL, bearer(MILLRACE_KV_TOKEN)),
        queue: new Api(MILLRACE_QUEUE_URL, bearer(MILLRACE_QUEUE_TOKEN)),
      }
    : await runningApis(asked, env);
  return interruptible((signal) =>
    dataCommand(verb, asked, {
      ...apis,
      signal,
      readInput: () => text(process.stdin),
      write: (output) => void process.stdout.write(output),
    }),
  );
}

export function runLoginCommand(verb: string, asked: ParsedArguments, env: Environment): Promise<number> {
  const deps = {
    file: loginFile(env),
    pause: (ms: number) => setTimeout(ms),
    write: (output: string) => void process.stdout.write(output),
  };
  return verb === 'login' ? loginCommand(asked, deps) : logoutCommand(asked, deps, Date.now());
}

export async function runMcpCommand(asked: ParsedArguments, env: Environment): Promise<number> {
  const access = await managementOf(asked, env);
  const { mcpCommand } = await import('./mcp/mcp-command.js');
  return mcpCommand(
    asked,
    access,
    once(process.stdin, 'end').then(() => undefined),
  );
}

export async function runRoleCommand(verb: string, asked: ParsedArguments, env: Environment): Promise<number> {
  const { url, authorization } = await managementOf({ words: [], options: {}, flags: new Set() }, env);
  const mgmt = new Api(url, authorization);
  return roleCommand(verb, asked, { mgmt, write: (output) => void process.stdout.write(output) });
}

export async function runBranchCommand(verb: string, asked: ParsedArguments, env: Environment): Promise<number> {
  const { url, authorization } = await managementOf({ words: [], options: {}, flags: new Set() }, env);
  const mgmt = new Api(url, authorization);
  return branchCommand(verb, asked, { mgmt, write: (output) => void process.stdout.write(output) });
}

export async function runUsageCommand(verb: string, asked: ParsedArguments, env: Environment): Promise<number> {
  const { url, authorization } = await managementOf({ words: [], options: {}, flags: new Set() }, env);
  const deps = { mgmt: new Api(url, authorization), write: (output: string) => void process.stdout.write(output) };
  return verb === 'usage' ? usageCommand(asked, deps) : labelsCommand(asked, deps);
}

/** The management API of the environment (`millrace env`), of `millrace login`, or of the process of the data directory. */
async function managementOf(asked: ParsedArguments, env: Environment): Promise<ManagementLogin> {
  const { MILLRACE_MGMT_URL, MILLRACE_MGMT_EMAIL, MILLRACE_MGMT_KEY } = env;
  if (MILLRACE_MGMT_URL && MILLRACE_MGMT_EMAIL && MILLRACE_MGMT_KEY)
    return { url: MILLRACE_MGMT_URL, authorization: basic(MILLRACE_MGMT_EMAIL, MILLRACE_MGMT_KEY) };
  const login = await currentLogin(loginFile(env), Date.now());
  if (login !== undefined) return { url: login.url, authorization: bearer(login.session) };
  const { mgmt = '' } = await runningAddresses(loadConfig(env).config);
  const { mgmtEmail, mgmtKey } = await withInstallation(env, true, (found) => credentialsOf(asked, found));
  return { url: mgmt, authorization: basic(mgmtEmail, mgmtKey) };
}

async function runningApis(asked: ParsedArguments, env: Environment): Promise<Record<'kv' | 'queue', Api>> {
  const { kv = '', queue = '' } = await runningAddresses(loadConfig(env).config);
  const { kvToken, queueToken } = await withInstallation(env, true, (found) => credentialsOf(asked, found));
  return { kv: new Api(kv, bearer(kvToken)), queue: new Api(queue, bearer(queueToken)) };
}

/** @throws RefusedCommand if no process runs in the data directory */
async function runningAddresses({ storage: { dataDir } }: Config): Promise<Addresses> {
  const addresses = (await readRunningFile(dataDir))?.addresses;
  if (addresses !== undefined) return addresses;
  throw new RefusedCommand(`no process runs in ${dataDir}: start one, or set MILLRACE_DATA_DIR to its directory`);
}

/** The account of `--account`, or the only person's; the database of `--database`, or the first of the account. */
async function credentialsOf(asked: ParsedArguments, installation: ReachedInstallation): Promise<ClientCredentials> {
  const { client } = installation;
  const { options } = asked;
  const sealing = await installation.sealing();
  const account = await findAccount(client, options.account);
  const isOwn = ({ account: owner, deletedAtMs }: Database) => owner === account.id && deletedAtMs === undefined;
  const database =
    options.database === undefined
      ? (await allDatabases(client)).map((view) => view.database).find(isOwn)
      : await findDatabase(client, options.database);
  if (database?.secrets === undefined) throw new RefusedCommand(`account ${account.name} has no database`);
  const { standardToken, password } = openDatabaseCredentials(database.secrets, sealing);
  const { queueToken, mgmtKey, signingKeyCurrent, signingKeyNext } = openAccountSecrets(account, sealing);
  const secrets = { queueToken, mgmtKey, signingKeyCurrent, signingKeyNext };
  return { kvToken: standardToken, kvPassword: password, mgmtEmail: account.email, ...secrets };
}

async function controlDeps(installation: ReachedInstallation): Promise<AccountCommandDeps> {
  return {
    client: installation.client,
    sealing: await installation.sealing(),
    random: installation.parts.random,
    write: (text) => void process.stdout.write(text),
  };
}

/**
 * `millrace env`: prints the addresses and credentials of the running installation as environment variables, so that
 * examples and clients work with any ports and tokens.
 */
interface EnvCommandDeps {
  /** URLs by name. */
  readonly addresses: Addresses;
  /** `Header:queue:kv` of the alias; undefined: the names of published clients are not printed. */
  readonly words: string | undefined;
  readonly credentials: () => Promise<ClientCredentials>;
  write(text: string): void;
}

/** @returns the exit code */
async function envCommand(asked: ParsedArguments, deps: EnvCommandDeps): Promise<0> {
  const { addresses, words } = deps;
  const credentials = await deps.credentials();
  const named = new Map(ownVariables(addresses, credentials));
  if (words !== undefined)
    for (const [name, value] of clientVariables(words, addresses, credentials)) named.set(name, value);
  deps.write(textOf([...named], asked));
  return 0;
}

function textOf(variables: Variables, { flags }: ParsedArguments): string {
  if (flags.has('json')) return `${JSON.stringify(Object.fromEntries(variables))}\n`;
  const prefix = flags.has('dotenv') ? '' : 'export ';
  return variables.map((variable) => `${prefix}${variableLine(variable)}\n`).join('');
}
