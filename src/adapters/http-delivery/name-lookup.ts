/**
 * Names into addresses: by the operating system's resolver, so that hosts files and search domains count.
 *
 * Invariants
 *  L1 at most MAX_LOOKUPS run at once: each holds a thread of the pool that files and ciphers need too, and a name
 *     whose servers never answer holds it for long
 *  L2 a name is looked up once however many ask meanwhile; its answer, good or bad, serves for CACHE_MS
 *  L3 what waits for its turn is bounded; beyond that a lookup fails at once
 *
 * Whoever asks has a time limit of its own, judges the addresses each time and connects to exactly those: a name
 * that changes its mind between the two has no effect.
 */
import { promises as dns, type LookupAddress } from 'node:dns';

export type ResolveName = (name: string) => Promise<readonly LookupAddress[]>;

/** The pool has four threads unless an operator says otherwise. */
const MAX_LOOKUPS = 3;
const MAX_WAITING_LOOKUPS = 1000;
/** Bounds what the memory of answers holds; the oldest are forgotten. */
const MAX_CACHED_NAMES = 1000;
/** Long enough for a burst of connections, short enough for a failover by DNS. */
const CACHE_MS = 5000;

interface Answer {
  readonly addresses: Promise<readonly LookupAddress[]>;
  /** Infinity while it is looked up. */
  expiresAtMs: number;
}

export class NameLookup {
  readonly #answers = new Map<string, Answer>();
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(readonly resolve: ResolveName = resolveBySystem) {}

  /** All addresses of the name. @throws what the resolver threw; an error with the code ELOOKUPS beyond L3 */
  addressesOf(name: string): Promise<readonly LookupAddress[]> {
    const known = this.#answers.get(name);
    if (known !== undefined && known.expiresAtMs > performance.now()) return known.addresses;
    const answer: Answer = { addresses: this.#lookUp(name), expiresAtMs: Number.POSITIVE_INFINITY };
    const expire = () => {
      answer.expiresAtMs = performance.now() + CACHE_MS;
    };
    answer.addresses.then(expire, expire);
    this.#answers.delete(name);
    this.#answers.set(name, answer);
    if (this.#answers.size > MAX_CACHED_NAMES) this.#answers.delete(this.#answers.keys().next().value as string);
    return answer.addresses;
  }

  async #lookUp(name: string): Promise<readonly LookupAddress[]> {
    if (this.#running < MAX_LOOKUPS) this.#running += 1;
    else await this.#turn();
    try {
      return await this.resolve(name);
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }

  #turn(): Promise<void> {
    if (this.#waiting.length >= MAX_WAITING_LOOKUPS) {
      throw Object.assign(new Error('too many name lookups are waiting'), { code: 'ELOOKUPS' });
    }
    return new Promise((go) => this.#waiting.push(go));
  }
}

function resolveBySystem(name: string): Promise<readonly LookupAddress[]> {
  return dns.lookup(name, { all: true });
}
