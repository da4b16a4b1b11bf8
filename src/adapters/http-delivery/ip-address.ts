/** Sets of IP addresses, and the IPv4 address inside an IPv6 one, for any spelling. */
import { BlockList, isIP, isIPv6 } from 'node:net';
import type { AddressRange } from '../../config/index.js';

/** Separate lists by family: a list for both would match IPv4 addresses with the IPv6 addresses that contain them. */
export class AddressSet {
  readonly #lists = { ipv4: new BlockList(), ipv6: new BlockList() };

  constructor(ranges: readonly AddressRange[]) {
    for (const { address, prefixBits } of ranges) {
      const family = familyOf(address);
      this.#lists[family].addSubnet(address, prefixBits, family);
    }
  }

  has(address: string): boolean {
    const family = familyOf(address);
    return this.#lists[family].check(address, family);
  }
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIPv6(address) ? 'ipv6' : 'ipv4';
}

/** The IPv4 address in four bytes of an IPv6 one. */
export function ipv4In(address: string, at: number): string {
  return parseIpv6(address)
    .subarray(at, at + 4)
    .join('.');
}

/** Text of an address as a resolver gives it, without its scope id (`%eth0`). Undefined: not an address. */
export function readIp(text: string): string | undefined {
  const [address = ''] = text.split('%');
  return isIP(address) === 0 ? undefined : address;
}

function parseIpv6(text: string): Uint8Array {
  const [head = '', tail] = text.split('::');
  const first = groupBytes(head);
  const last = tail === undefined ? [] : groupBytes(tail);
  const bytes = new Uint8Array(16);
  bytes.set(first, 0);
  bytes.set(last, 16 - last.length);
  return bytes;
}

/** The bytes of colon-separated groups, the last of which may be a dotted IPv4 address. */
function groupBytes(text: string): number[] {
  if (text === '') return [];
  return text.split(':').flatMap((group) => {
    if (group.includes('.')) return group.split('.').map(Number);
    const value = Number.parseInt(group, 16);
    return [value >> 8, value & 0xff];
  });
}
