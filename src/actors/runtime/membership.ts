/**
 * Which processes are alive, by their heartbeats on plain NATS. Silence counts only while our own
 * connection is up, and only on our own monotonic clock: whether somebody lives is judged by nobody's wall clock.
 */
import { decodeHeartbeat, encodeHeartbeat, type Heartbeat } from '../../codec/leases/index.js';
import type { SessionId, ShardName } from '../../kernel/index.js';
import { type Plane, planeOfShard } from '../../messages/index.js';
import type { Bus, Clock, Subscription } from '../../ports/index.js';

interface Member {
  readonly process: SessionId;
  canOwn: boolean;
  planes: readonly Plane[] | undefined;
  isLeaving: boolean;
  isSure: boolean;
  wishes: number | undefined;
  readonly firstHeardAtMs: number;
  lastHeardAtMs: number;
}

/** Longer than anybody's silence is asked about. */
const FORGET_AFTER_MS = 600_000;
/** Silence of one that has said that it leaves. */
const GONE_AFTER_MS = 2_000;

export class Membership {
  readonly #members = new Map<SessionId, Member>();
  readonly #processHeardAtMs = new Map<SessionId, number>();
  #subscription: Subscription | undefined;
  #listeningSinceMs = 0;
  #wasConnected = true;
  readonly #listeners: ((heartbeat: Heartbeat, isNew: boolean) => void)[] = [];

  constructor(
    private readonly bus: Bus,
    private readonly clock: Clock,
    /** Nobody else can be there: nothing is said to anybody, and nothing heard. */
    readonly isAlone = false,
  ) {}

  start(): void {
    this.#listeningSinceMs = this.clock.monotonicMs();
    if (this.isAlone) return;
    this.#subscription = this.bus.subscribe({ kind: 'heartbeat' }, (payload) => this.#hear(decodeHeartbeat(payload)));
  }

  stop(): void {
    this.#subscription?.stop();
  }

  /** Calls `listener` with every heartbeat; `isNew`: of a process that had not been heard before. */
  whenHeard(listener: (heartbeat: Heartbeat, isNew: boolean) => void): void {
    this.#listeners.push(listener);
  }

  announce(heartbeat: Heartbeat): void {
    if (!this.isAlone) this.bus.publish({ kind: 'heartbeat' }, encodeHeartbeat(heartbeat));
    this.#hear(heartbeat);
  }

