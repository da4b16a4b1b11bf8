/**
 * Names into addresses for everybody who calls: shared, remembered, and bounded.
 *
 * Invariants
 *  NL1 a name is looked up once however many ask meanwhile
 *  NL2 an answer serves for as long as it says, a denial too; a failure for a second
 *  NL3 no lookup waits for another. Beyond `maxLookups` the one that has been unanswered longest fails: a name that
 *      gets an answer is not held up by those that get none, however many they are
 *  NL4 a lookup ends after `timeoutMs`, and at once when nobody waits for it any more
 *
 * Whoever asks judges the addresses each time and connects to exactly those: a name that changes its mind between the
 * two has no effect.
 */
import type { LookupAddress } from 'node:dns';
import { type Metrics, UNWATCHED } from '../../ports/index.js';
import { CallFailure } from './failure-words.js';
import type { ResolveName } from './resolve-name.js';

export interface NameLookupOptions {
  readonly resolve: ResolveName;
  /** How long one lookup may take, whatever it needs. */
  readonly timeoutMs: number;
  /** At the same time. */
  readonly maxLookups: number;
  readonly metrics?: Metrics | undefined;
  /** Monotonic. */
  readonly nowMs?: () => number;
}

/** Exactly one of the two is given. */
export type Resolved = (error: Error | undefined, addresses: readonly LookupAddress[]) => void;

interface Running {
  readonly waiting: Set<Resolved>;
  readonly abort: AbortController;
  readonly timer: NodeJS.Timeout;
}

interface Known {
  readonly error: Error | undefined;
  readonly addresses: readonly LookupAddress[];
  readonly expiresAtMs: number;
}

type Outcome = 'found' | 'none' | 'failed' | 'timed-out' | 'displaced' | 'dropped';

/** Bounds what the memory of answers holds; the oldest are forgotten. */
const MAX_KNOWN_NAMES = 10_000;
/** A failure is often over in a moment; RFC 9520 wants it remembered for a second at least. */
const FAILURE_MS = 1000;
/** Whoever gives longer ones makes mistakes last. */
const MAX_TTL_MS = 24 * 3600_000;
const MAX_DENIAL_MS = 5 * 60_000;

/** Nobody hears it any more; one for each, with a stack, is dear where a thousand lookups end together. */
const OVER = new Error('the lookup is over');

export class NameLookup {
  /** They stand in the order of their age. */
  readonly #known = new Map<string, Known>();
  /** They stand in the order of their age. */
  readonly #running = new Map<string, Running>();
  readonly #metrics: Metrics;
  readonly #nowMs: () => number;

  constructor(readonly options: NameLookupOptions) {
    this.#metrics = options.metrics ?? UNWATCHED;
    this.#nowMs = options.nowMs ?? (() => performance.now());
    this.#metrics.gauge('millrace_name_lookups_in_flight', () => this.#running.size);
  }

  get inFlight(): number {
    return this.#running.size;
  }

  /** @param resolved called once, later, unless the function that is returned is called before */
  ask(name: string, resolved: Resolved): () => void {
    const known = this.#known.get(name);
    if (known !== undefined && known.expiresAtMs > this.#nowMs()) {
      this.#metrics.counter('millrace_name_cache_hits_total').add();
      return soon(() => resolved(known.error, known.addresses));
    }
    const running = this.#running.get(name) ?? this.#start(name);
    running.waiting.add(resolved);
    return () => {
      running.waiting.delete(resolved);
      if (running.waiting.size === 0 && this.#running.get(name) === running) this.#end(name, running, 'dropped');
    };
  }

  #start(name: string): Running {
    const { maxLookups, timeoutMs, resolve } = this.options;
    if (this.#running.size >= maxLookups) {
      const [longest, displaced] = this.#running.entries().next().value as [string, Running];
      this.#fail(longest, displaced, 'displaced', new CallFailure('too many name lookups'));
    }
    const abort = new AbortController();
    const timer = setTimeout(
      () => this.#fail(name, running, 'timed-out', new CallFailure('name lookup timed out')),
      timeoutMs,
    );
    const running: Running = { waiting: new Set(), abort, timer };
    this.#running.set(name, running);
    resolve(name, abort.signal).then(
      ({ addresses, ttlMs }) => this.#succeed(name, running, addresses, ttlMs),
      (error) => this.#fail(name, running, 'failed', error as Error),
    );
    return running;
  }

  #succeed(name: string, running: Running, addresses: readonly LookupAddress[], ttlMs: number): void {
    if (addresses.length === 0) {
      this.#conclude(name, running, 'none', new CallFailure('no such host'), [], Math.min(ttlMs, MAX_DENIAL_MS));
    } else {
      this.#conclude(name, running, 'found', undefined, addresses, Math.min(ttlMs, MAX_TTL_MS));
    }
  }

  #fail(name: string, running: Running, outcome: Outcome, error: Error): void {
    // One that had to make room says nothing of its name.
    this.#conclude(name, running, outcome, error, [], outcome === 'displaced' ? 0 : FAILURE_MS);
  }

  #conclude(
    name: string,
    running: Running,
    outcome: Outcome,
    error: Error | undefined,
    addresses: readonly LookupAddress[],
    keptMs: number,
  ): void {
    if (this.#running.get(name) !== running) return;
    this.#end(name, running, outcome);
    this.#known.delete(name);
    if (keptMs > 0) {
      this.#known.set(name, { error, addresses, expiresAtMs: this.#nowMs() + keptMs });
      if (this.#known.size > MAX_KNOWN_NAMES) this.#known.delete(this.#known.keys().next().value as string);
    }
    for (const resolved of running.waiting) resolved(error, addresses);
  }

  #end(name: string, { abort, timer }: Running, outcome: Outcome): void {
    this.#running.delete(name);
    clearTimeout(timer);
    abort.abort(OVER);
    this.#metrics.counter('millrace_name_lookups_total', outcome).add();
  }
}

function soon(call: () => void): () => void {
  let isWanted = true;
  queueMicrotask(() => {
    if (isWanted) call();
  });
  return () => {
    isWanted = false;
  };
}
