/**
 * The living processes, known by their heartbeats on plain NATS. Silence counts only while our connection is up, and
 * only on our monotonic clock, never by a wall clock.
 */
import { decodeHeartbeat, encodeHeartbeat, type Heartbeat, type PlacementName } from '../../codec/leases/index.js';
import type { SessionId, ShardName } from '../../kernel/index.js';
import type { Bus, Clock, Subscription } from '../../ports/index.js';
import { type Plane, planeOfShard } from '../../protocol/index.js';

interface Member {
  readonly process: SessionId;
  canOwn: boolean;
  planes: readonly Plane[] | undefined;
  isLeaving: boolean;
  isSure: boolean;
  wishes: number | undefined;
  follows: boolean;
  place: PlacementName | undefined;
  isGone: boolean;
  readonly firstHeardAtMs: number;
  lastHeardAtMs: number;
}

/** Longer than any silence that is asked for. */
const FORGET_AFTER_MS = 600_000;
/** Silence after which a process that announced its end counts as gone. */
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
    /** No other process exists: heartbeats are neither sent nor received. */
    readonly isAlone = false,
  ) {}

  start(): void {
    this.#listeningSinceMs = this.clock.monotonicMs();
    if (this.isAlone) return;
    this.#subscription = this.bus.subscribe({ kind: 'heartbeat' }, (payload) => {
      const heartbeat = decodeHeartbeat(payload);
      if (heartbeat.neighbour !== undefined) this.bus.meet?.(heartbeat.neighbour);
      this.#hear(heartbeat);
    });
  }

  stop(): void {
    this.#subscription?.stop();
  }

  /** Counts at most this much of the past silence, because earlier heartbeats may not have reached us. */
  countSilenceFor(ms: number): void {
    this.#listeningSinceMs = Math.max(this.#listeningSinceMs, this.clock.monotonicMs() - ms);
  }

  /** Calls `listener` with every heartbeat; `isNew`: the process was not heard before. */
  whenHeard(listener: (heartbeat: Heartbeat, isNew: boolean) => void): void {
    this.#listeners.push(listener);
  }

  announce(heartbeat: Heartbeat): void {
    if (!this.isAlone) {
      const sent = { ...heartbeat, neighbour: this.bus.address };
      this.bus.publish({ kind: 'heartbeat' }, encodeHeartbeat(sent));
    }
    this.#hear(heartbeat);
  }

  /** Must be called often: after a lost connection all silence is counted from 0. */
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

  /** Milliseconds without a sign of life; 0 while we could not have heard one. */
  silentForMs(session: SessionId): number {
    if (this.isGone(session)) return Number.POSITIVE_INFINITY;
    return this.#silenceSince(this.#members.get(session)?.lastHeardAtMs);
  }

  /** The same for a process, with any session. */
  processSilentForMs(process: SessionId): number {
    return this.#silenceSince(this.#processHeardAtMs.get(process));
  }

  /** Processes heard within `withinMs`. */
  liveProcesses(withinMs: number): SessionId[] {
    const sinceMs = this.clock.monotonicMs() - withinMs;
    return [...this.#processHeardAtMs].filter(([, heardAtMs]) => heardAtMs >= sinceMs).map(([process]) => process);
  }

  /** True after its supervisor has announced the end of its process. */
  isGone(session: SessionId): boolean {
    return this.#members.get(session)?.isGone === true;
  }

  /** The process that has this session, if it was ever heard. */
  processOf(session: SessionId): SessionId | undefined {
    return this.#members.get(session)?.process;
  }

  /** The revision of the operators' wishes that this session's process has read; undefined: it does not report one. */
  wishesReadBy(session: SessionId): number | undefined {
    return this.#members.get(session)?.wishes;
  }

  /** True when the process of this session replays a shard before it takes it. */
  follows(session: SessionId): boolean {
    return this.#members.get(session)?.follows ?? false;
  }

  /** The place of this session's process; undefined: it is of an older version. */
  placeOf(session: SessionId): PlacementName | undefined {
    return this.#members.get(session)?.place;
  }

  /** True when a process heard within `withinMs` has the place of this session's process after it. */
  isSucceeded(session: SessionId, withinMs: number): boolean {
    const own = this.placeOf(session);
    return this.#ableToOwn(withinMs, 0).some(
      ([, { place }]) => own !== undefined && place?.name === own.name && place.turn > own.turn,
    );
  }

  /** The newest session of every process that was heard and has not announced its end. */
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
      .filter(({ session }) => !this.isGone(session))
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
   * Sessions heard within `withinMs` that may own the shard, or any, and intend to stay: those sure of their clocks, if
   * there are any.
   */
  candidates(withinMs: number, heardForMs = 0, shard?: ShardName): SessionId[] {
    const plane = shard === undefined ? undefined : planeOfShard(shard);
    const able = this.#ableToOwn(withinMs, heardForMs);
    const alive = able.filter(([, { planes }]) => plane === undefined || (planes?.includes(plane) ?? true));
    const sure = alive.filter(([, { isSure }]) => isSure);
    return (sure.length > 0 ? sure : alive).map(([session]) => session);
  }

  /** True when a candidate is sure of its clock. */
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

  #note({
    session,
    canOwn,
    isLeaving,
    process,
    clock,
    wishes,
    planes,
    follows = false,
    place,
    ...end
  }: Heartbeat): void {
    const nowMs = this.clock.monotonicMs();
    // A heartbeat that was on its way when its process ended is ignored.
    const isGone = end.isGone === true || this.isGone(session);
    // Older versions do not report their clocks.
    const isSure = clock?.isSure ?? true;
    if (isGone) this.#processHeardAtMs.delete(process);
    else this.#processHeardAtMs.set(process, nowMs);
    for (const [silent, heardAtMs] of this.#processHeardAtMs) {
      if (nowMs - heardAtMs > FORGET_AFTER_MS) this.#processHeardAtMs.delete(silent);
    }
    const member = this.#members.get(session);
    if (member === undefined) {
      for (const [old, { lastHeardAtMs }] of this.#members) {
        if (nowMs - lastHeardAtMs > FORGET_AFTER_MS) this.#members.delete(old);
      }
      const heard = { firstHeardAtMs: nowMs, lastHeardAtMs: nowMs };
      this.#members.set(session, {
        process,
        canOwn,
        planes,
        isLeaving,
        isSure,
        wishes,
        follows,
        place,
        isGone,
        ...heard,
      });
      return;
    }
    member.canOwn = canOwn;
    member.planes = planes;
    member.isLeaving = isLeaving;
    member.isSure = isSure;
    member.wishes = wishes;
    member.follows = follows;
    member.place = place;
    member.isGone = isGone;
    member.lastHeardAtMs = nowMs;
  }
}
