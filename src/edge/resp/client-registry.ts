/**
 * Who is connected to this process over the native protocol, by number, and which databases are held up. A
 * client sees those of its own database alone.
 */
import type { DatabaseId } from '../../kernel/index.js';
import type { Clock, Timer, Timers } from '../../ports/index.js';
import type { RespClient } from './resp-client.js';

interface Pause {
  readonly untilMs: number;
  /** Commands that change nothing may run. */
  readonly isForWrites: boolean;
  readonly waiting: (() => void)[];
  readonly timer: Timer;
}

export class ClientRegistry {
  readonly #clients = new Map<number, RespClient>();
  /** Signed in; databases without any are left out. */
  readonly #countByDatabase = new Map<DatabaseId, number>();
  readonly #pauses = new Map<DatabaseId, Pause>();
  #lastId = 0;

  constructor(
    private readonly clock: Clock,
    private readonly timers: Timers,
    /** Told of each client that comes to a database, and that leaves one. */
    private readonly counted: (database: DatabaseId, change: 1 | -1) => void = () => {},
  ) {}

  nextId(): number {
    this.#lastId += 1;
    return this.#lastId;
  }

  add(client: RespClient): void {
    this.#clients.set(client.id, client);
  }

  remove(client: RespClient): void {
    this.#clients.delete(client.id);
  }

  /** Clients that are signed in to the database. */
  countOf(database: DatabaseId): number {
    return this.#countByDatabase.get(database) ?? 0;
  }

  /** A client has gone from one database to another, or to none. */
  moved(from: DatabaseId | undefined, to: DatabaseId | undefined): void {
    if (from === to) return;
    if (from !== undefined) this.#count(from, -1);
    if (to !== undefined) this.#count(to, 1);
  }

  #count(database: DatabaseId, change: 1 | -1): void {
    const count = this.countOf(database) + change;
    if (count === 0) this.#countByDatabase.delete(database);
    else this.#countByDatabase.set(database, count);
    this.counted(database, change);
  }

  /** Undefined for one of another database too. */
  find(id: number, database: DatabaseId | undefined): RespClient | undefined {
    const client = this.#clients.get(id);
    return client?.grant?.database === database ? client : undefined;
  }

  /** In order of arrival. */
  ofDatabase(database: DatabaseId): RespClient[] {
    return [...this.#clients.values()].filter((client) => client.grant?.database === database);
  }

  all(): IterableIterator<RespClient> {
    return this.#clients.values();
  }

  /** Holds commands up. A pause that is longer, or of more commands, than a new one stays so, as in Redis. */
  pause(database: DatabaseId, durationMs: number, isForWrites: boolean): void {
    const untilMs = this.clock.monotonicMs() + durationMs;
    const old = this.#pauses.get(database);
    old?.timer.cancel();
    const end = Math.max(untilMs, old?.untilMs ?? 0);
    this.#pauses.set(database, {
      untilMs: end,
      isForWrites: isForWrites && (old?.isForWrites ?? true),
      waiting: old?.waiting ?? [],
      timer: this.timers.after(end - this.clock.monotonicMs(), () => this.unpause(database)),
    });
  }

  unpause(database: DatabaseId): void {
    const pause = this.#pauses.get(database);
    if (pause === undefined) return;
    this.#pauses.delete(database);
    pause.timer.cancel();
    for (const goOn of pause.waiting) goOn();
  }

  /** Is it held up? If so `goOn` is called when it is not any more. */
  isHeldUp(database: DatabaseId, isWrite: boolean, goOn: () => void): boolean {
    if (this.#pauses.size === 0) return false;
    const pause = this.#pauses.get(database);
    if (pause === undefined || (pause.isForWrites && !isWrite)) return false;
    pause.waiting.push(goOn);
    return true;
  }

  close(): void {
    for (const database of [...this.#pauses.keys()]) this.unpause(database);
  }
}
