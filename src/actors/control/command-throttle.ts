/**
 * Holds a database to its commands a second: what comes too soon waits for its turn and is then let through, with no
 * error. Stands in front of the daily limit, for all faces of a process together; each process lets the full rate
 * through, so a cluster lets through at most that many times the number of processes that clients are connected to.
 *
 *  CT1 over any stretch of time no more is let through than the rate allows for it, a burst of `BURST_MS`, and the
 *      request that crosses the line: it runs whole, and those behind it wait the longer
 *  CT2 requests of a database are let through in the order they came
 *  CT3 what waits is bounded in time, number and bytes; one beyond it is refused at once, and nothing of it is executed
 *  CT4 a changed rate acts on those who wait already, within `LOOK_AGAIN_MS`
 *  CT5 who waited is let through only if nothing was taken away meanwhile of what lets it in: a wait must not keep a
 *      revocation, a suspension or a list of addresses from acting within a second
 */
import type { ControlState } from '../../domain/control/index.js';
import type { Prices } from '../../domain/statistics/index.js';
import { type DatabaseId, MillraceError } from '../../kernel/index.js';
import type { Clock, KvGrant, Log, Quota, Timer, Timers } from '../../ports/index.js';
import { monthUseOf, paceOf } from './database-pace.js';
import { opensTheSame } from './grants.js';

export interface CommandThrottlePorts {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
  /** This process's copy; another version after every change of who may do what, limits included. */
  readonly view: {
    readonly state: ControlState;
    readonly version: number;
    /** It is what RespAccess has. */
    renewed(grant: KvGrant): KvGrant | undefined;
  };
  /** What commands are taken from once it is their turn. */
  readonly daily: Quota;
  /** Told, again and again while it is asked for commands, that a database has used up the month's bandwidth. */
  onBandwidthUsedUp?(database: DatabaseId): void;
}

/** What may come at once after a pause: a pipeline or two of a client, not a second's worth. */
const BURST_MS = 100;
/** CT3. Client packages give up after some 5 to 10 s; what waits longer would run for nobody. */
export const MAX_WAIT_MS = 5_000;
export const MAX_WAITING_REQUESTS = 1_000;
/** So many bytes of requests may wait, of all databases of the process together. */
export const MAX_THROTTLED_BYTES = 64 * 1024 * 1024;
/** What is used changes with the meter's records, once a second. */
const USE_IS_FRESH_MS = 1_000;
/** CT4. */
const LOOK_AGAIN_MS = 250;
/** Databases remembered: as many as a process serves; beyond it those at rest are forgotten. */
const MAX_FLOWS = 10_000;

interface Waiting {
  readonly commands: number;
  readonly bytes: number;
  readonly untilMs: number;
  go(): void;
  refuse(): void;
}

interface Flow {
  readonly database: DatabaseId;
  /** The version of the view that the pace was read from. */
  version: number;
  readAtMs: number;
  commandsPerSecond: number;
  isOfUse: boolean;
  isClosed: boolean;
  /** When everything that was let through would have been, at the rate. */
  paidUpToMs: number;
  readonly waiting: Waiting[];
  waitingCommands: number;
  timer: Timer | undefined;
}

export class CommandThrottle implements Quota {
  readonly #flows = new Map<DatabaseId, Flow>();
  #waitingBytes = 0;
  #isStopped = false;

  constructor(
    private readonly ports: CommandThrottlePorts,
    private readonly prices: Prices,
  ) {}

