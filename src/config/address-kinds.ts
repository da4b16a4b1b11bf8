/**
 * Kinds of settings with addresses: hosts, URLs, address ranges, destinations, name servers. They keep KI1 (`read`
 * never throws), KI2 (`read` reverses `write`) and KI3 (no control characters) of kinds.ts.
 */
import { isIP, isIPv6 } from 'node:net';
import { readUrl } from '../kernel/index.js';
import { listOf, rule, type SettingKind } from './kinds.js';

const HOST_NAME = /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]{0,62})(\.[a-z0-9]([a-z0-9-]{0,62}))*$/i;
/** A name with a numeric last part is a mistyped IPv4 address. */
const ENDS_NUMERIC = /(^|\.)\d+$/;

export function host(): SettingKind {
  const isHost = (value: unknown) =>
    typeof value === 'string' && (isIP(value) !== 0 || (HOST_NAME.test(value) && !ENDS_NUMERIC.test(value)));
  return {
    accepts: 'an IP address or a host name',
    rules: [rule('host', isHost)],
    read: (given) => given,
    write: String,
  };
}

/** A URL without userinfo, query and fragment, so that it can be shown and logged without a secret. */
export function url(...schemes: readonly string[]): SettingKind {
  return {
    accepts: `${schemes.map((scheme) => `${scheme}://`).join(' or ')} and a host, without user, password, query or #`,
    rules: [rule('url', (value) => typeof value === 'string' && isPlainUrl(value, schemes))],
    read: (given) => given.replace(/\/+$/, ''),
    write: String,
    hidesText: true,
  };
}

/** A directory, or a bucket of an object store with a prefix. */
export function backupPlace(): SettingKind {
  return {
    accepts: 's3://bucket/prefix, or the absolute path of a directory',
    rules: [rule('backupPlace', (value) => typeof value === 'string' && BACKUP_PLACE.test(value))],
    read: (given) => given.replace(/\/+$/, ''),
    write: String,
  };
}

/** Names of buckets as services accept them, and prefixes that need no escapes. */
const BACKUP_PLACE = /^(?:s3:\/\/[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](?:\/[A-Za-z0-9_.-]+)*|\/[^\p{Cc}]*)$/u;

/** One or more servers, separated by commas. A server without a scheme gets `<schemes[0]>://`. */
export function serverList(...schemes: readonly string[]): SettingKind {
  const kind = listOf(
    `${schemes.map((scheme) => `${scheme}://host:port`).join(' or ')}, several separated by commas, without user and password`,
    (item) => {
      const server = item.includes('://') ? item : `${schemes[0]}://${item}`;
      return isPlainUrl(server, schemes) ? server : undefined;
    },
  );
  return { ...kind, hidesText: true };
}

function isPlainUrl(given: string, schemes: readonly string[]): boolean {
  const parsed = readUrl(given);
  if (parsed === undefined || !/^[\x21-\x7e]+$/.test(given)) return false;
  const isOfScheme = schemes.includes(parsed.protocol.slice(0, -1)) && given.startsWith(`${parsed.protocol}//`);
  return isOfScheme && parsed.hostname !== '' && !/[@?#]/.test(given);
}

/** A range of addresses. */
export interface AddressRange {
  readonly address: string;
  /** Length of the prefix in bits: 0–32 or 0–128. */
  readonly prefixBits: number;
}

/** A range and an allowed port; undefined: every port. */
export interface AllowedDestination extends AddressRange {
  readonly port: number | undefined;
}

export function addressRanges(): SettingKind {
  return listOf('IP addresses or CIDR ranges, separated by commas', readRange, writeRange);
}

/** Origins of pages, as a policy of a browser names them. */
export function pageOrigins(): SettingKind {
  return listOf('origins separated by commas, such as https://app.example or https://*.app.example', (given) =>
    /^https?:\/\/(\*\.)?[A-Za-z0-9.-]{1,253}(:\d{1,5})?$/.test(given) ? given : undefined,
  );
}

export function destinations(): SettingKind {
  return listOf(
    'cidr:port pairs separated by commas, such as 10.1.0.0/16:443 or [fd00::/8]:*',
    readDestination,
    (destination) => {
      const { port: only, ...range } = destination as AllowedDestination;
      const written = writeRange(range);
      return `${written.includes(':') ? `[${written}]` : written}:${only ?? '*'}`;
    },
  );
}

/** The address of a server. */
export interface ServerAddress {
  readonly address: string;
  readonly port: number;
}

const DNS_PORT = 53;

export function nameServers(): SettingKind {
  return listOf(
    'IP addresses separated by commas, with a port where it is not 53, such as 10.0.0.2 or [fd00::2]:5353',
    (given) => {
      if (isIP(given) !== 0) return { address: given, port: DNS_PORT };
      const match = /^(?:\[([^\]]+)\]|([^:[\]]+)):(\d{1,5})$/.exec(given);
      const address = match?.[1] ?? match?.[2] ?? '';
      const port = Number(match?.[3]);
      return isIP(address) !== 0 && port >= 1 && port <= 65_535 ? { address, port } : undefined;
    },
    (server) => {
      const { address, port } = server as ServerAddress;
      return isIPv6(address) ? `[${address}]:${port}` : `${address}:${port}`;
    },
  );
}

function readRange(given: string): AddressRange | undefined {
  const [address = '', bits, ...more] = given.split('/');
  const version = isIP(address);
  if (version === 0 || address.includes('%') || more.length > 0) return undefined;
  const most = version === 4 ? 32 : 128;
  if (bits === undefined) return { address, prefixBits: most };
  return /^\d{1,3}$/.test(bits) && Number(bits) <= most ? { address, prefixBits: Number(bits) } : undefined;
}

function writeRange(range: unknown): string {
  const { address, prefixBits } = range as AddressRange;
  return `${address}/${prefixBits}`;
}

function readDestination(given: string): AllowedDestination | undefined {
  const match = /^(?:\[([^\]]+)\]|([^:[\]]+)):(\d{1,5}|\*)$/.exec(given);
  const range = match && readRange((match[1] ?? match[2]) as string);
  if (!match || !range) return undefined;
  const only = match[3] === '*' ? undefined : Number(match[3]);
  if (only !== undefined && (only < 1 || only > 65_535)) return undefined;
  return { ...range, port: only };
}
