/**
 * Slows and reports password guessing: counts failed sign-ins of all endpoints of a process by address.
 *
 *  SIG1 an address with too many failures is refused for seconds; other addresses are not affected
 *  SIG2 a secret of at least `UNGUESSABLE_CHARACTERS` is always checked: behind an untrusted proxy all clients share
 *       one address, and an attacker must not lock them out
 *  SIG3 memory is bounded for addresses and logged names. No secret is stored or logged
 *  SIG4 valid sign-ins cost a check only if a failure occurred within the last minute
 */
import { isIPv6 } from 'node:net';
import type { Clock, Counter, Log, Metrics, Timers } from '../ports/index.js';
import { plain } from './http/client-address.js';
import type { RefusedSignIn } from './sessions/refused-sign-ins.js';

/** The endpoint's name in the counter's label and in the log. */
export type SignInEndpoint =
  | 'rest'
  | 'resp'
  | 'queue'
  | 'management'
  | 'admin'
  | 'search'
  | 'monitoring'
  | 'console'
  | 'mcp';

export interface SignInGuardPorts {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Has the refused sign-ins of people; undefined: they are counted alone. */
  readonly refused?: { add(refused: RefusedSignIn): void } | undefined;
}

/** Endpoints at which people sign in. Data tokens are refused at all others. */
const OF_PEOPLE: readonly SignInEndpoint[] = ['management', 'admin', 'console', 'mcp'];

const MINUTE_MS = 60_000;
/** 16 bytes in hexadecimal; all generated secrets are longer. Guessing cannot find one. */
export const UNGUESSABLE_CHARACTERS = 32;
/** About 2 MB. Failures from more addresses than that within a minute are no longer slowed. */
export const MAX_ADDRESSES = 10_000;
/** Names of one endpoint per minute, for the log. */
const MAX_NAMES = 1_000;
/** Characters of a name in the log. */
const MAX_NAME_CHARACTERS = 64;
/** Names in one log event. */
const MOST = 3;

interface Allowance {
  /** Failures left; below 1 the address is refused. */
  left: number;
  filledAtMs: number;
}

/** The guard as an endpoint sees it. */
export interface SignIns {
  /** No recent failures: `waitOf` need not be called. */
  readonly isQuiet: boolean;
  /** @returns seconds to wait, and counts the refused try; undefined: the secret may be checked */
  waitOf(address: string, secret: string, name?: string): number | undefined;
  /** Counts a failure. @returns seconds if the address now has too many, else undefined */
  failed(address: string, name?: string, about?: RefusalNote): number | undefined;
}

/** The text of the audit log's line, where the endpoint knows more than that the credentials are wrong. */
export type RefusalNote = Pick<RefusedSignIn, 'source' | 'reason'>;

/** For endpoints without protection against guessing. */
export const UNGUARDED: SignIns = { isQuiet: true, waitOf: () => undefined, failed: () => undefined };

export class SignInGuard {
  /** In order of the last failure. */
  readonly #allowances = new Map<string, Allowance>();
  readonly #endpoints: GuardedEndpoint[] = [];
  #isSweeping = false;

  /** @param perMinute failures per address; as many may come in a burst. 0: never refused */
  constructor(
    private readonly ports: SignInGuardPorts,
    private readonly perMinute: number,
  ) {}

  get isQuiet(): boolean {
    return this.#allowances.size === 0;
  }

  /** Remembered addresses. */
  get size(): number {
    return this.#allowances.size;
  }

  of(endpoint: SignInEndpoint): SignIns {
    const guarded = new GuardedEndpoint(
      endpoint,
      this,
      this.ports.metrics.counter('millrace_sign_ins_failed_total', endpoint),
    );
    this.#endpoints.push(guarded);
    return guarded;
  }

  waitOf(address: string): number | undefined {
    const allowance = this.#allowances.get(networkOf(address));
    return allowance === undefined ? undefined : this.#waitFor(allowance);
  }

  /** A line for the audit log, if people sign in at the endpoint. */
  note(endpoint: SignInEndpoint, address: string, name: string | undefined, about: RefusalNote | undefined): void {
    if (!OF_PEOPLE.includes(endpoint)) return;
    const reason = name === undefined ? 'the session or token is not valid' : 'no such e-mail and key';
    this.ports.refused?.add({ source: `ENDPOINT - ${endpoint}`, reason, ...about, address: plain(address), name });
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

  /** Logs each minute with failures, and forgets addresses without a reduced allowance. */
  #sweepLater(): void {
    if (this.#isSweeping) return;
    this.#isSweeping = true;
    this.ports.timers.after(MINUTE_MS, () => {
      this.#isSweeping = false;
      for (const endpoint of this.#endpoints) endpoint.tell(this.ports.log);
      for (const [network, allowance] of this.#allowances) {
        this.#waitFor(allowance);
        if (allowance.left >= this.perMinute) this.#allowances.delete(network);
      }
      if (this.#allowances.size > 0) this.#sweepLater();
    });
  }
}

/** Failures of one endpoint since the last log event. */
class GuardedEndpoint implements SignIns {
  #failures = 0;
  #refused = 0;
  readonly #byAddress = new Map<string, number>();
  readonly #byName = new Map<string, number>();

  constructor(
    private readonly endpoint: SignInEndpoint,
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

  failed(address: string, name?: string, about?: RefusalNote): number | undefined {
    this.counter.add();
    this.#failures += 1;
    addOne(this.#byAddress, plain(address), MAX_NAMES);
    if (name !== undefined) addOne(this.#byName, name.slice(0, MAX_NAME_CHARACTERS), MAX_NAMES);
    this.guard.note(this.endpoint, address, name, about);
    const wait = this.guard.count(address);
    if (wait !== undefined) this.#refused += 1;
    return wait;
  }

  tell(log: Log): void {
    if (this.#failures === 0) return;
    log.warn('sign-in.failed', {
      face: this.endpoint,
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

/** Above `max` only existing keys are counted. */
function addOne(counts: Map<string, number>, key: string, max: number): void {
  const count = counts.get(key);
  if (count !== undefined || counts.size < max) counts.set(key, (count ?? 0) + 1);
}

/** The largest counts first. */
function most(counts: ReadonlyMap<string, number>): Record<string, number> {
  return Object.fromEntries([...counts].sort(([, one], [, other]) => other - one).slice(0, MOST));
}

/** The first 64 bits of an IPv6 address: one client usually has a whole /64 network. */
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
