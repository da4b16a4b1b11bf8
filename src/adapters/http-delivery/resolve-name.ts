/**
 * The addresses of a name: by the hosts file, else by DNS with the search domains of `/etc/resolv.conf`. Other sources
 * that a system may be set up with (NIS, LDAP, multicast DNS) are not asked.
 *
 * Both families are asked at once. IPv6 comes first where this machine has an address that others can reach, as
 * destinations are chosen by RFC 6724.
 */
import type { LookupAddress } from 'node:dns';
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { type AddressType, abortedWith, type DnsAnswer, type DnsServer, queryDns } from './dns-query.js';
import { type Hosts, ParsedFile, parseHosts, parseResolverConfig, type ResolverConfig } from './resolver-files.js';

export interface ResolvedName {
  /** None: there is no such name, or none with addresses. */
  readonly addresses: readonly LookupAddress[];
  readonly ttlMs: number;
}

/** @throws when there is neither an answer nor a denial; the signal's reason once it is aborted */
export type ResolveName = (name: string, signal: AbortSignal) => Promise<ResolvedName>;

export interface ResolverOptions {
  /** Instead of those of `/etc/resolv.conf`. */
  readonly servers?: readonly DnsServer[] | undefined;
  readonly hostsFile?: string;
  readonly configFile?: string;
}

/** What the hosts file says is believed for so long: an operator who changes it waits no longer. */
const HOSTS_TTL_MS = 5000;
/** A denial without a lifetime: it is not to be kept, but a burst of calls need not ask each for itself. */
const NO_TTL_SECONDS = 1;
/** Once one family has an address the other one is waited for so long: some servers never answer for IPv6. */
const OTHER_FAMILY_MS = 500;
const LOOPBACK = ['127.0.0.1', '::1'];

export function resolverOfThisMachine(options: ResolverOptions = {}): ResolveName {
  const hostsFile = new ParsedFile(options.hostsFile ?? '/etc/hosts', parseHosts);
  const configFile = new ParsedFile(options.configFile ?? '/etc/resolv.conf', parseResolverConfig);
  return async (name, signal) => {
    const known = knownHere(name, await hostsFile.value());
    if (known !== undefined) return { addresses: inOrder(known), ttlMs: HOSTS_TTL_MS };
    const config = await configFile.value();
    return resolveByDns(name, options.servers ? { ...config, servers: options.servers } : config, signal);
  };
}

/** RFC 6761: `localhost` is nobody else, whatever a server says. */
function knownHere(given: string, hosts: Hosts): readonly string[] | undefined {
  const name = given.replace(/\.$/, '').toLowerCase();
  const listed = hosts.get(name);
  if (listed !== undefined) return listed;
  return name === 'localhost' || name.endsWith('.localhost') ? LOOPBACK : undefined;
}

async function resolveByDns(name: string, config: ResolverConfig, signal: AbortSignal): Promise<ResolvedName> {
  let failure: unknown;
  let ttlMs = Number.POSITIVE_INFINITY;
  for (const candidate of candidatesOf(name, config)) {
    try {
      const resolved = await resolveOne(candidate, config.servers, signal);
      if (resolved.addresses.length > 0) return resolved;
      ttlMs = Math.min(ttlMs, resolved.ttlMs);
    } catch (error) {
      signal.throwIfAborted();
      failure = error;
    }
  }
  if (failure !== undefined) throw failure;
  return { addresses: [], ttlMs: Number.isFinite(ttlMs) ? ttlMs : NO_TTL_SECONDS * 1000 };
}

/** Names to ask for, in order, without a dot at their end. */
export function candidatesOf(name: string, { searchDomains, minDots }: ResolverConfig): string[] {
  const candidates = [name];
  if (name.endsWith('.')) candidates[0] = name.slice(0, -1);
  else {
    const longer = searchDomains.map((domain) => `${name}.${domain}`);
    const dots = name.split('.').length - 1;
    if (dots >= minDots) candidates.push(...longer);
    else candidates.unshift(...longer);
  }
  return candidates.filter(isName);
}

/** What cannot be put into a question has no address. */
function isName(name: string): boolean {
  return name.length <= 253 && name.split('.').every((label) => label.length > 0 && Buffer.byteLength(label) <= 63);
}

async function resolveOne(name: string, servers: readonly DnsServer[], signal: AbortSignal): Promise<ResolvedName> {
  const both = abortedWith(signal);
  let patience: NodeJS.Timeout | undefined;
  const ask = async (type: AddressType): Promise<DnsAnswer> => {
    const answer = await queryDns(name, type, servers, both.signal);
    if (answer.kind === 'addresses') patience ??= setTimeout(() => both.abort(), OTHER_FAMILY_MS);
    return answer;
  };
  const results = await Promise.allSettled([ask('A'), ask('AAAA')]);
  clearTimeout(patience);
  both.release();
  signal.throwIfAborted();
  const answers = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  const found = answers.flatMap((answer) => (answer.kind === 'addresses' ? answer.addresses : []));
  const failed = results.find((result) => result.status === 'rejected');
  if (found.length === 0 && failed !== undefined) throw failed.reason;
  // Where a name has addresses of one family, it does not matter for how long it has none of the other.
  const relevant = found.length > 0 ? answers.filter(({ kind }) => kind === 'addresses') : answers;
  const ttlSeconds = Math.min(...relevant.map((answer) => answer.ttlSeconds ?? NO_TTL_SECONDS));
  return { addresses: inOrder(found), ttlMs: ttlSeconds * 1000 };
}

function inOrder(found: readonly string[]): LookupAddress[] {
  const four: LookupAddress[] = [];
  const six: LookupAddress[] = [];
  for (const address of found) {
    const family = isIP(address);
    if (family === 4) four.push({ address, family });
    else if (family === 6) six.push({ address, family });
  }
  return six.length > 0 && isReachableByIpv6() ? [...six, ...four] : [...four, ...six];
}

/** Has some interface a global address? 2000::/3 is all there is. */
function isReachableByIpv6(): boolean {
  return Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .some(({ family, internal, address }) => family === 'IPv6' && !internal && /^[23]/.test(address));
}
