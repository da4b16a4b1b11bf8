/**
 * `millrace env`: prints the addresses and credentials of the running installation as environment variables, so that
 * examples and clients work with any ports and tokens.
 */
import type { Addresses, ClientCredentials, Variables } from './client-variables.js';
import { clientVariables, ownVariables, variableLine } from './client-variables.js';
import { RefusedCommand } from './command-line.js';
import type { ParsedArguments } from './parser.js';

export interface EnvCommandDeps {
  readonly dataDir: string;
  /** URLs by name; undefined: no process runs in the data directory. */
  readonly addresses: Addresses | undefined;
  /** `Header:queue:kv` of the alias; undefined: the names of published clients are not printed. */
  readonly words: string | undefined;
  readonly credentials: () => Promise<ClientCredentials>;
  write(text: string): void;
}

/** @returns the exit code. @throws RefusedCommand */
export async function envCommand(asked: ParsedArguments, deps: EnvCommandDeps): Promise<0> {
  const { dataDir, addresses, words } = deps;
  if (addresses === undefined) {
    throw new RefusedCommand(`no process runs in ${dataDir}: start one, or set MILLRACE_DATA_DIR to its directory`);
  }
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
