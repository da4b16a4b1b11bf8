/**
 * Tracks, from reports on the bus, how far each process has applied the control journal, so that the owner can answer a
 * revocation when it is in force. A process that does not report has stopped answering before the wait ends: its copy
 * becomes stale earlier (`controlStaleMs`).
 */
import { decodeControlApplied } from '../../codec/control/index.js';
import type { SessionId } from '../../kernel/index.js';
import type { Bus, Subscription, Timer, Timers } from '../../ports/index.js';
import { CONTROL_SHARD } from '../../protocol/index.js';

/** The promise for a revocation: in force everywhere, or after a second. */
const WAIT_MS = 1000;

interface Waiting {
  readonly position: number;
  readonly edges: Set<SessionId>;
  readonly timer: Timer;
  resolve(): void;
}

export class Revocations {
  readonly #appliedBySession = new Map<SessionId, number>();
  readonly #waiting = new Set<Waiting>();
  #subscription: Subscription | undefined;

  constructor(
    private readonly bus: Bus,
    private readonly timers: Timers,
    /** Sessions of the processes that may answer clients, including this one. */
    private readonly liveEdges: () => Iterable<SessionId>,
    private readonly waitMs: number = WAIT_MS,
  ) {}

  start(): void {
    this.#subscription = this.bus.subscribe({ kind: 'notice', shard: CONTROL_SHARD }, (payload) => {
      const applied = decodeControlApplied(payload);
      if (applied !== undefined) this.#hear(applied.session, applied.position);
    });
  }

  stop(): void {
    this.#subscription?.stop();
    for (const waiting of [...this.#waiting]) this.#end(waiting);
  }

  /** Never rejects. */
  untilInForce(position: number): Promise<void> {
    const live = new Set(this.liveEdges());
    for (const session of this.#appliedBySession.keys()) if (!live.has(session)) this.#appliedBySession.delete(session);
    const edges = new Set([...live].filter((session) => (this.#appliedBySession.get(session) ?? 0) < position));
    if (edges.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = this.timers.after(this.waitMs, () => this.#end(waiting));
      const waiting: Waiting = { position, edges, timer, resolve };
      this.#waiting.add(waiting);
    });
  }

  #hear(session: SessionId, position: number): void {
    this.#appliedBySession.set(session, Math.max(position, this.#appliedBySession.get(session) ?? 0));
    for (const waiting of [...this.#waiting]) {
      if (position < waiting.position) continue;
      waiting.edges.delete(session);
      if (waiting.edges.size === 0) this.#end(waiting);
    }
  }

  #end(waiting: Waiting): void {
    waiting.timer.cancel();
    this.#waiting.delete(waiting);
    waiting.resolve();
  }
}
