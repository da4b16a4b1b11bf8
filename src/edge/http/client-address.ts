/**
 * The client's address: the peer of the connection, or the address that a trusted proxy reports in `X-Forwarded-For`.
 * The header is ignored for all other peers, because any client can write it.
 */
import { BlockList, isIP, isIPv6 } from 'node:net';
import type { HttpRequest } from './exchange.js';

/** A range of addresses with a common prefix. */
export interface ProxyRange {
  readonly address: string;
  readonly prefixBits: number;
}

/** The most proxies followed; real chains are shorter. */
const MAX_HOPS = 16;
const MAPPED_IPV4 = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;

export class ClientAddresses {
  readonly #trusted: BlockList | undefined;

  constructor(trustedProxies: readonly ProxyRange[]) {
    if (trustedProxies.length === 0) return;
    this.#trusted = new BlockList();
    for (const { address, prefixBits } of trustedProxies)
      this.#trusted.addSubnet(address, prefixBits, familyOf(address));
  }

  /** An IP address, with IPv4 in dotted form. Empty if the peer has already disconnected. */
  of({ socket, headers }: HttpRequest): string {
    const peer = plain(socket.remoteAddress ?? '');
    const forwarded = headers['x-forwarded-for'];
    if (this.#trusted === undefined || forwarded === undefined) return peer;
    return this.#behind(peer, String(forwarded).split(','));
  }

  /** Does the request come from a trusted proxy, so that its forwarding headers count? */
  isHandedOn({ socket }: HttpRequest): boolean {
    return this.#trusted !== undefined && this.#isTrusted(plain(socket.remoteAddress ?? ''));
  }

  /** Follows the header from the nearest hop outwards, as long as each reporting hop is trusted. */
  #behind(peer: string, claims: readonly string[]): string {
    let address = peer;
    for (let hop = 1; hop <= Math.min(claims.length, MAX_HOPS) && this.#isTrusted(address); hop += 1) {
      const claimed = withoutPort((claims.at(-hop) as string).trim());
      if (isIP(claimed) === 0) break;
      address = plain(claimed);
    }
    return address;
  }

  #isTrusted(address: string): boolean {
    return isIP(address) !== 0 && (this.#trusted as BlockList).check(address, familyOf(address));
  }
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIPv6(address) ? 'ipv6' : 'ipv4';
}

/** An IPv4-mapped IPv6 address becomes dotted IPv4. */
export function plain(address: string): string {
  if (!address.startsWith('::')) return address;
  return MAPPED_IPV4.exec(address)?.[1] ?? address;
}

/** Some proxies write `1.2.3.4:567` or `[::1]:567`. */
function withoutPort(claimed: string): string {
  const match = /^\[([^\]]+)\](?::\d+)?$|^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(claimed);
  return match?.[1] ?? match?.[2] ?? claimed;
}
