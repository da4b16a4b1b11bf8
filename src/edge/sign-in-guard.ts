/**
 * Guessing is slowed and seen: failed sign-ins of all faces of a process, counted by the address they came from.
 *
 * Invariants
 *  SIG1 an address that has failed too often is refused for seconds, and it alone: whoever signs in from another one is
 *       never kept out, and from the same one only until there is room for a failure again
 *  SIG2 a secret that nobody guesses, `UNGUESSABLE_CHARACTERS` long, is always looked up: behind a proxy that is not
 *       trusted everybody has one address, and who floods it must not lock the others out
 *  SIG3 what is kept is bounded, whatever comes: addresses, and names for the log. No secret is kept or logged
 *  SIG4 who signs in rightly is asked about only while somebody has failed within the last minute
 */
import { isIPv6 } from 'node:net';
import type { Clock, Counter, Log, Metrics, Timers } from '../ports/index.js';
import { plain } from './http/client-address.js';

/** The name by which the counter's label and the log know a face. */
export type SignInFace = 'rest' | 'resp' | 'queue' | 'management' | 'admin' | 'search' | 'monitoring' | 'console';

export interface SignInGuardPorts {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
  readonly metrics: Metrics;
}

const MINUTE_MS = 60_000;
/** 16 bytes in hexadecimal; every secret that is made here is longer. No rate of guessing finds one. */
export const UNGUESSABLE_CHARACTERS = 32;
/** Some 2 MB. Who fails from more addresses than that within a minute is slowed by their number no more. */
export const MAX_ADDRESSES = 10_000;
/** Names of a minute of a face, for the log. */
const MAX_NAMES = 1_000;
/** What is shown of a name. */
const MAX_NAME_CHARACTERS = 64;
/** How many are shown. */
const MOST = 3;

interface Allowance {
  /** Failures that there is room for; below 1 the address is refused. */
  left: number;
  filledAtMs: number;
}

/** What a face asks about those who sign in there. */
export interface SignIns {
  /** Has nobody failed lately? Then there is nothing to ask. */
  readonly isQuiet: boolean;
  /** @returns seconds until it may be tried again; undefined: the secret is to be looked up. Counted when it may not */
  waitOf(address: string, secret: string, name?: string): number | undefined;
  /** It opened nothing. @returns seconds when the address has failed too often and is told that; else undefined */
  failed(address: string, name?: string): number | undefined;
}

/** It is for faces that nobody guesses at. */
export const UNGUARDED: SignIns = { isQuiet: true, waitOf: () => undefined, failed: () => undefined };

export class SignInGuard {
  /** Those that failed last come last. */
  readonly #allowances = new Map<string, Allowance>();
  readonly #faces: GuardedFace[] = [];
  #isSweeping = false;

  /** @param perMinute failures of one address; the same number may come at once. 0: nobody is refused */
  constructor(
    private readonly ports: SignInGuardPorts,
    private readonly perMinute: number,
  ) {}

  get isQuiet(): boolean {
    return this.#allowances.size === 0;
  }

  /** Addresses that are remembered. */
  get size(): number {
    return this.#allowances.size;
  }

  of(face: SignInFace): SignIns {
    const guarded = new GuardedFace(face, this, this.ports.metrics.counter('millrace_sign_ins_failed_total', face));
    this.#faces.push(guarded);
    return guarded;
  }

  waitOf(address: string): number | undefined {
    const allowance = this.#allowances.get(networkOf(address));
    return allowance === undefined ? undefined : this.#waitFor(allowance);
  }

  /** @returns as `SignIns.failed` */
  count(address: string): number | undefined {
    this.#sweepLater();
    if (this.perMinute === 0) return undefined;
    const network = networkOf(address);
    const known = this.#allowances.get(network);
    const allowance = known ?? { left: this.perMinute, filledAtMs: this.ports.clock.monotonicMs() };
    const wait = this.#waitFor(allowance);
    if (wait === undefined) allowance.left -= 1;
    if (known !== undefined) this.#allowances.delete(network);
    else if (this.#allowances.size >= MAX_ADDRESSES) {
      this.#allowances.delete(this.#allowances.keys().next().value as string);
    }
    this.#allowances.set(network, allowance);
    return wait;
  }

