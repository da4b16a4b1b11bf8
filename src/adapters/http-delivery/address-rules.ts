/**
 * Judges addresses that a delivery would connect to.
 *
 * Invariants
 *  ADD1 an address is judged by its bytes, never by its spelling
 *  ADD2 an IPv6 address that only carries an IPv4 one (`::ffff:a.b.c.d`, `::a.b.c.d`) is judged as that
 *  ADD3 one that leads to an IPv4 address through a translator or tunnel (NAT64, 6to4) must be allowed itself, and so
 *       must the address inside
 *  ADD4 what an operator's list names is allowed on the port it names; nothing else of the forbidden ranges is
 *
 *  ADD5 link-local addresses, where clouds answer with credentials of the machine, are allowed by nothing but a listed
 *       range that lies within theirs
 *
 * Where `allowPrivate` is set, everything else may be called.
 */
import { isIP } from 'node:net';
import type { AddressRange, AllowedDestination } from '../../config/index.js';
import { FORBIDDEN_RANGES, type ForbiddenRange } from './address-ranges.js';
import { AddressSet, ipv4In, readIp } from './ip-address.js';

export type AddressKind = ForbiddenRange['kind'];

export interface AddressRuleOptions {
  readonly allowPrivate: boolean;
  /** Private destinations that may be called all the same; a port of `undefined` means any. */
  readonly allow: readonly AllowedDestination[];
}

/** In this order: `reserved` holds more than what is left for it. */
const KINDS: readonly AddressKind[] = ['loopback', 'private', 'link-local', 'reserved'];
const FORBIDDEN = KINDS.map((kind) => ({ kind, addresses: new AddressSet(rangesOf(kind)) }));
/** The link-local ranges have so many, by the version of the address. */
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

  /** Why the address may not be called on that port; undefined when it may. Text that is no address may not. */
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
