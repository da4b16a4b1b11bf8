/**
 * One connection to an origin. It carries one call at a time, and is used again when its call came to a clean end and
 * neither side has said otherwise.
 *
 *  CNX1 without a call it is ended by whatever it brings: no call may take it for its answer, and nobody counts it
 *  CNX2 a call is told of its answer, or of one failure, and of nothing once it has left
 *  CNX3 all connections read into one place, one after the other: what is kept of it is copied
 */
import type { Socket } from 'node:net';
import { type AnswerListener, AnswerParser } from './answer-parser.js';
import type { Connector, ConnectTarget } from './connector.js';
import { CallFailure, ConnectionLost, INVALID } from './failure-words.js';

/** A call as its connection sees it. */
export interface Passenger extends AnswerListener {
  /** This is its connection from now on; it tells `release` when it is over. */
  board(connection: Connection): void;
  /** Asked when it is sent at once. Undefined: it has left instead. */
  request(): SentRequest | undefined;
  /** Bytes that came from its connection, before anything looks at them; those of TLS itself are not among them. */
  received(bytes: number): void;
  /** False: what comes next waits for `goOn`. */
  readonly readsOn: boolean;
  onError(error: unknown): void;
}

export interface ConnectionOptions {
  readonly connector: Connector;
  readonly maxHeaderBytes: number;
}

/** A request as it goes out. */
export interface SentRequest {
  readonly head: string;
  readonly body: Uint8Array;
  /** Of HEAD. */
  readonly hasBodylessAnswer: boolean;
}

const READ_BYTES = 64 * 1024;
/** CNX3. What is read is looked at before the next connection is read from. */
const reading = Buffer.allocUnsafeSlow(READ_BYTES);
/** Given to the parser at once: between two of them a call looks at what it has received. */
const PIECE_BYTES = 4096;
/** A body as long is joined to its head: one write costs less than two. */
const JOINED_BYTES = 16 * 1024;
/** Where the other end does not say how long it keeps a connection without a call. */
const KEPT_MS = 4000;
/** It is left so long before the other end closes it. */
const LEFT_BEFORE_MS = 2000;
const LONGEST_KEPT_MS = 600_000;

export class Connection {
  readonly #socket: Socket;
  readonly #parser: AnswerParser;
  #passenger: Passenger | undefined;
  #isReady = false;
  #isGone = false;
  /** Calls that came to a clean end. */
  #callsBefore = 0;
  /** On the monotonic clock: without a call it is not used from then on. */
  keptUntilMs = 0;

  constructor(
    target: ConnectTarget,
    { connector, maxHeaderBytes }: ConnectionOptions,
    /** It has ended without a call. */
    private readonly lost: (connection: Connection) => void,
  ) {
    this.#parser = new AnswerParser(maxHeaderBytes);
    const onread = { buffer: reading, callback: (bytes: number) => this.#read(bytes) };
    this.#socket = connector.connect(target, onread, (...[error]) => this.#connected(error));
  }

  /** It has carried a call before: its other end may have closed it since. */
  get isReused(): boolean {
    return this.#callsBefore > 0;
  }

  carry(passenger: Passenger): void {
    this.#passenger = passenger;
    passenger.board(this);
    if (this.#isReady) this.#send();
  }

  /** Its call came to a clean end. @returns whether it may carry another */
  empty(nowMs: number): boolean {
    this.#passenger = undefined;
    this.#callsBefore += 1;
    const { keptMs, mayGoOn } = this.#parser;
    const leftMs = keptMs === undefined ? KEPT_MS : Math.min(keptMs - LEFT_BEFORE_MS, LONGEST_KEPT_MS);
    this.keptUntilMs = nowMs + leftMs;
    // An answer that came before the whole of its request leaves the rest of that behind.
    return mayGoOn && leftMs > 0 && this.#socket.writableLength === 0 && !this.#isGone;
  }

  /** Its passenger reads on. */
  goOn(): void {
    if (!this.#isGone) this.#socket.resume();
  }

  /** Also while it is being made. */
  destroy(): void {
    this.#isGone = true;
    this.#passenger = undefined;
    this.#parser.stop();
    this.#socket.destroy();
  }

  #connected(error: unknown): void {
    if (error !== null) {
      this.#end(error);
      return;
    }
    this.#isReady = true;
    const socket = this.#socket;
    socket.on('error', (failure) => this.#fail(failure));
    socket.on('end', () => this.#finish());
    socket.on('close', () => this.#finish());
    this.#send();
  }

  #send(): void {
    const request = this.#passenger?.request();
    if (request !== undefined) this.#write(request);
  }

  #write({ head, body, hasBodylessAnswer }: SentRequest): void {
    this.#parser.expect(this.#passenger as Passenger, hasBodylessAnswer);
    const socket = this.#socket;
    if (body.length === 0) {
      socket.write(head, 'latin1');
    } else if (body.length <= JOINED_BYTES) {
      socket.write(head + latin1(body), 'latin1');
    } else {
      socket.cork();
      socket.write(head, 'latin1');
      socket.write(body);
      socket.uncork();
    }
  }

  /** @returns whether to read on */
  #read(bytes: number): boolean {
    for (let at = 0; at < bytes && !this.#isGone; at += PIECE_BYTES) {
      const end = Math.min(bytes, at + PIECE_BYTES);
      this.#passenger?.received(end - at);
      if (!this.#isGone && this.#parse(at, end) < end) this.#end(new CallFailure(INVALID));
    }
    return this.#passenger?.readsOn ?? true;
  }

  #parse(from: number, to: number): number {
    try {
      return this.#parser.read(reading, from, to);
    } catch (failure) {
      this.#end(failure);
      return to;
    }
  }

  /** Of an answer that ends with its connection even a reset is the end. */
  #fail(error: NodeJS.ErrnoException): void {
    if (error.code === 'ECONNRESET' && this.#parser.mayEnd) this.#finish();
    else this.#end(error);
  }

  #finish(): void {
    if (this.#isGone) return;
    try {
      this.#parser.end();
      this.#end(new ConnectionLost());
    } catch (failure) {
      this.#end(failure);
    }
  }

  /** CNX1, CNX2 */
  #end(error: unknown): void {
    if (this.#isGone) return;
    const passenger = this.#passenger;
    if (passenger !== undefined) {
      passenger.onError(error);
      return;
    }
    this.destroy();
    this.lost(this);
  }
}

function latin1(bytes: Uint8Array): string {
  const buffer = bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return buffer.toString('latin1');
}
