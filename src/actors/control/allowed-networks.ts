/**
 * The addresses that may use a database, compiled from a list of IPv4 addresses and CIDR blocks. An entry that cannot
 * be read allows no address, so a list never allows more than it says.
 */
import { getOrCreate } from '../../kernel/index.js';
import type { Networks } from '../../ports/index.js';

const BITS = 32;
const PREFIX_BITS = /^(?:0|[1-9][0-9]?)$/;
/** The IPv6 form of an IPv4 peer's address (RFC 4291, 2.5.5.2). */
const MAPPED = /^::ffff:(?=[0-9.]+$)/i;

interface Range {
  readonly first: number;
  readonly last: number;
}

export class AllowedNetworks implements Networks {
  readonly text: string;
  /** Sorted by `first`; ranges neither overlap nor touch. */
  readonly #ranges: readonly Range[];

  constructor(list: readonly string[]) {
    this.text = list.join(' ');
    this.#ranges = joined(list.map(rangeOf).filter((range) => range !== undefined));
  }

  has(address: string): boolean {
    const number = ipv4Of(address.replace(MAPPED, ''));
    if (number === undefined) return false;
    const range = this.#lastNotBehind(number);
    return range !== undefined && number <= range.last;
  }

  #lastNotBehind(number: number): Range | undefined {
    let low = 0;
    let high = this.#ranges.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#ranges[middle] as Range).first <= number) low = middle + 1;
      else high = middle;
    }
    return this.#ranges[low - 1];
  }
}

const compiled = new WeakMap<readonly string[], Networks>();

/** Compiled once for each list in the control state. Undefined for an empty list: every address may connect. */
export function allowedNetworks(list: readonly string[] | undefined): Networks | undefined {
  if (list === undefined || list.length === 0) return undefined;
  const networks = getOrCreate(compiled, list, () => new AllowedNetworks(list));
  return networks;
}

/** `a.b.c.d` or `a.b.c.d/bits`; address bits after the prefix are ignored. */
function rangeOf(entry: string): Range | undefined {
  const slash = entry.indexOf('/');
  const first = ipv4Of(slash < 0 ? entry : entry.slice(0, slash));
  if (first === undefined) return undefined;
  if (slash < 0) return { first, last: first };
  const prefix = entry.slice(slash + 1);
  if (!PREFIX_BITS.test(prefix) || Number(prefix) > BITS) return undefined;
  // Shifts are not used: they are signed at 32 bits, and a shift by 32 does not shift.
  const size = 2 ** (BITS - Number(prefix));
  const start = Math.floor(first / size) * size;
  return { first: start, last: start + size - 1 };
}

/** Four decimal numbers without leading zeros, which some parsers read as octal. */
function ipv4Of(text: string): number | undefined {
  const parts = text.split('.');
  if (parts.length !== 4) return undefined;
  let number = 0;
  for (const part of parts) {
    if (!/^(?:0|[1-9][0-9]{0,2})$/.test(part) || Number(part) > 255) return undefined;
    number = number * 256 + Number(part);
  }
  return number;
}

function joined(ranges: readonly Range[]): Range[] {
  const result: Range[] = [];
  for (const range of [...ranges].sort((one, other) => one.first - other.first)) {
    const before = result.at(-1);
    if (before === undefined || range.first > before.last) result.push(range);
    else if (range.last > before.last) result[result.length - 1] = { first: before.first, last: range.last };
  }
  return result;
}
