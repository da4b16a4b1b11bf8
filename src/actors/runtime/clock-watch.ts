/**
 * Whether this process's time can be trusted, by comparing it: with the machine's monotonic clock, with the time since
 * the machine started, with other processes, with the journal.
 *
 *  CW1 nothing is owned before the clocks of all processes that are there have been compared, or they have been silent
 *      for as long as a takeover takes
 *  CW2 who is off gives up what it owns, and takes the others' time afterwards: what it still does for its own callers
 *      is then judged by the right time
 *  CW3 who is not sure owns nothing while somebody else is; when nobody is, all go on as ever, by monotonic time
 *  CW4 alone on a data directory, it goes on by monotonic time from where it was, and says so
 */
import type { ClockReading, Heartbeat } from '../../codec/leases/index.js';
import { describeError, type SessionId, type ShardName } from '../../kernel/index.js';
import type { BootTime, Check, Counter, LeaseStore, Log } from '../../ports/index.js';
import { BootRecord } from './boot-record.js';
import type { GuardedClock } from './guarded-clock.js';
import type { Membership } from './membership.js';
import { offBy, PeerClocks, type PeerView } from './peer-clocks.js';

export interface ClockWatchPorts {
  readonly clock: GuardedClock;
  readonly boot: BootTime;
  readonly leases: LeaseStore;
  readonly log: Log;
  /** Jumps of the machine's clocks. */
  readonly jumps?: Counter;
}

export interface ClockWatchOptions {
  /** A difference above this is one. */
  readonly maxSkewMs: number;
  /** Silence after which a process need not be waited for. */
  readonly takeoverMs: number;
  /** Nobody else can own anything here. */
  readonly isAlone: boolean;
  /** At the start the machine's clock is right, whatever it was before. */
  readonly trustsMachine: boolean;
}

/** Who is heard and does not hear us is waited for no longer than so many times a takeover. */
const WAIT_TAKEOVERS = 2;
/** Looks between two looks at what the boot record says. */
const KEEP_EVERY_LOOKS = 20;

export class ClockWatch {
  readonly #peers: PeerClocks;
  readonly #record: BootRecord;
  /** Sessions that were there before this process, and whose clocks are not known yet; undefined: not asked for yet. */
  #awaited: Set<SessionId> | undefined;
  #process: SessionId | undefined;
  #isDecided = false;
  /** What our time has to be changed by once nothing is owned. */
  #correctionMs = 0;
  #wasInDoubt = false;
  #saidJournalAhead = false;
  readonly #journalClocks = new Map<ShardName, number>();
  #looks = 0;

