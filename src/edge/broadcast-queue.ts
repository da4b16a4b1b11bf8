/**
 * Delivers messages to many sockets and listeners. A write takes tens of microseconds, and a message may have
 * thousands of listeners.
 *
 *  BQ1 delivery takes a millisecond at a time; then the event loop serves other requests
 *  BQ2 tenants take turns; messages of one tenant are delivered in order
 *  BQ3 a publishing client waits while more than `MAX_UNTOLD_BYTES` of its tenant are undelivered, at most
 *      `MAX_WAIT_MS`; the event loop is not slowed. Messages from other processes do not wait
 */
import type { BroadcastItem, Broadcasts, BroadcastTurn, Clock, Timers } from '../ports/index.js';

const SLICE_MS = 1;
/** Sixty writes of 64 KiB, or a thousand small ones: about five to ten milliseconds. */
const MAX_UNTOLD_BYTES = 4 * 1024 * 1024;
/** The cost of a write, expressed in bytes. */
const WRITE_BYTES = 4 * 1024;
/** As long as any request may wait. */
const MAX_WAIT_MS = 5_000;

interface Waiting {
  readonly untilMs: number;
  readonly goOn: () => void;
}

class Turn implements BroadcastTurn {
  constructor(
    private readonly lane: Lane,
    readonly item: BroadcastItem,
    /** Undelivered bytes, with the cost of writes. */
    public bytes: number,
  ) {
    lane.bytes += bytes;
  }

  more(bytes: number): void {
    this.bytes += bytes;
    this.lane.bytes += bytes;
  }
}

interface Lane {
  readonly tenant: string;
  /** In order, from `head`. */
  turns: Turn[];
  head: number;
  bytes: number;
  waiting: Waiting[];
}

export class BroadcastQueue implements Broadcasts {
  /** In the order of their turns; none is empty. */
  readonly #lanes = new Map<string, Lane>();
  #isDue = false;
  /** Start of this round's millisecond of immediate delivery. */
  #nowSinceMs: number | undefined;
  readonly #mayGoOnNow = () => {
    const nowMs = this.clock.monotonicMs();
    this.#nowSinceMs ??= nowMs;
    this.#later();
    return nowMs - this.#nowSinceMs < SLICE_MS;
  };

  constructor(
    private readonly clock: Clock,
    private readonly timers: Pick<Timers, 'soon'>,
  ) {}

  add(tenant: string, item: BroadcastItem, bytes: number): BroadcastTurn {
    let lane = this.#lanes.get(tenant);
    if (lane === undefined) {
      lane = { tenant, turns: [], head: 0, bytes: 0, waiting: [] };
      this.#lanes.set(tenant, lane);
    }
    const turn = new Turn(lane, item, bytes + WRITE_BYTES);
    lane.turns.push(turn);
    this.#later();
    return turn;
  }

  handOnNow(tenant: string, item: BroadcastItem): void {
    const left = item.handOn(this.#mayGoOnNow);
    if (left > 0) this.add(tenant, item, left);
  }

  whenCaughtUp(tenant: string): Promise<void> | undefined {
    const lane = this.#lanes.get(tenant);
    if (lane === undefined || lane.bytes <= MAX_UNTOLD_BYTES) return undefined;
    const untilMs = this.clock.monotonicMs() + MAX_WAIT_MS;
    return new Promise((goOn) => lane.waiting.push({ untilMs, goOn }));
  }

  #later(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    this.timers.soon(() => {
      this.#isDue = false;
      this.#nowSinceMs = undefined;
      this.#slice();
      if (this.#lanes.size > 0) this.#later();
    });
  }

  /** Delivers for a millisecond, then lets other requests run (BQ1). */
  #slice(): void {
    const startedAtMs = this.clock.monotonicMs();
    const mayGoOn = () => this.clock.monotonicMs() - startedAtMs < SLICE_MS;
    do {
      const lane = this.#lanes.values().next().value;
      if (lane === undefined) break;
      if (this.#lanes.size > 1) this.#toTheEnd(lane); // BQ2 (tenants take turns)
      this.#handOnFirst(lane, mayGoOn);
      if (lane.head === lane.turns.length) this.#lanes.delete(lane.tenant);
      if (lane.waiting.length > 0) this.#letGoOn(lane, startedAtMs);
    } while (mayGoOn());
  }

  #toTheEnd(lane: Lane): void {
    this.#lanes.delete(lane.tenant);
    this.#lanes.set(lane.tenant, lane);
  }

  #handOnFirst(lane: Lane, mayGoOn: () => boolean): void {
    const turn = lane.turns[lane.head] as Turn;
    const left = turn.item.handOn(mayGoOn);
    // Messages that arrived during the delivery are part of `left`.
    turn.more(left - turn.bytes);
    if (left > 0) return;
    lane.head += 1;
    if (lane.head * 2 < lane.turns.length) return;
    lane.turns = lane.turns.slice(lane.head);
    lane.head = 0;
  }

  /** Lets clients continue that waited for undelivered bytes of their tenant (BQ3). */
  #letGoOn(lane: Lane, nowMs: number): void {
    const isBehind = lane.bytes > MAX_UNTOLD_BYTES;
    const { waiting } = lane;
    lane.waiting = [];
    for (const one of waiting) {
      if (isBehind && nowMs < one.untilMs) lane.waiting.push(one);
      else one.goOn();
    }
  }
}
