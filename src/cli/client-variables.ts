/** The environment variables with the URLs and credentials of an installation, for a shell or a settings file. */
import { CREDENTIAL_VARIABLES, type FirstStartCredentials } from '../protocol/index.js';

/** URLs by name, from `name=url`. */
export type Addresses = Readonly<Record<string, string>>;

export type Variables = readonly (readonly [name: string, value: string])[];

/** What clients need: one database, one account. */
export type ClientCredentials = Omit<FirstStartCredentials, 'kvReadonlyToken' | 'queueReadonlyToken'>;

export function addressesOf(listed: readonly string[]): Addresses {
  return Object.fromEntries(
    listed.map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]),
  );
}

/** Variables with this program's own names, which the examples of the documentation use. */
export function ownVariables(addresses: Addresses, credentials: ClientCredentials): Variables {
  const urls = ['kv', 'queue', 'mgmt', 'metrics'].map(
    (name) => [`MILLRACE_${name.toUpperCase()}_URL`, addresses[name]] as const,
  );
  const names = Object.keys(CREDENTIAL_VARIABLES) as (keyof FirstStartCredentials)[];
  const secrets = names.map(
    (name) => [CREDENTIAL_VARIABLES[name], (credentials as Partial<FirstStartCredentials>)[name]] as const,
  );
  return given([...urls, ['REDIS_URL', redisUrl(addresses, credentials)], ...secrets]);
}

/**
 * Variables of published clients, whose names contain the words of the alias.
 * @param words `Header:queue:kv`, as in MILLRACE_WIRE_ALIAS
 */
export function clientVariables(words: string, addresses: Addresses, credentials: ClientCredentials): Variables {
  const [header = '', queue = '', kv = ''] = words.toUpperCase().split(':');
  const { kvToken, queueToken, signingKeyCurrent, signingKeyNext, mgmtEmail, mgmtKey } = credentials;
  return given([
    [`${header}_${kv}_REST_URL`, addresses.kv],
    [`${header}_${kv}_REST_TOKEN`, kvToken],
    ['REDIS_URL', redisUrl(addresses, credentials)],
    [`${queue}_URL`, addresses.queue],
    [`${queue}_TOKEN`, queueToken],
    [`${queue}_CURRENT_SIGNING_KEY`, signingKeyCurrent],
    [`${queue}_NEXT_SIGNING_KEY`, signingKeyNext],
    [`${header}_EMAIL`, mgmtEmail],
    [`${header}_API_KEY`, mgmtKey],
  ]);
}

/** @returns `NAME=value`, quoted for a shell where needed */
export function variableLine([name, value]: Variables[number]): string {
  return `${name}=${/^[\w@%+=:,./-]*$/.test(value) ? value : `'${value.replaceAll("'", "'\\''")}'`}`;
}

function redisUrl({ resp }: Addresses, { kvPassword }: ClientCredentials): string | undefined {
  return resp?.replace('://', `://default:${encodeURIComponent(kvPassword)}@`);
}

function given(variables: readonly (readonly [name: string, value: string | undefined])[]): Variables {
  return variables.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]));
}