  constructor(
    private readonly ports: ClockWatchPorts,
    private readonly options: ClockWatchOptions,
    private readonly membership: Membership,
  ) {
    this.#peers = new PeerClocks(() => this.#process as SessionId);
    this.#record = new BootRecord(ports.leases, ports.boot);
    this.membership.whenHeard((heartbeat) => this.#hear(heartbeat));
  }

  /** CW1. */
  get isDecided(): boolean {
    return this.#isDecided;
  }

  get isSure(): boolean {
    return this.#isDecided && !this.isInDoubt;
  }

  /** The machine's clock is not the time that this process goes by, or the journal is ahead of it. */
  get isInDoubt(): boolean {
    return Math.abs(this.machineAheadMs) > this.options.maxSkewMs || this.isBehindJournal;
  }

  /** CW3: it may own nothing, and others do. */
  get isExcluded(): boolean {
    if (this.options.isAlone) return false;
    return !this.#isDecided || (this.isInDoubt && this.membership.hasSureCandidate(this.options.takeoverMs));
  }

  get machineAheadMs(): number {
    return this.ports.clock.machineAheadMs;
  }

  /** How far the journal that is furthest ahead is ahead of our time; 0: none is. */
  get journalAheadMs(): number {
    const nowMs = this.ports.clock.nowMs();
    let aheadMs = 0;
    for (const clockMs of this.#journalClocks.values()) aheadMs = Math.max(aheadMs, clockMs - nowMs);
    return aheadMs;
  }

  get isBehindJournal(): boolean {
    return this.journalAheadMs > this.options.maxSkewMs;
  }

  /** See `GuardedClock.isSteady`. */
  isSteady(): boolean {
    return this.ports.clock.isSteady();
  }

  /** It stands in a heartbeat that leaves now. */
  reading(): ClockReading {
    return {
      nowMs: this.ports.clock.nowMs(),
      generation: this.#peers.generation,
      isSure: this.isSure,
      isBehindJournal: this.isBehindJournal,
      heard: this.#peers.heard(),
    };
  }

  /**
   * Once, before the first heartbeat: what is known from before.
   * @param others  the sessions whose records say that they live
   */
  async begin(process: SessionId, others: () => Promise<readonly SessionId[]>): Promise<void> {
    this.#process = process;
    await this.#recall().catch((error: unknown) => this.#failed('clock.not-recalled', error));
    if (this.options.isAlone) {
      this.#isDecided = true;
    } else {
      this.#awaited = new Set(await others());
      this.#decideIfKnown();
    }
    this.#keep();
  }

  /** It is called with every heartbeat, and says why the session has to be given up, if it has to. Then `settle` follows. */
  look(): string | undefined {
    const change = this.ports.clock.check();
    if (change.kind !== 'steady') {
      this.ports.jumps?.add();
      const ms = Math.round(change.kind === 'set' ? change.byMs : change.forMs);
      const goesOn = this.options.isAlone ? 'by monotonic time' : 'gives up what it owns';
      this.ports.log.warn('clock.jumped', { what: change.kind, ms, goesOn });
    }
    const skewMs = this.#judge();
    this.#tellDoubt();
    this.#looks += 1;
    if (this.#isDecided && this.#looks % KEEP_EVERY_LOOKS === 0) this.#keep();
    if (this.options.isAlone) return undefined;
    if (change.kind === 'suspended') return 'the clock jumped: the machine was suspended';
    if (change.kind === 'set') return `the clock jumped: it was set by ${seconds(change.byMs)}`;
    return skewMs === 0 ? undefined : `the clock is ${seconds(skewMs)} off that of other processes`;
  }

  /** CW2: nothing is owned any more. */
  settle(): void {
    if (this.#correctionMs === 0) return;
    const { clock, log } = this.ports;
    log.warn('clock.corrected', { ms: Math.round(this.#correctionMs), by: 'other processes' });
    clock.set(clock.nowMs() + this.#correctionMs);
    this.#correctionMs = 0;
    this.#peers.beginAnew();
  }

  /** An owner-to-be has read where the shard's journal ends. */
  noteJournal(shard: ShardName, clockMs: number): void {
    this.#journalClocks.set(shard, clockMs);
    if (this.#saidJournalAhead || !this.isBehindJournal) return;
    this.#saidJournalAhead = true;
    const aheadMs = Math.round(this.journalAheadMs);
    this.ports.log.warn('clock.journal-ahead', { shard, ms: aheadMs, goesOn: 'from the time of the journal' });
  }

  /** A clock is set right by a person: a start does not wait for that. */
  check(): Check {
    return this.isExcluded ? { ok: false, isStuck: true, detail: this.describe() } : { ok: true };
  }

  /** The text is for a person. */
  describe(): string {
    if (!this.#isDecided) return 'the clock is compared with those of other processes';
    if (this.isBehindJournal) return `the clock is ${seconds(this.journalAheadMs)} behind the journal: owns nothing`;
    const side = this.machineAheadMs > 0 ? 'ahead' : 'behind';
    return `the machine's clock is ${seconds(Math.abs(this.machineAheadMs))} ${side}: owns nothing`;
  }

  async #recall(): Promise<void> {
    const { clock, log } = this.ports;
    if (this.options.trustsMachine) return;
    const expectedMs = await this.#record.expectedMs();
    if (expectedMs === undefined) return;
    const aheadMs = Math.round(clock.nowMs() - expectedMs);
    if (Math.abs(aheadMs) <= this.options.maxSkewMs) return;
    log.warn('clock.off', { machineAheadMs: aheadMs, since: 'the last run', goesOn: 'by the time since boot' });
    this.#wasInDoubt = true;
    clock.set(expectedMs);
  }

  #keep(): void {
    if (!this.#isDecided || this.#correctionMs !== 0) return;
    this.#record.keep(this.ports.clock.nowMs()).catch((error: unknown) => this.#failed('clock.not-kept', error));
  }

  #hear({ session, process, clock: reading }: Heartbeat): void {
    if (process === this.#process) return;
    if (reading !== undefined) {
      this.#peers.hear(process, reading, this.ports.clock.nowMs(), this.ports.clock.monotonicMs());
    }
    if (reading === undefined || this.#peers.viewOf(process) !== undefined) this.#awaited?.delete(session);
    this.#decideIfKnown();
  }

  #decideIfKnown(): void {
    if (this.#isDecided || this.#awaited === undefined) return;
    const isOver = this.membership.listeningForMs() >= WAIT_TAKEOVERS * this.options.takeoverMs;
    for (const session of this.#awaited) {
      if (isOver || this.membership.silentForMs(session) >= this.options.takeoverMs) this.#awaited.delete(session);
    }
    if (this.#awaited.size > 0) return;
    // Nothing is owned yet, so that there is nothing to give up.
    this.#correctionMs = -offBy(this, this.#views(), this.options.maxSkewMs);
    this.settle();
    this.#isDecided = true;
    this.#tellDoubt();
  }

  /** It says by how much we are off, 0: not, or not known. */
  #judge(): number {
    if (!this.#isDecided) {
      this.#decideIfKnown();
      return 0;
    }
    const skewMs = offBy(this, this.#views(), this.options.maxSkewMs);
    this.#correctionMs = -skewMs;
    return skewMs;
  }

  #views(): PeerView[] {
    const views: PeerView[] = [];
    for (const process of this.#peers.processes()) {
      if (this.membership.processSilentForMs(process) >= this.options.takeoverMs) this.#peers.forget(process);
      const view = this.#peers.viewOf(process);
      if (view !== undefined) views.push(view);
    }
    return views;
  }

  #tellDoubt(): void {
    const isInDoubt = this.#isDecided && Math.abs(this.machineAheadMs) > this.options.maxSkewMs;
    if (isInDoubt === this.#wasInDoubt) return;
    this.#wasInDoubt = isInDoubt;
    const machineAheadMs = Math.round(this.machineAheadMs);
    if (isInDoubt) this.ports.log.warn('clock.off', { machineAheadMs, goesOn: 'by monotonic time' });
    else this.ports.log.info('clock.agrees', { machineAheadMs });
  }

  #failed(event: string, error: unknown): void {
    this.ports.log.warn(event, { cause: describeError(error) });
  }
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
