/**
 * Looks up names for all calls: shared, cached and bounded.
 *
 *  NL1 a name is looked up once for any number of simultaneous callers
 *  NL2 an answer is cached for the lifetime of its records, a denial for five seconds, a failure for one second
 *  NL3 no lookup waits for another; above `maxLookups` the longest unanswered one fails, so names with answers are not
 *      delayed by names without
 *  NL4 a lookup ends after `timeoutMs`, and immediately when its last caller leaves
 *
 * The caller judges the addresses each time and connects to exactly those, so a name that changes in between has no
 * effect.
 */
import type { LookupAddress } from 'node:dns';
import { type Metrics, UNWATCHED } from '../../ports/index.js';
import { CallFailure } from './failure-words.js';
import type { ResolveName } from './resolve-name.js';

export interface NameLookupOptions {
  readonly resolve: ResolveName;
  /** The duration of one whole lookup. */
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

interface Answer {
  readonly error: Error | undefined;
  readonly addresses: readonly LookupAddress[];
}

interface Known extends Answer {
  readonly expiresAtMs: number;
}

interface Finding extends Answer {
  /** The time for which the cache has it; 0: not at all. */
  readonly keptMs: number;
}

type Outcome = 'found' | 'none' | 'failed' | 'timed-out' | 'displaced' | 'dropped';

/** Bounds the cache; the oldest names are dropped. */
const MAX_KNOWN_NAMES = 10_000;
/** A failure is often over in a moment; RFC 9520 wants it remembered for a second at least. */
const FAILURE_MS = 1000;
/** A wrong record with a longer lifetime is corrected after this time. */
const MAX_TTL_MS = 24 * 3600_000;

/** Shared, because it is never shown, and an error with a stack for each lookup is expensive. */
const OVER = new Error('the lookup is over');

export class NameLookup {
  /** In the order of age. */
  readonly #known = new Map<string, Known>();
  /** In the order of age. */
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

  /** @param resolved  called once, later, unless the returned function is called before */
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
    const keptMs = Math.min(ttlMs, MAX_TTL_MS);
    if (addresses.length > 0) this.#conclude(name, running, 'found', { error: undefined, addresses, keptMs });
    else this.#conclude(name, running, 'none', { error: new CallFailure('no such host'), addresses, keptMs });
  }

  #fail(name: string, running: Running, outcome: Outcome, error: Error): void {
    // A displaced lookup gives no information about its name.
    const keptMs = outcome === 'displaced' ? 0 : FAILURE_MS;
    this.#conclude(name, running, outcome, { error, addresses: [], keptMs });
  }

  #conclude(name: string, running: Running, outcome: Outcome, { error, addresses, keptMs }: Finding): void {
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
