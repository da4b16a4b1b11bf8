/** A simulated server, network and processes with ports, without the engine. Every run uses it. */
import type { Bus, Journal, LeaseStore, LogFields, ObjectStore } from '../../src/ports/index.js';
import { type Faults, NO_FAULTS } from './faults.js';
import { Scheduler } from './scheduler.js';
import { SeededRandom } from './seeded-random.js';
import { SimNetwork } from './sim-bus.js';
import { SimJournal, type SimJournalTimes } from './sim-journal.js';
import { SimLink } from './sim-link.js';
import { SimProcess } from './sim-process.js';
import { SimServer } from './sim-server.js';
import { SimLeaseStore, SimObjectStore } from './sim-stores.js';

export interface SimMember {
  readonly process: SimProcess;
  readonly link: SimLink;
  readonly journal: Journal;
  readonly leases: LeaseStore;
  readonly objects: ObjectStore;
  readonly bus: Bus;
}

const TIMES: SimJournalTimes = { appendTimeoutMs: 1500, readTimeoutMs: 1500, aliveEveryMs: 250 };

/** The time after which a supervisor kills a process that does not stop. */
const STOP_LIMIT_MS = 10_000;

export class SimKit {
  readonly random: SeededRandom;
  readonly scheduler: Scheduler;
  readonly server: SimServer;
  readonly network: SimNetwork;
  readonly members: SimMember[] = [];
  private current: Faults;

  constructor(
    readonly seed: number,
    private readonly configured: Faults,
    private readonly times: SimJournalTimes = TIMES,
  ) {
    this.current = configured;
    this.random = new SeededRandom(seed);
    this.scheduler = new Scheduler(this.random.fork());
    this.server = new SimServer(this.scheduler, this.random.fork(), () => this.current);
    this.network = new SimNetwork(this.scheduler, this.random.fork(), () => this.current);
  }

  /** Ends all faults, so that unknown outcomes can be resolved. */
  endFaults(): void {
    this.current = NO_FAULTS;
  }

  /** Stops a process in order. A supervisor kills it if it does not stop. */
  stop(process: SimProcess, stop: () => Promise<unknown>): void {
    const { scheduler } = this;
    scheduler.at(scheduler.nowMs, process, 'message', 'told to stop', () => {
      scheduler.trace.note(process.name, 'stops');
      const exit = () => {
        if (!process.isCrashed) process.crash();
      };
      scheduler.at(scheduler.nowMs + STOP_LIMIT_MS, undefined, 'timer', 'supervisor', exit);
      stop().then(exit, exit);
    });
  }

  addMember(name: string, onLog?: (level: string, event: string, fields: LogFields) => void): SimMember {
    const { wallSkewMs, rateSkew } = this.configured;
    const traits = {
      rate: 1 + this.random.between(-rateSkew, rateSkew),
      wallOffsetMs: Math.round(this.random.between(-wallSkewMs, wallSkewMs)),
    };
    const process = new SimProcess(name, this.scheduler, this.random.fork(), traits, onLog);
    const link = new SimLink(process, this.scheduler, this.random.fork(), () => this.current);
    const member = {
      process,
      link,
      journal: new SimJournal(link, this.server, this.scheduler, this.times),
      leases: new SimLeaseStore(link, this.server, this.times.appendTimeoutMs),
      objects: new SimObjectStore(link, this.server, this.times.readTimeoutMs),
      bus: this.network.connect(link),
    };
    this.members.push(member);
    return member;
  }

  /** Runs events until the promise settles. @throws if it does not within `limitMs` of virtual time */
  async settle<T>(promise: Promise<T>, limitMs = 120_000): Promise<T> {
    let isSettled = false;
    const watched = promise.finally(() => {
      isSettled = true;
    });
    watched.catch(() => {}); // reported by the await below
    await this.scheduler.run(this.scheduler.nowMs + limitMs, () => isSettled);
    if (!isSettled) throw new Error(`nothing settled within ${limitMs} ms of virtual time`);
    return watched;
  }
}