  take(grant: KvGrant, commands: number, bytes = 0): boolean | Promise<boolean> {
    const flow = this.#flowOf(grant.database);
    if (flow.commandsPerSecond === 0 && !flow.isOfUse && flow.waiting.length === 0) {
      return this.ports.daily.take(grant, commands, bytes);
    }
    const nowMs = this.ports.clock.monotonicMs();
    this.#read(flow, nowMs);
    if (flow.waiting.length === 0 && isDue(flow, nowMs)) {
      pay(flow, commands, nowMs);
      return this.ports.daily.take(grant, commands, bytes);
    }
    return this.#wait(flow, commands, bytes, nowMs).then(() => {
      this.#requireUnchanged(grant);
      return this.ports.daily.take(grant, commands, bytes);
    });
  }

  /** Requests that wait for their turn. */
  get waiting(): number {
    let waiting = 0;
    for (const flow of this.#flows.values()) waiting += flow.waiting.length;
    return waiting;
  }

  /** Nobody waits any longer. */
  stop(): void {
    this.#isStopped = true;
    for (const flow of this.#flows.values()) {
      flow.timer?.cancel();
      this.#refuseAll(flow);
    }
  }

  #flowOf(database: DatabaseId): Flow {
    const known = this.#flows.get(database);
    if (known !== undefined && known.version === this.ports.view.version) return known;
    const flow = known ?? this.#newFlow(database);
    this.#read(flow, this.ports.clock.monotonicMs());
    return flow;
  }

  #newFlow(database: DatabaseId): Flow {
    if (this.#flows.size >= MAX_FLOWS) this.#forgetAtRest();
    const flow: Flow = {
      database,
      version: -1,
      readAtMs: 0,
      commandsPerSecond: 0,
      isOfUse: false,
      isClosed: false,
      paidUpToMs: 0,
      waiting: [],
      waitingCommands: 0,
      timer: undefined,
    };
    this.#flows.set(database, flow);
    return flow;
  }

  #forgetAtRest(): void {
    const nowMs = this.ports.clock.monotonicMs();
    for (const [database, flow] of this.#flows) {
      if (flow.waiting.length === 0 && flow.paidUpToMs <= nowMs) this.#flows.delete(database);
    }
  }

  #read(flow: Flow, nowMs: number): void {
    const { view, clock, log } = this.ports;
    const isFresh = !flow.isOfUse || nowMs - flow.readAtMs < USE_IS_FRESH_MS;
    if (flow.version === view.version && isFresh) return;
    flow.version = view.version;
    flow.readAtMs = nowMs;
    const database = view.state.live(flow.database);
    const pace = paceOf(database, () => monthUseOf(view.state, flow.database, clock.nowMs(), this.prices));
    flow.isClosed = database === undefined || database.settings?.isSuspended === true;
    flow.isOfUse = pace.isOfUse;
    if (pace.reason === 'bandwidth') this.ports.onBandwidthUsedUp?.(flow.database);
    if (pace.commandsPerSecond === flow.commandsPerSecond) return;
    if (pace.reason !== 'plan') log.info('database.slowed', { database: flow.database, reason: pace.reason });
    flow.commandsPerSecond = pace.commandsPerSecond;
    // What is owed was reckoned at another rate; who was fast before does not wait for that now.
    flow.paidUpToMs = Math.min(flow.paidUpToMs, nowMs);
  }

  /** CT5. @throws RATE_LIMITED, upon which its client asks again and hears the reason; CONTROL_STALE */
  #requireUnchanged(grant: KvGrant): void {
    const renewed = this.ports.view.renewed(grant);
    if (renewed === grant || (renewed !== undefined && opensTheSame(renewed, grant))) return;
    throw new MillraceError('RATE_LIMITED', 'what let it in has changed while it waited', { database: grant.database });
  }

  #wait(flow: Flow, commands: number, bytes: number, nowMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const refuse = () =>
        reject(new MillraceError('RATE_LIMITED', 'too much waits for its turn', { database: flow.database }));
      if (this.#isStopped || !this.#mayWait(flow, bytes, nowMs)) {
        refuse();
        return;
      }
      this.#waitingBytes += bytes;
      flow.waitingCommands += commands;
      flow.waiting.push({ commands, bytes, untilMs: nowMs + MAX_WAIT_MS, go: resolve, refuse });
      if (flow.timer === undefined) this.#lookLater(flow, nowMs);
    });
  }

  /** CT3. Who would surely wait in vain is told so at once. */
  #mayWait(flow: Flow, bytes: number, nowMs: number): boolean {
    if (flow.waiting.length >= MAX_WAITING_REQUESTS || this.#waitingBytes + bytes > MAX_THROTTLED_BYTES) return false;
    const aheadMs = (flow.waitingCommands * 1000) / flow.commandsPerSecond;
    return dueInMs(flow, nowMs) + aheadMs <= MAX_WAIT_MS;
  }

  #lookLater(flow: Flow, nowMs: number): void {
    const inMs = Math.min(Math.max(1, Math.ceil(dueInMs(flow, nowMs))), LOOK_AGAIN_MS);
    flow.timer = this.ports.timers.after(inMs, () => {
      flow.timer = undefined;
      const laterMs = this.ports.clock.monotonicMs();
      this.#read(flow, laterMs);
      this.#letThrough(flow, laterMs);
      if (flow.waiting.length > 0) this.#lookLater(flow, laterMs);
    });
  }

  #letThrough(flow: Flow, nowMs: number): void {
    if (flow.isClosed) this.#refuseAll(flow);
    while (flow.waiting.length > 0) {
      const [first] = flow.waiting as [Waiting];
      const isDueNow = isDue(flow, nowMs);
      if (!isDueNow && first.untilMs > nowMs) return;
      this.#leave(flow);
      if (!isDueNow) {
        first.refuse();
        continue;
      }
      pay(flow, first.commands, nowMs);
      first.go();
    }
  }

  #refuseAll(flow: Flow): void {
    while (flow.waiting.length > 0) this.#leave(flow).refuse();
  }

  #leave(flow: Flow): Waiting {
    const first = flow.waiting.shift() as Waiting;
    this.#waitingBytes -= first.bytes;
    flow.waitingCommands -= first.commands;
    return first;
  }
}

/** Until the next request may be let through. */
function dueInMs({ commandsPerSecond, paidUpToMs }: Flow, nowMs: number): number {
  return commandsPerSecond === 0 ? 0 : Math.max(0, paidUpToMs - BURST_MS - nowMs);
}

function isDue(flow: Flow, nowMs: number): boolean {
  return dueInMs(flow, nowMs) === 0;
}

/** CT1. */
function pay(flow: Flow, commands: number, nowMs: number): void {
  if (flow.commandsPerSecond === 0) return;
  flow.paidUpToMs = Math.max(flow.paidUpToMs, nowMs) + (commands * 1000) / flow.commandsPerSecond;
}
