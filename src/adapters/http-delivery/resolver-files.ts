/**
 * Reads `/etc/hosts`, and the search domains of `/etc/resolv.conf`, which `node:dns` leaves out. Both files are read again
 * when they have changed.
 */
import { readFile, stat } from 'node:fs/promises';
import { isIP, isIPv6 } from 'node:net';

export interface ResolverConfig {
  /** Tried behind a name, in this order. */
  readonly searchDomains: readonly string[];
  /** A name with fewer dots is tried with the search domains first. */
  readonly minDots: number;
}

/** Addresses by name, in lower case. */
export type Hosts = ReadonlyMap<string, readonly string[]>;

/** As in resolv.conf(5). */
const MAX_SEARCH_DOMAINS = 6;
const MAX_MIN_DOTS = 15;

/** A small file and what was made of it. One that is not there, or cannot be read, is empty. */
export class ParsedFile<T> {
  #version = '';
  #value: T;

  constructor(
    readonly path: string,
    readonly parse: (text: string) => T,
  ) {
    this.#value = parse('');
  }

  async value(): Promise<T> {
    const version = await versionOf(this.path);
    if (version !== this.#version) {
      this.#value = this.parse(await readFile(this.path, 'utf8').catch(() => ''));
      this.#version = version;
    }
    return this.#value;
  }
}

async function versionOf(path: string): Promise<string> {
  try {
    const { ino, size, mtimeMs } = await stat(path);
    return `${ino} ${size} ${mtimeMs}`;
  } catch {
    return '';
  }
}

export function parseHosts(text: string): Hosts {
  const hosts = new Map<string, string[]>();
  for (const words of wordsOfLines(text)) {
    const [address = '', ...names] = words;
    if (isIP(withoutScope(address)) === 0) continue;
    for (const given of names) {
      const name = given.toLowerCase();
      const known = hosts.get(name);
      if (known === undefined) hosts.set(name, [address]);
      else if (!known.includes(address)) known.push(address);
    }
  }
  return hosts;
}

export function parseResolverConfig(text: string): ResolverConfig {
  let searchDomains: string[] = [];
  let minDots = 1;
  for (const [keyword, ...values] of wordsOfLines(text)) {
    if (keyword === 'search' || keyword === 'domain') {
      searchDomains = values.map((domain) => domain.replace(/\.$/, '')).filter((domain) => domain !== '');
    } else if (keyword === 'options') {
      for (const option of values) {
        const dots = /^ndots:(\d+)$/.exec(option);
        if (dots) minDots = Math.min(Number(dots[1]), MAX_MIN_DOTS);
      }
    }
  }
  return {
    searchDomains: searchDomains.slice(0, MAX_SEARCH_DOMAINS),
    minDots,
  };
}

function* wordsOfLines(text: string): Iterable<string[]> {
  for (const line of text.split('\n')) {
    const words = line
      .replace(/[#;].*/, '')
      .trim()
      .split(/\s+/);
    if (words.length > 1) yield words;
  }
}

function withoutScope(address: string): string {
  const percent = address.indexOf('%');
  return percent !== -1 && isIPv6(address.slice(0, percent)) ? address.slice(0, percent) : address;
}
