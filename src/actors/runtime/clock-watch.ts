/**
 * Decides whether this process's time can be trusted. It compares the time with the machine's monotonic clock, the time
 * since the machine's start, other processes and the journal.
 *
 *  CW1 a process owns no shard before it has compared clocks with all present processes, or they have been silent for
 *      the duration of a takeover
 *  CW2 a process with a wrong clock gives up its shards and then takes the time of the others, so that its later work
 *      for its callers uses the right time
 *  CW3 a process that is unsure of its clock owns no shard while another is sure; when none is sure, all continue by
 *      monotonic time
 *  CW4 a process alone on a data directory continues by monotonic time from its last time, and reports that
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
  /** Counts jumps of the machine's clocks. */
  readonly jumps?: Counter;
}

export interface ClockWatchOptions {
  /** A larger difference counts as wrong. */
  readonly maxSkewMs: number;
  /** Silence after which a process need not be waited for. */
  readonly takeoverMs: number;
  /** No other process can own a shard. */
  readonly isAlone: boolean;
  /** At the start the machine's clock counts as right. */
  readonly trustsMachine: boolean;
}

/** A process that is heard but does not hear us is waited for at most this many takeovers. */
const WAIT_TAKEOVERS = 2;
/** The boot record is checked once in this many checks. */
const KEEP_EVERY_LOOKS = 20;

export class ClockWatch {
  readonly #peers: PeerClocks;
  readonly #record: BootRecord;
  /** Sessions that existed before this process and have unknown clocks; undefined: not asked for yet. */
  #awaited: Set<SessionId> | undefined;
  #process: SessionId | undefined;
  #isDecided = false;
  /** The correction of our time, made once no shard is owned. */
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

  /** True when the clocks have been compared (CW1). */
  get isDecided(): boolean {
    return this.#isDecided;
  }

  get isSure(): boolean {
    return this.#isDecided && !this.isInDoubt;
  }

  /** The machine's clock differs from this process's time, or the journal is ahead of it. */
  get isInDoubt(): boolean {
    return Math.abs(this.machineAheadMs) > this.options.maxSkewMs || this.isBehindJournal;
  }

  /** This process must not own shards, because its clock is in doubt and another's is not (CW3). */
  get isExcluded(): boolean {
    if (this.options.isAlone) return false;
    return !this.#isDecided || (this.isInDoubt && this.membership.hasSureCandidate(this.options.takeoverMs));
  }

  get machineAheadMs(): number {
    return this.ports.clock.machineAheadMs;
  }

  /** How far our time is behind the most advanced journal; 0: it is not. */
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

  /** The reading for the next heartbeat. */
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
   * Called once, before the first heartbeat, to load stored facts.
   * @param others  the sessions with records of living processes
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

  /** Called with every heartbeat. @returns the reason to give up the session, if there is one; then `settle` follows */
  look(): string | undefined {
    const change = this.ports.clock.check();
    if (change.kind !== 'steady') {
      this.ports.jumps?.add();
      const ms = Math.round(change.kind === 'set' ? change.byMs : change.forMs);
      const goesOn = this.options.isAlone ? 'by monotonic time' : 'gives up its shards';
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

  /** Corrects the time, when no shard is owned any more (CW2). */
  settle(): void {
    if (this.#correctionMs === 0) return;
    const { clock, log } = this.ports;
    log.warn('clock.corrected', { ms: Math.round(this.#correctionMs), by: 'other processes' });
    clock.set(clock.nowMs() + this.#correctionMs);
    this.#correctionMs = 0;
    this.#peers.beginAnew();
  }

  /** A candidate has read the end of the shard's journal. */
  noteJournal(shard: ShardName, clockMs: number): void {
    this.#journalClocks.set(shard, clockMs);
    if (this.#saidJournalAhead || !this.isBehindJournal) return;
    this.#saidJournalAhead = true;
    const aheadMs = Math.round(this.journalAheadMs);
    this.ports.log.warn('clock.journal-ahead', { shard, ms: aheadMs, goesOn: 'from the time of the journal' });
  }

  /** Stuck, because only a person can set the clock: a start does not wait for it. */
  check(): Check {
    return this.isExcluded ? { ok: false, isStuck: true, detail: this.describe() } : { ok: true };
  }

  /** For people. */
  describe(): string {
    if (!this.#isDecided) return 'the clock is compared with those of other processes';
    if (this.isBehindJournal)
      return `the clock is ${seconds(this.journalAheadMs)} earlier than the journal: owns no shards`;
    const side = this.machineAheadMs > 0 ? 'ahead' : 'behind';
    return `the machine's clock is ${seconds(Math.abs(this.machineAheadMs))} ${side}: owns no shards`;
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
    // No shard is owned yet, so there is none to give up.
    this.#correctionMs = -offBy(this, this.#views(), this.options.maxSkewMs);
    this.settle();
    this.#isDecided = true;
    this.#tellDoubt();
  }

  /** @returns the error of our clock; 0: none, or unknown */
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
