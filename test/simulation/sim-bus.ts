/**
 * The bus between simulated processes. It keeps the order of messages except for delayed ones, loses some, and can be
 * cut between two processes that both still reach the server.
 */
import { MillraceError } from '../../src/kernel/index.js';
import type { Bus, ServedTopic, Subscription, Topic } from '../../src/ports/index.js';
import { nameOf } from '../support/memory/memory-bus.js';
import type { Faults } from './faults.js';
import type { Scheduler } from './scheduler.js';
import type { SeededRandom } from './seeded-random.js';
import type { SimLink } from './sim-link.js';

type Handler = (payload: Uint8Array) => Promise<Uint8Array>;

interface Party<T> {
  readonly bus: SimBus;
  readonly topic: string;
  readonly action: T;
}

const LATENCY_MS = { low: 0.05, high: 0.8 };
const SLOW_MS = { low: 20, high: 4000 };

export class SimNetwork {
  readonly subscribers = new Set<Party<(payload: Uint8Array) => void>>();
  readonly services = new Set<Party<Handler>>();
  private readonly partedUntilMs = new Map<string, number>();
  private readonly lastArrivalMs = new Map<string, number>();

  constructor(
    readonly scheduler: Scheduler,
    readonly random: SeededRandom,
    readonly faults: () => Faults,
  ) {}

  connect(link: SimLink): SimBus {
    return new SimBus(this, link);
  }

  /** Drops all messages between two processes, in both directions. */
  part(a: string, b: string, forMs: number): void {
    this.scheduler.trace.note('network', `${a} and ${b} are parted for ${Math.round(forMs)} ms`);
    this.partedUntilMs.set(pair(a, b), this.scheduler.nowMs + forMs);
  }

  /** Runs `action` at the receiver after a delay, unless the message is lost. */
  pass(from: SimBus, to: SimBus, label: string, action: () => void): void {
    const isParted = (this.partedUntilMs.get(pair(from.name, to.name)) ?? 0) > this.scheduler.nowMs;
    if (isParted || !from.link.isWhole || !to.link.isWhole || this.random.chance(this.faults().busLost)) return;
    const isSlow = this.random.chance(this.faults().busSlow);
    const arrivalMs = isSlow
      ? this.scheduler.nowMs + this.random.between(SLOW_MS.low, SLOW_MS.high)
      : this.inOrder(`${from.name}>${to.name}`, this.random.between(LATENCY_MS.low, LATENCY_MS.high));
    this.scheduler.at(arrivalMs, to.link.process, 'message', label, () => {
      if (to.isConnected()) action();
    });
  }

  private inOrder(way: string, latencyMs: number): number {
    const earliestMs = this.scheduler.nowMs + latencyMs;
    const arrivalMs = Math.max(earliestMs, (this.lastArrivalMs.get(way) ?? 0) + APART_MS);
    this.lastArrivalMs.set(way, arrivalMs);
    return arrivalMs;
  }
}

/** The minimum distance of two messages between the same processes, which keeps their order. */
const APART_MS = 0.0001;

export class SimBus implements Bus {
  constructor(
    private readonly network: SimNetwork,
    readonly link: SimLink,
  ) {}

  get name(): string {
    return this.link.process.name;
  }

  isConnected(): boolean {
    return this.link.isConnected();
  }

  publish(topic: Topic, payload: Uint8Array): void {
    if (!this.isConnected()) return;
    const name = nameOf(topic);
    const copy = new Uint8Array(payload);
    for (const party of this.network.subscribers) {
      if (party.topic !== name || party.bus.link.process.isCrashed) continue;
      this.network.pass(this, party.bus, name, () => this.network.subscribers.has(party) && party.action(copy));
    }
  }

  subscribe(topic: Topic, onMessage: (payload: Uint8Array) => void): Subscription {
    return join(this.network.subscribers, { bus: this, topic: nameOf(topic), action: onMessage });
  }

  serve(topic: Topic, onRequest: Handler): ServedTopic {
    return { ...join(this.network.services, { bus: this, topic: nameOf(topic), action: onRequest }), yield: () => {} };
  }

  request(topic: Topic, payload: Uint8Array, timeoutMs: number): Promise<Uint8Array> {
    const name = nameOf(topic);
    const copy = new Uint8Array(payload);
    const { scheduler, services } = this.network;
    return new Promise((resolve, reject) => {
      const timer = scheduler.at(scheduler.nowMs + timeoutMs, this.link.process, 'timer', `${name} timed out`, () =>
        reject(new MillraceError('TIMED_OUT', `no answer from ${name}`, { topic: name, timeoutMs })),
      );
      const settle = (action: () => void) => {
        timer.cancel();
        action();
      };
      if (!this.isConnected()) return;
      const known = [...services].filter(
        ({ bus, topic }) => topic === name && !bus.link.process.isCrashed && bus.isConnected(),
      );
      if (known.length === 0) {
        this.network.pass(this, this, `nobody serves ${name}`, () =>
          settle(() =>
            reject(new MillraceError('SHARD_UNAVAILABLE', `nobody serves ${name}`, { topic: name, isUnserved: true })),
          ),
        );
      }
      for (const party of known) {
        this.network.pass(this, party.bus, `request ${name}`, () => {
          if (!services.has(party)) return;
          party.action(copy).then(
            (reply) => {
              const answer = new Uint8Array(reply);
              this.network.pass(party.bus, this, `reply ${name}`, () => settle(() => resolve(answer)));
            },
            (error: unknown) =>
              this.network.pass(party.bus, this, `failure ${name}`, () => settle(() => reject(travelled(error)))),
          );
        });
      }
    });
  }
}

function join<T>(set: Set<T>, party: T): Subscription {
  set.add(party);
  return { stop: () => void set.delete(party) };
}

function travelled(error: unknown): MillraceError {
  if (error instanceof MillraceError) return new MillraceError(error.code, error.message, { ...error.details });
  return new MillraceError('DEFECT', error instanceof Error ? error.message : String(error));
}

function pair(a: string, b: string): string {
  return a < b ? `${a} ${b}` : `${b} ${a}`;
}
