/**
 * Which processes are alive, by their heartbeats on plain NATS. Silence counts only while our own
 * connection is up, and only on our own monotonic clock: nobody compares clocks of two machines.
 */
import { decodeHeartbeat, encodeHeartbeat, type Heartbeat } from '../../codec/leases/index.js';
import type { SessionId } from '../../kernel/index.js';
import type { Bus, Clock, Subscription } from '../../ports/index.js';

interface Member {
  canOwn: boolean;
  isLeaving: boolean;
  readonly firstHeardAtMs: number;
  lastHeardAtMs: number;
}

/** Longer than anybody's silence is asked about. */
const FORGET_AFTER_MS = 600_000;

export class Membership {
  readonly #members = new Map<SessionId, Member>();
  readonly #processHeardAtMs = new Map<SessionId, number>();
  #subscription: Subscription | undefined;
  #listeningSinceMs = 0;
  #wasConnected = true;

  constructor(
    private readonly bus: Bus,
    private readonly clock: Clock,
  ) {}

  start(): void {
    this.#listeningSinceMs = this.clock.monotonicMs();
    this.#subscription = this.bus.subscribe({ kind: 'heartbeat' }, (payload) => this.#hear(decodeHeartbeat(payload)));
  }

  stop(): void {
    this.#subscription?.stop();
  }

  announce(heartbeat: Heartbeat): void {
    this.bus.publish({ kind: 'heartbeat' }, encodeHeartbeat(heartbeat));
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

  #silenceSince(heardAtMs: number | undefined): number {
    if (!this.bus.isConnected() || !this.#wasConnected) return 0;
    return this.clock.monotonicMs() - Math.max(heardAtMs ?? 0, this.#listeningSinceMs);
  }

  /** How long we have been listening without an interruption. */
  listeningForMs(): number {
    return this.bus.isConnected() ? this.clock.monotonicMs() - this.#listeningSinceMs : 0;
  }

  /** Sessions heard within `withinMs` that may own shards and mean to stay. */
  candidates(withinMs: number, heardForMs = 0): SessionId[] {
    const nowMs = this.clock.monotonicMs();
    const alive: SessionId[] = [];
    for (const [session, member] of this.#members) {
      const isAlive = nowMs - member.lastHeardAtMs <= withinMs && nowMs - member.firstHeardAtMs >= heardForMs;
      if (member.canOwn && !member.isLeaving && isAlive) alive.push(session);
    }
    return alive;
  }

  forget(session: SessionId): void {
    this.#members.delete(session);
  }

  #hear({ session, canOwn, isLeaving, process }: Heartbeat): void {
    const nowMs = this.clock.monotonicMs();
    this.#processHeardAtMs.set(process, nowMs);
    for (const [silent, heardAtMs] of this.#processHeardAtMs) {
      if (nowMs - heardAtMs > FORGET_AFTER_MS) this.#processHeardAtMs.delete(silent);
    }
    const member = this.#members.get(session);
    if (member === undefined) {
      for (const [old, { lastHeardAtMs }] of this.#members) {
        if (nowMs - lastHeardAtMs > FORGET_AFTER_MS) this.#members.delete(old);
      }
      this.#members.set(session, { canOwn, isLeaving, firstHeardAtMs: nowMs, lastHeardAtMs: nowMs });
      return;
    }
    member.canOwn = canOwn;
    member.isLeaving = isLeaving;
    member.lastHeardAtMs = nowMs;
  }
}
