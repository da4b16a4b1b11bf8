/** IP addresses as bytes, so that ranges can be compared bit by bit whatever way an address was spelled. */
import { isIP } from 'node:net';

/** 4 bytes or 16. */
export type IpBytes = Uint8Array;

export interface IpRange {
  readonly bytes: IpBytes;
  /** Leading bits that count. */
  readonly prefixBits: number;
}

/** Text of an address as a resolver gives it; a scope id (`%eth0`) is left out. Undefined: not an address. */
export function parseIp(text: string): IpBytes | undefined {
  const percent = text.indexOf('%');
  const address = percent === -1 ? text : text.slice(0, percent);
  const version = isIP(address);
  if (version === 4) return Uint8Array.from(address.split('.'), Number);
  return version === 6 ? parseIpv6(address) : undefined;
}

/** @throws for text that is none: ranges are written by us and by a validated setting */
export function ipRange(address: string, prefixBits: number): IpRange {
  const bytes = parseIp(address);
  if (bytes === undefined) throw new Error(`not an IP address: ${address}`);
  return { bytes, prefixBits };
}

export function isInRange(address: IpBytes, { bytes, prefixBits }: IpRange): boolean {
  if (address.length !== bytes.length) return false;
  const whole = prefixBits >> 3;
  for (let at = 0; at < whole; at += 1) if (address[at] !== bytes[at]) return false;
  const rest = prefixBits & 7;
  return rest === 0 || (((address[whole] as number) ^ (bytes[whole] as number)) & (0xff00 >> rest) & 0xff) === 0;
}

function parseIpv6(text: string): IpBytes {
  const [head = '', tail] = text.split('::');
  const first = groupBytes(head);
  const last = tail === undefined ? [] : groupBytes(tail);
  const bytes = new Uint8Array(16);
  bytes.set(first, 0);
  bytes.set(last, 16 - last.length);
  return bytes;
}

/** Of colon-separated groups, the last of which may be a dotted IPv4 address. */
function groupBytes(text: string): number[] {
  if (text === '') return [];
  return text.split(':').flatMap((group) => {
    if (group.includes('.')) return group.split('.').map(Number);
    const value = Number.parseInt(group, 16);
    return [value >> 8, value & 0xff];
  });
}
