/**
 * The connections to one origin. A connection carries one call at a time and is used again when its call came to
 * a clean end; otherwise it is thrown away, so that nothing of an ended call can stay in it.
 *
 * Invariants
 *  OC1 no more than `maxSockets` connections at a time, whatever state they are in
 *  OC2 calls beyond that wait in order of arrival; one that ends meanwhile leaves at once
 *  OC3 a connection without a call is closed by whatever it brings: no call may take it for its answer, and nobody
 *      counts it
 */
import type { Socket } from 'node:net';
import { Client } from 'undici';
import type { Connector } from './connector.js';
import { readInPieces } from './read-in-pieces.js';

/** A call as its origin's connections see it. */
export interface Passenger {
  /** Sends itself; tells `release` when it is over. */
  board(connection: Connection): void;
  /** Bytes that came from its connection, before anything looks at them; those of TLS itself are not among them. */
  received(bytes: number): void;
}

export interface OriginOptions {
  readonly connector: Connector;
  readonly maxSockets: number;
  readonly maxHeaderBytes: number;
}

export class Connection {
  readonly client: Client;
  #socket: Socket | undefined;
  #passenger: Passenger | undefined;
  /** Calls that came to a clean end on the present socket. */
  #callsBefore = 0;

  constructor(origin: string, { connector, maxHeaderBytes }: OriginOptions) {
    this.client = new Client(origin, {
      connect: (target, connected) => {
        const socket = connector.connect(target, (...result) => connected(...result));
        this.#socket = socket;
        this.#callsBefore = 0;
        readInPieces(socket, (bytes) => this.#received(socket, bytes));
      },
      pipelining: 1,
      maxHeaderSize: maxHeaderBytes,
      // The whole call has one time limit, kept by the call itself.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  }

  /** The socket has carried a call before: its other end may have closed it since. */
  get isReused(): boolean {
    return this.#callsBefore > 0;
  }

  carry(passenger: Passenger): void {
    this.#passenger = passenger;
    passenger.board(this);
  }

  /** Its call came to a clean end. */
  empty(): void {
    this.#passenger = undefined;
    this.#callsBefore += 1;
  }

  /** OC3 */
  #received(socket: Socket, bytes: number): void {
    if (this.#passenger === undefined) socket.destroy();
    else this.#passenger.received(bytes);
  }

  /** Also while it is being made. */
  destroy(): void {
    this.client.destroy(null, ignore);
    this.#socket?.destroy();
  }
}

export class OriginConnections {
  readonly #waiting = new Set<Passenger>();
  readonly #free: Connection[] = [];
  readonly #all = new Set<Connection>();
  #isPumping = false;

  constructor(
    readonly origin: string,
    readonly options: OriginOptions,
  ) {}

  get isIdle(): boolean {
    return this.#free.length === this.#all.size && this.#waiting.size === 0;
  }

  get socketCount(): number {
    return this.#all.size;
  }

  get waitingCount(): number {
    return this.#waiting.size;
  }

  /** At once where there is room, else later, unless it leaves before. */
  enter(passenger: Passenger): void {
    const connection = this.#waiting.size === 0 ? this.#take() : undefined;
    if (connection === undefined) this.#waiting.add(passenger);
    else connection.carry(passenger);
  }

  /** Takes the passenger off a connection that was lost, and has it board a new one in its place. */
  replace(lost: Connection, passenger: Passenger): void {
    this.#all.delete(lost);
    lost.destroy();
    this.#make().carry(passenger);
  }

  /** A waiting one leaves. */
  leave(passenger: Passenger): void {
    this.#waiting.delete(passenger);
  }

  /** @param isClean the call came to its end and left nothing behind */
  release(connection: Connection, isClean: boolean): void {
    if (isClean) {
      connection.empty();
      this.#free.push(connection);
    } else {
      this.#all.delete(connection);
      connection.destroy();
    }
    if (this.#waiting.size > 0 && !this.#isPumping) {
      this.#isPumping = true;
      // Not from within the parser of the response that has just ended.
      queueMicrotask(() => this.#pump());
    }
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

  /** The one that was used last: the others grow idle and close. */
  #take(): Connection | undefined {
    const free = this.#free.pop();
    if (free !== undefined || this.#all.size >= this.options.maxSockets) return free;
    return this.#make();
  }

  #make(): Connection {
    const made = new Connection(this.origin, this.options);
    this.#all.add(made);
    return made;
  }
}

function ignore(): void {}
