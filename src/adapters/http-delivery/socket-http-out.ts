/**
 * Calls to destinations over HTTP/1.1, on sockets (ports/http-out: HO1–HO5, the promises of calls to destinations),
 * without redirects, decoding and proxies of the environment.
 *
 * One time limit holds for a whole call: waiting for a connection, lookup, connecting, request, headers and body.
 * Lookup and connecting have separate limits within it. There is no limit between two bytes: a slow destination is
 * ended by the limit of the whole call.
 */

import type { Config } from '../../config/index.js';
import { Gathering } from '../../kernel/index.js';
import type { CallOutcome, HttpOut, Metrics, OutgoingCall } from '../../ports/index.js';
import { type AddressRuleOptions, AddressRules } from './address-rules.js';
import { AnswerMemory } from './answer-memory.js';
import { readTarget, type TargetOutcome } from './call-target.js';
import { Connector } from './connector.js';
import { DeliveryCall } from './delivery-call.js';
import { NameLookup } from './name-lookup.js';
import { Origins } from './origins.js';
import { requestHead } from './request-head.js';
import { type ResolveName, resolverOfThisMachine } from './resolve-name.js';

/**
 * Calls in progress. A thousand of them share their owner's signal, which gets one listener instead of one for each
 * call.
 */
class RunningCalls {
  readonly #calls = new Gathering<DeliveryCall>();
  readonly #heard = new WeakSet<AbortSignal>();
  /** Usually also the signal of the next call. */
  #lastHeard: AbortSignal | undefined;

