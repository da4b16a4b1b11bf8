/**
 * Reads the target of a URL. Only the form of the WHATWG parser counts: it turns every spelling of an IPv4 address
 * (`127.1`, `0x7f.1`, `2130706433`, full-width digits) into four decimal numbers.
 *
 * A URL with a user or password is refused, because it is shown in records and events, where secrets must not be, and
 * `good.example@evil.example` misleads. Credentials belong in a forwarded Authorization header.
 */
import { isIP } from 'node:net';
import { readUrl } from '../../kernel/index.js';
import type { AddressRules } from './address-rules.js';

interface CallTarget {
  /** Scheme, host and port; connections are shared by origin. */
  readonly origin: string;
  /** With its port, unless it is the scheme's default. */
  readonly host: string;
  /** Path and query, as in the request line. */
  readonly path: string;
}

export type TargetOutcome =
  | { readonly isOk: true; readonly target: CallTarget }
  | { readonly isOk: false; readonly reason: string };

/** Never throws. Names are not looked up here. */
export function readTarget(url: string, rules: AddressRules): TargetOutcome {
  const parsed = readUrl(url);
  if (parsed === undefined) return refused('endpoint is not a valid URL');
  if (parsed.protocol !== 'http:' && parsed.protocol !== 'https:') {
    return refused('endpoint has invalid scheme, add http:// or https://');
  }
  if (parsed.username !== '' || parsed.password !== '') return refused('endpoint must not hold a user or a password');
  const host = bareHost(parsed.hostname);
  const kind = isIP(host) === 0 ? undefined : rules.refusalOf(host, portOf(parsed));
  if (kind !== undefined) return refused(`endpoint resolves to a ${kind} address: ${host}`);
  return { isOk: true, target: { origin: parsed.origin, host: parsed.host, path: parsed.pathname + parsed.search } };
}

/** Without the brackets of an IPv6 address. */
export function bareHost(hostname: string): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
}

function portOf(url: URL): number {
  if (url.port !== '') return Number(url.port);
  return url.protocol === 'https:' ? 443 : 80;
}

function refused(reason: string): TargetOutcome {
  return { isOk: false, reason };
}
