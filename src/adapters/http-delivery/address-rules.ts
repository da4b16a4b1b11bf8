/**
 * Judges addresses that a delivery would connect to.
 *
 * Invariants
 *  R1 an address is judged by its bytes, never by its spelling
 *  R2 an IPv6 address that only carries an IPv4 one (`::ffff:a.b.c.d`, `::a.b.c.d`) is judged as that
 *  R3 one that leads to an IPv4 address through a translator or tunnel (NAT64, 6to4) must be allowed itself, and so
 *     must the address inside
 *  R4 what an operator's list names is allowed on the port it names; nothing else of the forbidden ranges is
 *
 *  R5 link-local addresses, where clouds answer with credentials of the machine, are allowed by nothing but a listed
 *     range that lies within theirs
 *
 * With `allowPrivate` everything else may be called.
 */
import type { Destination } from '../../config/index.js';
import { FORBIDDEN_RANGES, type ForbiddenRange } from './address-ranges.js';
import { type IpBytes, type IpRange, ipRange, isInRange, parseIp } from './ip-address.js';

export type AddressKind = ForbiddenRange['kind'];

export interface AddressRuleOptions {
  readonly allowPrivate: boolean;
  /** Private destinations that may be called all the same; a port of `undefined` means any. */
  readonly allow: readonly Destination[];
}

interface NamedRange extends IpRange {
  readonly kind: AddressKind;
}

const FORBIDDEN: readonly NamedRange[] = FORBIDDEN_RANGES.map(({ cidr, kind }) => {
  const [address = '', bits] = cidr.split('/');
  return { ...ipRange(address, Number(bits)), kind };
});
const UNSPECIFIED_AND_LOOPBACK = ipRange('::', 127);
const MAPPED = ipRange('::ffff:0:0', 96);
/** Translated by hosts that speak IPv6 only (`::ffff:0:a.b.c.d`). */
const TRANSLATED = ipRange('::ffff:0:0:0', 96);
const COMPATIBLE = ipRange('::', 96);
const NAT64 = ipRange('64:ff9b::', 96);
const SIX_TO_FOUR = ipRange('2002::', 16);

export class AddressRules {
  readonly #allowPrivate: boolean;
  readonly #allow: readonly (IpRange & { readonly port: number | undefined })[];

  constructor(options: AddressRuleOptions) {
    this.#allowPrivate = options.allowPrivate;
    this.#allow = options.allow.map(({ address, prefixBits, port }) => ({ ...unwrapped(address, prefixBits), port }));
  }

  /** Why the address may not be called on that port; undefined when it may. Text that is no address may not. */
  refusalOf(address: string, port: number): AddressKind | undefined {
    const bytes = parseIp(address);
    const kind = bytes === undefined ? 'reserved' : this.#judge(carriedIpv4(bytes) ?? bytes, port);
    return this.#allowPrivate && kind !== 'link-local' ? undefined : kind;
  }

  #judge(bytes: IpBytes, port: number): AddressKind | undefined {
    const inner = reachedIpv4(bytes);
    const innerRefusal = inner && this.#judge(inner, port);
    if (innerRefusal !== undefined) return innerRefusal;
    const forbidden = FORBIDDEN.find((range) => isInRange(bytes, range));
    if (forbidden === undefined) return undefined;
    const minBits = forbidden.kind === 'link-local' ? forbidden.prefixBits : 0;
    const isListed = this.#allow.some(
      (range) => range.prefixBits >= minBits && (range.port ?? port) === port && isInRange(bytes, range),
    );
    return isListed ? undefined : forbidden.kind;
  }
}

/** R2 for a range of the operator's: `::ffff:10.0.0.0/104` means `10.0.0.0/8`. */
function unwrapped(address: string, prefixBits: number): IpRange {
  const range = ipRange(address, prefixBits);
  const inner = prefixBits >= 96 ? carriedIpv4(range.bytes) : undefined;
  return inner ? { bytes: inner, prefixBits: prefixBits - 96 } : range;
}

function carriedIpv4(bytes: IpBytes): IpBytes | undefined {
  if (bytes.length === 4 || isInRange(bytes, UNSPECIFIED_AND_LOOPBACK)) return undefined;
  const isCarrier = isInRange(bytes, MAPPED) || isInRange(bytes, TRANSLATED) || isInRange(bytes, COMPATIBLE);
  return isCarrier ? bytes.subarray(12) : undefined;
}

function reachedIpv4(bytes: IpBytes): IpBytes | undefined {
  if (isInRange(bytes, NAT64)) return bytes.subarray(12);
  return isInRange(bytes, SIX_TO_FOUR) ? bytes.subarray(2, 6) : undefined;
}