  add(call: DeliveryCall): void {
    if (call.signal !== this.#lastHeard) this.#hear(call.signal);
    this.#calls.add(call);
  }

  delete(call: DeliveryCall): void {
    this.#calls.delete(call);
  }

  interruptAll(): void {
    for (const call of this.#calls.all()) call.interrupt();
  }

  #hear(signal: AbortSignal): void {
    this.#lastHeard = signal;
    if (this.#heard.has(signal)) return;
    this.#heard.add(signal);
    const interruptOwn = () => {
      for (const call of this.#calls.all()) if (call.signal === signal) call.interrupt();
    };
    signal.addEventListener('abort', interruptOwn, { once: true });
  }
}

export interface HttpOutOptions extends AddressRuleOptions {
  /** Connections to one origin. Default 100: a receiver that takes a second answers 100 a second. */
  readonly socketsPerOrigin?: number;
  /** TCP and TLS together. Default 5 s: lost packets are sent three times in that time. */
  readonly connectTimeoutMs?: number;
  /** The limit of a name lookup. Default 5 s: a silent server is asked three times in that time. */
  readonly lookupTimeoutMs?: number;
  /** Names looked up in parallel. Default 1000: as many as there are calls. */
  readonly maxLookups?: number;
  /** The bytes of an answer that are not body: status lines, headers, framing, trailers. Default 1 MiB. */
  readonly maxOverheadBytes?: number;
  /** The memory of all long answers while they are read. Default 128 MiB. */
  readonly maxAnswerBytes?: number;
  /** Origins with kept connections. Default 1000. */
  readonly maxOrigins?: number;
  /** An origin without calls is closed after this time. Default a minute. */
  readonly idleOriginMs?: number;
  /** Default: hosts file and name servers of this machine. */
  readonly resolve?: ResolveName;
  readonly metrics?: Metrics;
  /** PEM certificates to trust instead of the system's. */
  readonly ca?: string;
}

export interface HttpOutFigures {
  readonly origins: number;
  readonly sockets: number;
  readonly waiting: number;
}

const DEFAULTS = {
  socketsPerOrigin: 100,
  connectTimeoutMs: 5000,
  lookupTimeoutMs: 5000,
  maxLookups: 1000,
  maxOverheadBytes: 1024 * 1024,
  maxAnswerBytes: 128 * 1024 * 1024,
  maxOrigins: 1000,
  idleOriginMs: 60_000,
};
/** All header lines of a response. */
const MAX_RESPONSE_HEADER_BYTES = 32 * 1024;
/** URLs read before; longer ones are read each time, to bound the memory. */
const MAX_KNOWN_URLS = 2000;
const MAX_KNOWN_URL_CHARACTERS = 512;
/** Node fires longer timers immediately. */
const MAX_TIMER_MS = 2 ** 31 - 1;
export class SocketHttpOut implements HttpOut {
  readonly #rules: AddressRules;
  readonly #origins: Origins;
  readonly #running = new RunningCalls();
  readonly #knownUrls = new Map<string, TargetOutcome>();
  readonly #maxOverheadBytes: number;
  readonly #answers: AnswerMemory;
  #isClosed = false;

  constructor(options: HttpOutOptions) {
    const { connectTimeoutMs, socketsPerOrigin, maxOverheadBytes, maxAnswerBytes, maxOrigins, idleOriginMs, ...given } =
      {
        ...DEFAULTS,
        ...options,
      };
    this.#maxOverheadBytes = maxOverheadBytes;
    this.#answers = new AnswerMemory(maxAnswerBytes);
    this.#rules = new AddressRules(options);
    const { lookupTimeoutMs: timeoutMs, maxLookups, metrics, resolve = resolverOfThisMachine() } = given;
    const lookup = new NameLookup({ resolve, timeoutMs, maxLookups, metrics });
    this.#origins = new Origins({
      connector: new Connector({ rules: this.#rules, lookup, connectTimeoutMs, ca: options.ca }),
      maxSockets: socketsPerOrigin,
      maxHeaderBytes: MAX_RESPONSE_HEADER_BYTES,
      maxOrigins,
      idleMs: idleOriginMs,
    });
  }

  get figures(): HttpOutFigures {
    const figures = { origins: this.#origins.count, sockets: 0, waiting: 0 };
    for (const connections of this.#origins.connections()) {
      figures.sockets += connections.socketCount;
      figures.waiting += connections.waitingCount;
    }
    return figures;
  }

  /** The memory of long answers being read, and the number of waiting ones. */
  get answers(): Pick<AnswerMemory, 'usedBytes' | 'waitingCount'> {
    return this.#answers;
  }

  send(call: OutgoingCall): Promise<CallOutcome> {
    if (this.#isClosed || call.signal.aborted) return Promise.resolve({ kind: 'interrupted' });
    const read = this.#targetOf(call.url);
    if (!read.isOk) return Promise.resolve({ kind: 'no-response', error: read.reason, durationMs: 0 });
    const { origin, host, path } = read.target;
    const head = requestHead(call, host, path);
    if (head === undefined)
      return Promise.resolve({ kind: 'no-response', error: 'request cannot be sent', durationMs: 0 });
    return new Promise((resolve) => {
      const connections = this.#origins.use(origin);
      const delivery = new DeliveryCall({
        call: call.timeoutMs > MAX_TIMER_MS ? { ...call, timeoutMs: MAX_TIMER_MS } : call,
        connections,
        request: { head, body: call.body, hasBodylessAnswer: call.method === 'HEAD' },
        maxOverheadBytes: this.#maxOverheadBytes,
        answers: this.#answers,
        over: (ended, outcome) => {
          this.#running.delete(ended);
          this.#origins.noteEnd(connections);
          resolve(outcome);
        },
      });
      this.#running.add(delivery);
      delivery.start();
    });
  }

  refusalOf(url: string): string | undefined {
    const read = this.#targetOf(url);
    return read.isOk ? undefined : read.reason;
  }

  /** Calls in progress end as interrupted. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#running.interruptAll();
    this.#origins.close();
  }

  #targetOf(url: string): TargetOutcome {
    const known = this.#knownUrls.get(url);
    if (known !== undefined) return known;
    const read = readTarget(url, this.#rules);
    if (url.length <= MAX_KNOWN_URL_CHARACTERS) {
      if (this.#knownUrls.size >= MAX_KNOWN_URLS) {
        this.#knownUrls.delete(this.#knownUrls.keys().next().value as string);
      }
      this.#knownUrls.set(url, read);
    }
    return read;
  }
}

/** The port of calls to destinations, from the settings. */
export function httpOutOf({ destinations, delivery }: Config, metrics: Metrics): SocketHttpOut {
  const { deliveryNameServers: servers } = delivery;
  const out = new SocketHttpOut({
    allowPrivate: destinations.allowPrivateDestinations,
    allow: destinations.destinationAllow,
    socketsPerOrigin: delivery.deliveryPerOrigin,
    connectTimeoutMs: delivery.deliveryConnectTimeoutMs,
    lookupTimeoutMs: delivery.deliveryLookupTimeoutMs,
    maxLookups: delivery.deliveryLookups,
    resolve: resolverOfThisMachine({ servers: servers.length > 0 ? servers : undefined }),
    maxOverheadBytes: delivery.deliveryOverheadBytes,
    maxAnswerBytes: delivery.deliveryAnswerBytes,
    metrics,
  });
  metrics.gauge('millrace_delivery_answer_bytes', () => out.answers.usedBytes);
  return out;
}
