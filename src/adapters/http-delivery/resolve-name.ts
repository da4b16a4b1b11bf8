/**
 * Resolves a name: from the hosts file, else from DNS with the search domains of `/etc/resolv.conf`. Other sources that a
 * system may be set up with (NIS, LDAP, multicast DNS) are not asked.
 *
 * The queries are made by c-ares (`node:dns`), which does not use the threads that files and ciphers need, as `getaddrinfo`
 * would. Each lookup has a resolver: it can be cancelled without another lookup, and it has a UDP port and query ids that
 * are hard to guess.
 *
 * A and AAAA records are queried in parallel. IPv6 addresses come first where this machine has a global IPv6 address, as
 * RFC 6724 orders destinations.
 */
import { type LookupAddress, NODATA, NOTFOUND, NOTIMP, REFUSED, type RecordWithTtl, SERVFAIL, TIMEOUT } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { CallFailure } from './failure-words.js';
import { type Hosts, ParsedFile, parseHosts, parseResolverConfig, type ResolverConfig } from './resolver-files.js';

export interface ResolvedName {
  /** Empty: the name does not exist, or has no addresses. */
  readonly addresses: readonly LookupAddress[];
  readonly ttlMs: number;
}

/** @throws CallFailure when no server answers; the signal's reason once it is aborted */
export type ResolveName = (name: string, signal: AbortSignal) => Promise<ResolvedName>;

export interface DnsServer {
  readonly address: string;
  readonly port: number;
}

export interface ResolverOptions {
  /** Default: the servers of `/etc/resolv.conf`. */
  readonly servers?: readonly DnsServer[] | undefined;
  readonly hostsFile?: string;
  readonly configFile?: string;
}

/** An operator who edits the hosts file waits no longer than this. */
const HOSTS_TTL_MS = 5000;
/** c-ares does not report the zone's lifetime of a denial, and a destination that was just set up should be found soon. */
const DENIAL_TTL_MS = 5000;
/** c-ares waits this long for the first answer of a server, and longer in later rounds. */
const FIRST_WAIT_MS = 1000;
/** The rounds last longer than any limit on a whole lookup; the caller's signal ends them. */
const MAX_ROUNDS = 8;
const REFUSALS = new Set<string | undefined>([SERVFAIL, REFUSED, NOTIMP]);
/** When one family has an address, the wait for the other one ends after this time: some servers never answer for IPv6. */
const OTHER_FAMILY_MS = 500;
const LOOPBACK = ['127.0.0.1', '::1'];

export function resolverOfThisMachine(options: ResolverOptions = {}): ResolveName {
  const hostsFile = new ParsedFile(options.hostsFile ?? '/etc/hosts', parseHosts);
  const configFile = new ParsedFile(options.configFile ?? '/etc/resolv.conf', parseResolverConfig);
  return async (name, signal) => {
    const known = knownHere(name, await hostsFile.value());
    if (known !== undefined) return { addresses: inOrder(known), ttlMs: HOSTS_TTL_MS };
    const config = await configFile.value();
    return resolveByDns(name, config, options.servers, signal);
  };
}

/** RFC 6761: `localhost` is this machine, even if a server disagrees. */
function knownHere(given: string, hosts: Hosts): readonly string[] | undefined {
  const name = given.replace(/\.$/, '').toLowerCase();
  const listed = hosts.get(name);
  if (listed !== undefined) return listed;
  return name === 'localhost' || name.endsWith('.localhost') ? LOOPBACK : undefined;
}

async function resolveByDns(
  name: string,
  config: ResolverConfig,
  servers: readonly DnsServer[] | undefined,
  signal: AbortSignal,
): Promise<ResolvedName> {
  let failure: unknown;
  for (const candidate of candidatesOf(name, config)) {
    try {
      const resolved = await resolveOne(candidate, servers, signal);
      if (resolved.addresses.length > 0) return resolved;
    } catch (error) {
      signal.throwIfAborted();
      failure = error;
    }
  }
  if (failure !== undefined) {
    const isTimeout = (failure as NodeJS.ErrnoException).code === TIMEOUT;
    throw new CallFailure(isTimeout ? 'name lookup timed out' : 'name lookup failed', { cause: failure });
  }
  return { addresses: [], ttlMs: DENIAL_TTL_MS };
}

/** The names to query, in order, without a final dot. */
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

/** Other names do not fit in a DNS query. */
function isName(name: string): boolean {
  return name.length <= 253 && name.split('.').every((label) => label.length > 0 && Buffer.byteLength(label) <= 63);
}

/** Asks the next server when one refuses or fails: c-ares, as Node sets it up, takes such a response as the answer. */
async function resolveOne(
  name: string,
  given: readonly DnsServer[] | undefined,
  signal: AbortSignal,
): Promise<ResolvedName> {
  const resolver = new Resolver({ timeout: FIRST_WAIT_MS, tries: MAX_ROUNDS });
  let servers = given?.map(({ address, port }) => `[${address}]:${port}`) ?? resolver.getServers();
  for (;;) {
    signal.throwIfAborted();
    resolver.setServers(servers);
    try {
      return await queryBothFamilies(name, resolver, signal);
    } catch (error) {
      servers = servers.slice(1);
      if (servers.length === 0 || !REFUSALS.has((error as NodeJS.ErrnoException).code)) throw error;
    }
  }
}

async function queryBothFamilies(name: string, resolver: Resolver, signal: AbortSignal): Promise<ResolvedName> {
  const cancel = () => resolver.cancel();
  signal.addEventListener('abort', cancel);
  let otherFamily: NodeJS.Timeout | undefined;
  const query = async (records: Promise<RecordWithTtl[]>) => {
    const found = await records.catch((error: NodeJS.ErrnoException) => {
      if (error.code === NOTFOUND || error.code === NODATA) return [];
      throw error;
    });
    if (found.length > 0) otherFamily ??= setTimeout(cancel, OTHER_FAMILY_MS);
    return found;
  };
  const results = await Promise.allSettled([
    query(resolver.resolve4(name, { ttl: true })),
    query(resolver.resolve6(name, { ttl: true })),
  ]);
  clearTimeout(otherFamily);
  signal.removeEventListener('abort', cancel);
  signal.throwIfAborted();
  const records = results.flatMap((result) => (result.status === 'fulfilled' ? result.value : []));
  if (records.length === 0) {
    const failed = results.find((result) => result.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
    return { addresses: [], ttlMs: DENIAL_TTL_MS };
  }
  const ttlSeconds = Math.min(...records.map(({ ttl }) => ttl));
  return { addresses: inOrder(records.map(({ address }) => address)), ttlMs: ttlSeconds * 1000 };
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

/** True when an interface has a global address (2000::/3). */
function isReachableByIpv6(): boolean {
  return Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .some(({ family, internal, address }) => family === 'IPv6' && !internal && /^[23]/.test(address));
}
