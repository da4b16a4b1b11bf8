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

export class Membership {
  readonly #members = new Map<SessionId, Member>();
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
    }
    this.#wasConnected = isConnected;
  }

  /** Milliseconds without a sign; 0 while we could not have heard one. */
  silentForMs(session: SessionId): number {
    if (!this.bus.isConnected() || !this.#wasConnected) return 0;
    const member = this.#members.get(session);
    return this.clock.monotonicMs() - Math.max(member?.lastHeardAtMs ?? 0, this.#listeningSinceMs);
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

  #hear({ session, canOwn, isLeaving }: Heartbeat): void {
    const nowMs = this.clock.monotonicMs();
    const member = this.#members.get(session);
    if (member === undefined) {
      this.#members.set(session, { canOwn, isLeaving, firstHeardAtMs: nowMs, lastHeardAtMs: nowMs });
      return;
    }
    member.canOwn = canOwn;
    member.isLeaving = isLeaving;
    member.lastHeardAtMs = nowMs;
  }
}
