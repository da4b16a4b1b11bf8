/** The variables that published clients read, as lines for a shell or a file of settings. The alias's words name them. */
import type { FirstStartCredentials } from '../../messages/index.js';

/** URLs by name, from `name=url`. */
export type Addresses = Readonly<Record<string, string>>;

export function addressesOf(listed: readonly string[]): Addresses {
  return Object.fromEntries(
    listed.map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]),
  );
}

/** @param words `Header:queue:kv`, as MILLRACE_WIRE_ALIAS has them. @returns a line each */
export function clientLines(words: string, addresses: Addresses, credentials: FirstStartCredentials): string[] {
  const [header = '', queue = '', kv = ''] = words.toUpperCase().split(':');
  const { kvToken, kvPassword, queueToken, signingKeyCurrent, signingKeyNext, mgmtEmail, mgmtKey } = credentials;
  const resp = addresses.resp?.replace('://', `://default:${encodeURIComponent(kvPassword)}@`);
  const variables: readonly (readonly [name: string, value: string | undefined])[] = [
    [`${header}_${kv}_REST_URL`, addresses.kv],
    [`${header}_${kv}_REST_TOKEN`, kvToken],
    ['REDIS_URL', resp],
    [`${queue}_URL`, addresses.queue],
    [`${queue}_TOKEN`, queueToken],
    [`${queue}_CURRENT_SIGNING_KEY`, signingKeyCurrent],
    [`${queue}_NEXT_SIGNING_KEY`, signingKeyNext],
    [`${header}_EMAIL`, mgmtEmail],
    [`${header}_API_KEY`, mgmtKey],
  ];
  return variables.flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${quoted(value)}`]));
}

function quoted(value: string): string {
  return /^[\w@%+=:,./-]*$/.test(value) ? value : `'${value.replaceAll("'", "'\\''")}'`;
}