  #waitFor(allowance: Allowance): number | undefined {
    const { perMinute } = this;
    const nowMs = this.ports.clock.monotonicMs();
    const filled = allowance.left + ((nowMs - allowance.filledAtMs) * perMinute) / MINUTE_MS;
    allowance.left = Math.min(perMinute, filled);
    allowance.filledAtMs = nowMs;
    return allowance.left >= 1 ? undefined : Math.ceil((((1 - allowance.left) / perMinute) * MINUTE_MS) / 1000);
  }

  /** Each minute in which somebody failed is told, and forgets whom there is nothing to say about any more. */
  #sweepLater(): void {
    if (this.#isSweeping) return;
    this.#isSweeping = true;
    this.ports.timers.after(MINUTE_MS, () => {
      this.#isSweeping = false;
      for (const face of this.#faces) face.tell(this.ports.log);
      for (const [network, allowance] of this.#allowances) {
        this.#waitFor(allowance);
        if (allowance.left >= this.perMinute) this.#allowances.delete(network);
      }
      if (this.#allowances.size > 0) this.#sweepLater();
    });
  }
}

/** What failed at one face since it was last told. */
class GuardedFace implements SignIns {
  #failures = 0;
  #refused = 0;
  readonly #byAddress = new Map<string, number>();
  readonly #byName = new Map<string, number>();

  constructor(
    private readonly face: SignInFace,
    private readonly guard: SignInGuard,
    private readonly counter: Counter,
  ) {}

  get isQuiet(): boolean {
    return this.guard.isQuiet;
  }

  waitOf(address: string, secret: string, name?: string): number | undefined {
    if (this.guard.isQuiet || secret.length >= UNGUESSABLE_CHARACTERS) return undefined;
    return this.guard.waitOf(address) === undefined ? undefined : this.failed(address, name);
  }

  failed(address: string, name?: string): number | undefined {
    this.counter.add();
    this.#failures += 1;
    addOne(this.#byAddress, plain(address), MAX_NAMES);
    if (name !== undefined) addOne(this.#byName, name.slice(0, MAX_NAME_CHARACTERS), MAX_NAMES);
    const wait = this.guard.count(address);
    if (wait !== undefined) this.#refused += 1;
    return wait;
  }

  tell(log: Log): void {
    if (this.#failures === 0) return;
    log.warn('sign-in.failed', {
      face: this.face,
      failures: this.#failures,
      refused: this.#refused,
      addresses: most(this.#byAddress),
      ...(this.#byName.size === 0 ? {} : { names: most(this.#byName) }),
    });
    this.#failures = 0;
    this.#refused = 0;
    this.#byAddress.clear();
    this.#byName.clear();
  }
}

/** Beyond `max` only those that are there already are counted. */
function addOne(counts: Map<string, number>, key: string, max: number): void {
  const count = counts.get(key);
  if (count !== undefined || counts.size < max) counts.set(key, (count ?? 0) + 1);
}

/** The largest first. */
function most(counts: ReadonlyMap<string, number>): Record<string, number> {
  return Object.fromEntries([...counts].sort(([, one], [, other]) => other - one).slice(0, MOST));
}

/** The first 64 bits of an IPv6 address: whoever has one such address has all that begin with them. */
function networkOf(given: string): string {
  const address = plain(given);
  if (!isIPv6(address)) return address;
  const [front = '', back] = address.split('::');
  const groups = front === '' ? [] : front.split(':');
  if (back !== undefined) {
    const after = back === '' ? [] : back.split(':');
    while (groups.length + after.length < 8) groups.push('0');
    groups.push(...after);
  }
  return `${groups.slice(0, 4).join(':')}::/64`;
}
