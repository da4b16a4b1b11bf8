/**
 * Judges the addresses to which a delivery would connect.
 *
 *  ADD1 an address is judged by its bytes, never by its spelling
 *  ADD2 an IPv6 address that only contains an IPv4 one (`::ffff:a.b.c.d`, `::a.b.c.d`) is judged as that
 *  ADD3 an address that leads to an IPv4 one through a translator or tunnel (NAT64, 6to4) must be allowed, and so must
 *       the address inside
 *  ADD4 addresses in an operator's list are allowed on the listed port; all others of the forbidden ranges are not
 *  ADD5 link-local addresses, where clouds return credentials of the machine, are allowed only by a listed range
 *       within theirs
 *
 * With `allowPrivate` all other addresses are allowed.
 */
import { isIP } from 'node:net';
import type { AddressRange, AllowedDestination } from '../../config/index.js';
import { FORBIDDEN_RANGES, type ForbiddenRange } from './address-ranges.js';
import { AddressSet, ipv4In, readIp } from './ip-address.js';

export type AddressKind = ForbiddenRange['kind'];

export interface AddressRuleOptions {
  readonly allowPrivate: boolean;
  /** Private destinations that may be called; a port of `undefined` means any. */
  readonly allow: readonly AllowedDestination[];
}

/** In this order, because `reserved` overlaps the others. */
const KINDS: readonly AddressKind[] = ['loopback', 'private', 'link-local', 'reserved'];
const FORBIDDEN = KINDS.map((kind) => ({ kind, addresses: new AddressSet(rangesOf(kind)) }));
/** The prefix lengths of the link-local ranges, by the version of the address. */
const LINK_LOCAL_BITS = [0, 0, 0, 0, 16, 0, 10];
const UNSPECIFIED_AND_LOOPBACK = new AddressSet([range('::/127')]);
/** Mapped, translated by hosts that speak IPv6 only (`::ffff:0:a.b.c.d`), compatible. */
const CARRIERS = new AddressSet([range('::ffff:0:0/96'), range('::ffff:0:0:0/96'), range('::/96')]);
const NAT64 = new AddressSet([range('64:ff9b::/96')]);
const SIX_TO_FOUR = new AddressSet([range('2002::/16')]);

export class AddressRules {
  readonly #allowPrivate: boolean;
  readonly #allow;

  constructor({ allowPrivate, allow }: AddressRuleOptions) {
    this.#allowPrivate = allowPrivate;
    this.#allow = allow.map(({ port, ...given }) => {
      const range = unwrapped(given);
      return { port, addresses: new AddressSet([range]), prefixBits: range.prefixBits };
    });
  }

  /**
   * The reason why the address must not be called on that port; undefined when it may be. Text that is no address is
   * refused.
   */
  refusalOf(text: string, port: number): AddressKind | undefined {
    const address = readIp(text);
    const kind = address === undefined ? 'reserved' : this.#judge(carriedIpv4(address) ?? address, port);
    return this.#allowPrivate && kind !== 'link-local' ? undefined : kind;
  }

  #judge(address: string, port: number): AddressKind | undefined {
    const inner = reachedIpv4(address);
    const innerRefusal = inner === undefined ? undefined : this.#judge(inner, port);
    if (innerRefusal !== undefined) return innerRefusal;
    const kind = FORBIDDEN.find(({ addresses }) => addresses.has(address))?.kind;
    if (kind === undefined) return undefined;
    const minBits = kind === 'link-local' ? (LINK_LOCAL_BITS[isIP(address)] as number) : 0;
    const isListed = this.#allow.some(
      (range) => range.prefixBits >= minBits && (range.port ?? port) === port && range.addresses.has(address),
    );
    return isListed ? undefined : kind;
  }
}

function rangesOf(kind: AddressKind): AddressRange[] {
  return FORBIDDEN_RANGES.filter((forbidden) => forbidden.kind === kind).map(({ cidr }) => range(cidr));
}

function range(cidr: string): AddressRange {
  const [address = '', bits] = cidr.split('/');
  return { address, prefixBits: Number(bits) };
}

/** ADD2 for a range of the operator's: `::ffff:10.0.0.0/104` means `10.0.0.0/8`. */
function unwrapped({ address, prefixBits }: AddressRange): AddressRange {
  const inner = prefixBits >= 96 ? carriedIpv4(address) : undefined;
  return inner === undefined ? { address, prefixBits } : { address: inner, prefixBits: prefixBits - 96 };
}

function carriedIpv4(address: string): string | undefined {
  return CARRIERS.has(address) && !UNSPECIFIED_AND_LOOPBACK.has(address) ? ipv4In(address, 12) : undefined;
}

function reachedIpv4(address: string): string | undefined {
  if (NAT64.has(address)) return ipv4In(address, 12);
  return SIX_TO_FOUR.has(address) ? ipv4In(address, 2) : undefined;
}
