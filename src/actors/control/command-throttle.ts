/**
 * Limits the commands per second of a database: a request that comes too soon waits for its turn and then runs, without
 * an error. It acts before the daily limit, for all endpoints of a process together. Each process allows the full rate,
 * so a cluster allows at most that rate times the number of processes with clients.
 *
 *  CT1 in any period no more commands pass than the rate allows for it, a burst of `BURST_MS`, and the request that
 *      crosses the limit: that one runs whole, and later ones wait longer
 *  CT2 requests of a database pass in the order of their arrival
 *  CT3 waiting requests are bounded in time, number and bytes; one above a bound is refused immediately and not
 *      executed
 *  CT4 a changed rate takes effect for waiting requests within `LOOK_AGAIN_MS`
 *  CT5 a request that waited passes only if its grant is unchanged: a wait must not delay a revocation, a suspension
 *      or a list of addresses by more than a second
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
  /** This process's copy; its version changes with each change of grants and limits. */
  readonly view: {
    readonly state: ControlState;
    readonly version: number;
    /** As in RespAccess. */
    renewed(grant: KvGrant): KvGrant | undefined;
  };
  /** The daily limit, from which commands are taken when their turn comes. */
  readonly daily: Quota;
  /** Called repeatedly, with each group of commands, while a database has used up the month's bandwidth. */
  onBandwidthUsedUp?(database: DatabaseId): void;
}

/** The burst allowed after a pause: one or two pipelines of a client, not the commands of a second. */
const BURST_MS = 100;
/**
 * The bound of waiting (CT3). Client packages time out after 5 to 10 s, so a longer wait would run commands without a
 * receiver.
 */
export const MAX_WAIT_MS = 5_000;
export const MAX_WAITING_REQUESTS = 1_000;
/** The bound of waiting bytes, over all databases of the process. */
export const MAX_THROTTLED_BYTES = 64 * 1024 * 1024;
/** The meter's records change the month's use once a second. */
const USE_IS_FRESH_MS = 1_000;
/** How soon a changed rate takes effect for waiting requests (CT4). */
const LOOK_AGAIN_MS = 250;
/** Databases remembered, as many as a process serves; above this number idle ones are dropped. */
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
  /** The version of the copy from which the rate was read. */
  version: number;
  readAtMs: number;
  commandsPerSecond: number;
  isOfUse: boolean;
  isClosed: boolean;
  /** The time at which all passed commands would have been done at the rate. */
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

  /** The number of requests that wait for their turn. */
  get waiting(): number {
    let waiting = 0;
    for (const flow of this.#flows.values()) waiting += flow.waiting.length;
    return waiting;
  }

  /** Rejects all waiting requests. */
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
    // The debt came from another rate; a client that was fast before does not wait for it now.
    flow.paidUpToMs = Math.min(flow.paidUpToMs, nowMs);
  }

  /**
   * Checks that the grant still holds (CT5). @throws RATE_LIMITED, after which the client's next request is told the
   * reason; CONTROL_STALE
   */
  #requireUnchanged(grant: KvGrant): void {
    const renewed = this.ports.view.renewed(grant);
    if (renewed === grant || (renewed !== undefined && opensTheSame(renewed, grant))) return;
    throw new MillraceError('RATE_LIMITED', 'the rights of the client changed while the request waited', {
      database: grant.database,
    });
  }

  #wait(flow: Flow, commands: number, bytes: number, nowMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const refuse = () =>
        reject(
          new MillraceError('RATE_LIMITED', 'too many requests of the database wait', { database: flow.database }),
        );
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

  /** A request that would exceed a bound is refused immediately (CT3). */
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

/** Milliseconds until the next request may pass. */
function dueInMs({ commandsPerSecond, paidUpToMs }: Flow, nowMs: number): number {
  return commandsPerSecond === 0 ? 0 : Math.max(0, paidUpToMs - BURST_MS - nowMs);
}

function isDue(flow: Flow, nowMs: number): boolean {
  return dueInMs(flow, nowMs) === 0;
}

/** Adds the commands to the debt (CT1). */
function pay(flow: Flow, commands: number, nowMs: number): void {
  if (flow.commandsPerSecond === 0) return;
  flow.paidUpToMs = Math.max(flow.paidUpToMs, nowMs) + (commands * 1000) / flow.commandsPerSecond;
}
