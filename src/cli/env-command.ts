/**
 * `millrace env`: prints the addresses and credentials of the running installation as environment variables, so that
 * examples and clients work with any ports and tokens.
 */
import type { Addresses, ClientCredentials, Variables } from './client-variables.js';
import { clientVariables, ownVariables, variableLine } from './client-variables.js';
import type { ParsedArguments } from './parser.js';

export interface EnvCommandDeps {
  /** URLs by name. */
  readonly addresses: Addresses;
  /** `Header:queue:kv` of the alias; undefined: the names of published clients are not printed. */
  readonly words: string | undefined;
  readonly credentials: () => Promise<ClientCredentials>;
  write(text: string): void;
}

/** @returns the exit code */
export async function envCommand(asked: ParsedArguments, deps: EnvCommandDeps): Promise<0> {
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
