/**
 * CLIENT PAUSE: databases whose clients at this process are held up, all of their commands or those that may write.
 *
 *  PAU1 a pause is never shortened, and never holds less, by a later one
 *  PAU2 while one lasts owners neither expire nor evict anything of its database: they are told of it as of a listener,
 *       and of each client that is held up
 */
import type { DatabaseId } from '../../kernel/index.js';
import type { Clock, KvEvents, KvGrant, KvSubscription, Timer, Timers } from '../../ports/index.js';
import { type RespClient, stopOnceThere } from './resp-client.js';

interface Pause {
  readonly untilMs: number;
  /** Commands that change nothing may run. */
  readonly isForWrites: boolean;
  readonly waiting: Set<() => void>;
  readonly told: Promise<KvSubscription>;
  timer: Timer;
}

/** The name under which owners are told of a client that is held up; '' stands for the pause itself. */
const HELD = 'held';

export class Pauses {
  readonly #pauses = new Map<DatabaseId, Pause>();

  constructor(
    private readonly clock: Clock,
    private readonly timers: Timers,
    private readonly events: KvEvents,
  ) {}

  /** The usual case. */
  get areNone(): boolean {
    return this.#pauses.size === 0;
  }

  /** Resolves when the owners have been told, or could not be: clients of this process are held up at once. (PAU1) */
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

  /** Resolves when the pause that there is has ended, or the client has gone. */
  async hold(client: RespClient, grant: KvGrant): Promise<void> {
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

  /** Timers do not reach as far as a pause may. */
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
