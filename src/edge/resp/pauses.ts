/**
 * CLIENT PAUSE: databases whose clients at this process wait, with all commands or only with those that may write.
 *
 *  PAU1 a later pause never shortens an earlier one and never holds fewer commands
 *  PAU2 during a pause owners neither expire nor evict keys of the database: the pause and each held client are
 *       registered with them
 */
import type { DatabaseId } from '../../kernel/index.js';
import type { Clock, KvEvents, KvGrant, KvSubscription, Timer, Timers } from '../../ports/index.js';
import { type ClientState, stopOnceThere } from './client-state.js';

interface Pause {
  readonly untilMs: number;
  /** Only writes are held. */
  readonly isForWrites: boolean;
  readonly waiting: Set<() => void>;
  readonly told: Promise<KvSubscription>;
  timer: Timer;
}

/** The name under which held clients are registered with owners; '' is the pause itself. */
const HELD = 'held';

export class Pauses {
  readonly #pauses = new Map<DatabaseId, Pause>();

  constructor(
    private readonly clock: Clock,
    private readonly timers: Timers,
    private readonly events: KvEvents,
  ) {}

  /** True in the usual case. */
  get areNone(): boolean {
    return this.#pauses.size === 0;
  }

  /**
   * Holds the clients of this process immediately; resolves when the owners were told or could not be reached (PAU1:
   * a later pause never shortens an earlier one).
   */
  async begin(grant: KvGrant, durationMs: number, isForWrites: boolean): Promise<void> {
    const { database } = grant;
    const old = this.#pauses.get(database);
    old?.timer.cancel();
    const untilMs = Math.max(this.clock.monotonicMs() + durationMs, old?.untilMs ?? 0);
    const told = old?.told ?? this.#tell(grant, '');
    this.#pauses.set(database, {
      untilMs,
      isForWrites: isForWrites && (old?.isForWrites ?? true),
      waiting: old?.waiting ?? new Set(),
      told,
      timer: this.#timer(database, untilMs),
    });
    await told.catch(() => undefined);
  }

  end(database: DatabaseId): void {
    const pause = this.#pauses.get(database);
    if (pause === undefined) return;
    this.#pauses.delete(database);
    pause.timer.cancel();
    stopOnceThere(pause.told);
    for (const goOn of pause.waiting) goOn();
  }

  of(database: DatabaseId): 'writes' | 'everything' | undefined {
    const pause = this.#pauses.get(database);
    if (pause === undefined) return undefined;
    return pause.isForWrites ? 'writes' : 'everything';
  }

  /** Resolves when the current pause has ended or the client has disconnected. */
  async hold(client: ClientState, grant: KvGrant): Promise<void> {
    const pause = this.#pauses.get(grant.database);
    if (pause === undefined || client.isClosed) return;
    const told = this.#tell(grant, HELD);
    await new Promise<void>((resolve) => {
      client.letGo = resolve;
      pause.waiting.add(resolve);
    });
    pause.waiting.delete(client.letGo as () => void);
    client.letGo = undefined;
    stopOnceThere(told);
  }

  close(): void {
    for (const database of [...this.#pauses.keys()]) this.end(database);
  }

  /** A pause may be longer than the longest timer. */
  #timer(database: DatabaseId, untilMs: number): Timer {
    return this.timers.after(untilMs - this.clock.monotonicMs(), () => {
      const pause = this.#pauses.get(database);
      if (pause === undefined) return;
      if (this.clock.monotonicMs() >= untilMs) this.end(database);
      else pause.timer = this.#timer(database, untilMs);
    });
  }

  #tell(grant: KvGrant, name: string): Promise<KvSubscription> {
    return this.events.subscribe(grant, 'pause', name, () => {});
  }
}
