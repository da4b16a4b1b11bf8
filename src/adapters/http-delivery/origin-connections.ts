/**
 * The connections to one origin. A connection is reused after a complete call and closed otherwise, so that no bytes of
 * an ended call remain in it.
 *
 *  OC1 at most `maxSockets` connections at a time, in any state
 *  OC2 further calls wait in order of arrival; a call that ends while waiting leaves immediately
 *  OC3 a connection that ends without a call is dropped, and one that the server is about to close is not used
 */
import { Connection, type ConnectionOptions, type Passenger } from './connection.js';

export interface OriginOptions extends ConnectionOptions {
  readonly maxSockets: number;
}

export class OriginConnections {
  readonly #waiting = new Set<Passenger>();
  readonly #free: Connection[] = [];
  readonly #all = new Set<Connection>();
  readonly #target: URL;
  #isPumping = false;

  constructor(
    readonly origin: string,
    readonly options: OriginOptions,
  ) {
    this.#target = new URL(origin);
  }

  get isIdle(): boolean {
    return this.#free.length === this.#all.size && this.#waiting.size === 0;
  }

  get socketCount(): number {
    return this.#all.size;
  }

  get waitingCount(): number {
    return this.#waiting.size;
  }

  /** Starts now if there is room, otherwise later, unless the call leaves before. */
  enter(passenger: Passenger): void {
    const connection = this.#waiting.size === 0 ? this.#take() : undefined;
    if (connection === undefined) this.#waiting.add(passenger);
    else connection.carry(passenger);
  }

  /** Moves the call from a lost connection to a new one in its place. */
  replace(lost: Connection, passenger: Passenger): void {
    this.#drop(lost);
    this.#make().carry(passenger);
  }

  /** Removes a waiting call. */
  leave(passenger: Passenger): void {
    this.#waiting.delete(passenger);
  }

  /** @param isClean  the call is complete */
  release(connection: Connection, isClean: boolean): void {
    if (isClean && connection.empty(performance.now())) this.#free.push(connection);
    else this.#drop(connection);
    if (this.#waiting.size > 0 && !this.#isPumping) {
      this.#isPumping = true;
      // Not within the parser of the response that has just ended.
      queueMicrotask(() => this.#pump());
    }
  }

  /** Closes connections that are not kept any longer. */
  closeIdle(nowMs: number): void {
    for (const connection of this.#free.filter(({ keptUntilMs }) => keptUntilMs <= nowMs)) this.#lost(connection);
  }

  destroy(): void {
    for (const connection of this.#all) connection.destroy();
    this.#all.clear();
    this.#free.length = 0;
  }

  #pump(): void {
    this.#isPumping = false;
    for (const passenger of this.#waiting) {
      const connection = this.#take();
      if (connection === undefined) return;
      this.#waiting.delete(passenger);
      connection.carry(passenger);
    }
  }

  /** The most recently used one, so that the others become idle and close. */
  #take(): Connection | undefined {
    const free = this.#free.pop();
    if (free !== undefined) {
      if (free.keptUntilMs > performance.now()) return free;
      this.#drop(free);
    }
    return this.#all.size < this.options.maxSockets ? this.#make() : undefined;
  }

  #make(): Connection {
    const made = new Connection(this.#target, this.options, (connection) => this.#lost(connection));
    this.#all.add(made);
    return made;
  }

  #lost(connection: Connection): void {
    const at = this.#free.indexOf(connection);
    if (at >= 0) this.#free.splice(at, 1);
    this.#drop(connection);
  }

  #drop(connection: Connection): void {
    this.#all.delete(connection);
    connection.destroy();
  }
}