  /** Call often: after a lost connection everybody's silence begins anew. */
  watchConnection(): void {
    const isConnected = this.bus.isConnected();
    if (isConnected && !this.#wasConnected) {
      const nowMs = this.clock.monotonicMs();
      this.#listeningSinceMs = nowMs;
      for (const member of this.#members.values()) member.lastHeardAtMs = nowMs;
      for (const process of this.#processHeardAtMs.keys()) this.#processHeardAtMs.set(process, nowMs);
    }
    this.#wasConnected = isConnected;
  }

  /** Milliseconds without a sign; 0 while we could not have heard one. */
  silentForMs(session: SessionId): number {
    return this.#silenceSince(this.#members.get(session)?.lastHeardAtMs);
  }

  /** The same of a process, whichever session it has now. */
  processSilentForMs(process: SessionId): number {
    return this.#silenceSince(this.#processHeardAtMs.get(process));
  }

  /** Processes heard within `withinMs`. */
  liveProcesses(withinMs: number): SessionId[] {
    const sinceMs = this.clock.monotonicMs() - withinMs;
    return [...this.#processHeardAtMs].filter(([, heardAtMs]) => heardAtMs >= sinceMs).map(([process]) => process);
  }

  /** The process that has this session, if it was ever heard. */
  processOf(session: SessionId): SessionId | undefined {
    return this.#members.get(session)?.process;
  }

  /** Which revision of the operators' wishes the process of this session has read; undefined: it says nothing of them. */
  wishesReadBy(session: SessionId): number | undefined {
    return this.#members.get(session)?.wishes;
  }

  /** The newest session of every process that was heard and has not said goodbye. */
  heard(): { readonly process: SessionId; readonly session: SessionId; readonly silentForMs: number }[] {
    const nowMs = this.clock.monotonicMs();
    const newest = new Map<SessionId, readonly [SessionId, Member]>();
    for (const [session, member] of this.#members) {
      if ((newest.get(member.process)?.[1].lastHeardAtMs ?? 0) <= member.lastHeardAtMs) {
        newest.set(member.process, [session, member]);
      }
    }
    return [...newest]
      .map(([process, [session, { lastHeardAtMs, isLeaving }]]) => {
        return { process, session, silentForMs: nowMs - lastHeardAtMs, isLeaving };
      })
      .filter(({ isLeaving, silentForMs }) => !isLeaving || silentForMs < GONE_AFTER_MS);
  }

  #silenceSince(heardAtMs: number | undefined): number {
    if (!this.bus.isConnected() || !this.#wasConnected) return 0;
    return this.clock.monotonicMs() - Math.max(heardAtMs ?? 0, this.#listeningSinceMs);
  }

  /** How long we have been listening without an interruption. */
  listeningForMs(): number {
    return this.bus.isConnected() ? this.clock.monotonicMs() - this.#listeningSinceMs : 0;
  }

  /**
   * Sessions heard within `withinMs` that may own the shard, or any, and mean to stay: those sure of their clocks, if there
   * are any.
   */
  candidates(withinMs: number, heardForMs = 0, shard?: ShardName): SessionId[] {
    const plane = shard === undefined ? undefined : planeOfShard(shard);
    const able = this.#ableToOwn(withinMs, heardForMs);
    const alive = able.filter(([, { planes }]) => plane === undefined || (planes?.includes(plane) ?? true));
    const sure = alive.filter(([, { isSure }]) => isSure);
    return (sure.length > 0 ? sure : alive).map(([session]) => session);
  }

  /** Is there one that is sure of its clock? */
  hasSureCandidate(withinMs: number): boolean {
    return this.#ableToOwn(withinMs, 0).some(([, { isSure }]) => isSure);
  }

  #ableToOwn(withinMs: number, heardForMs: number): [SessionId, Member][] {
    const nowMs = this.clock.monotonicMs();
    return [...this.#members].filter(([, member]) => {
      const isAlive = nowMs - member.lastHeardAtMs <= withinMs && nowMs - member.firstHeardAtMs >= heardForMs;
      return member.canOwn && !member.isLeaving && isAlive;
    });
  }

  forget(session: SessionId): void {
    this.#members.delete(session);
  }

  #hear(heartbeat: Heartbeat): void {
    const isNew = !this.#processHeardAtMs.has(heartbeat.process);
    this.#note(heartbeat);
    for (const listener of this.#listeners) listener(heartbeat, isNew);
  }

  #note({ session, canOwn, isLeaving, process, clock, wishes, planes }: Heartbeat): void {
    const nowMs = this.clock.monotonicMs();
    // Older versions say nothing of their clocks.
    const isSure = clock?.isSure ?? true;
    this.#processHeardAtMs.set(process, nowMs);
    for (const [silent, heardAtMs] of this.#processHeardAtMs) {
      if (nowMs - heardAtMs > FORGET_AFTER_MS) this.#processHeardAtMs.delete(silent);
    }
    const member = this.#members.get(session);
    if (member === undefined) {
      for (const [old, { lastHeardAtMs }] of this.#members) {
        if (nowMs - lastHeardAtMs > FORGET_AFTER_MS) this.#members.delete(old);
      }
      const heard = { firstHeardAtMs: nowMs, lastHeardAtMs: nowMs };
      this.#members.set(session, { process, canOwn, planes, isLeaving, isSure, wishes, ...heard });
      return;
    }
    member.canOwn = canOwn;
    member.planes = planes;
    member.isLeaving = isLeaving;
    member.isSure = isSure;
    member.wishes = wishes;
    member.lastHeardAtMs = nowMs;
  }
}
