/**
 * The environment variables of published clients, as lines for a shell or a settings file. Their names contain the
 * alias's words.
 */
import type { FirstStartCredentials } from '../../protocol/index.js';

/** URLs by name, from `name=url`. */
export type Addresses = Readonly<Record<string, string>>;

export function addressesOf(listed: readonly string[]): Addresses {
  return Object.fromEntries(
    listed.map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]),
  );
}

/** @param words `Header:queue:kv`, as in MILLRACE_WIRE_ALIAS. @returns one line per variable */
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
