/**
 * One connection to an origin. It carries one call at a time, and is reused after a complete call unless either side
 * refuses.
 *
 *  CNX1 bytes that arrive without a call end the connection, because they must not be taken for a later call's answer
 *  CNX2 a call receives its answer or one failure, and no more after it has left
 *  CNX3 all connections read into one shared buffer in turn; kept bytes are copied
 */

import type { Socket } from 'node:net';
import { bufferOver } from '../../kernel/index.js';
import { type AnswerListener, AnswerParser } from './answer-parser.js';
import type { Connector, ConnectTarget } from './connector.js';
import { CallFailure, ConnectionLost, INVALID } from './failure-words.js';

/** A call as its connection sees it. */
export interface Passenger extends AnswerListener {
  /** Assigns the connection; the call ends with `release`. */
  board(connection: Connection): void;
  /** The request to send now. Undefined: the call has left. */
  request(): SentRequest | undefined;
  /** Bytes from the connection, before parsing and without those of TLS. */
  received(bytes: number): void;
  /** False pauses reading until `goOn`. */
  readonly readsOn: boolean;
  onError(error: unknown): void;
}

export interface ConnectionOptions {
  readonly connector: Connector;
  readonly maxHeaderBytes: number;
}

/** A request as it is sent. */
export interface SentRequest {
  readonly head: string;
  readonly body: Uint8Array;
  /** For HEAD. */
  readonly hasBodylessAnswer: boolean;
}

const READ_BYTES = 64 * 1024;
/** Shared (CNX3); parsed before the next connection is read. */
const reading = Buffer.allocUnsafeSlow(READ_BYTES);
/** Bytes parsed in one step; a call checks its received bytes between two steps. */
const PIECE_BYTES = 4096;
/** A shorter body is joined to its head, because one write is cheaper than two. */
const JOINED_BYTES = 16 * 1024;
/** When the server does not say how long it keeps an idle connection. */
const KEPT_MS = 4000;
/** A connection is no longer used this long before the server closes it. */
const LEFT_BEFORE_MS = 2000;
const LONGEST_KEPT_MS = 600_000;

export class Connection {
  readonly #socket: Socket;
  readonly #parser: AnswerParser;
  #passenger: Passenger | undefined;
  #isReady = false;
  #isGone = false;
  /** Complete calls so far. */
  #callsBefore = 0;
  /** On the monotonic clock: from then on an idle connection is not reused. */
  keptUntilMs = 0;

  constructor(
    target: ConnectTarget,
    { connector, maxHeaderBytes }: ConnectionOptions,
    /** Called when it ends without a call. */
    private readonly lost: (connection: Connection) => void,
  ) {
    this.#parser = new AnswerParser(maxHeaderBytes);
    const onread = { buffer: reading, callback: (bytes: number) => this.#read(bytes) };
    this.#socket = connector.connect(target, onread, (...[error]) => this.#connected(error));
  }

  /** True after an earlier call: the server may have closed it since. */
  get isReused(): boolean {
    return this.#callsBefore > 0;
  }

  carry(passenger: Passenger): void {
    this.#passenger = passenger;
    passenger.board(this);
    if (this.#isReady) this.#send();
  }

  /** The call is complete. @returns true when the connection may carry another */
  empty(nowMs: number): boolean {
    this.#passenger = undefined;
    this.#callsBefore += 1;
    const { keptMs, mayGoOn } = this.#parser;
    const leftMs = keptMs === undefined ? KEPT_MS : Math.min(keptMs - LEFT_BEFORE_MS, LONGEST_KEPT_MS);
    this.keptUntilMs = nowMs + leftMs;
    // After an answer to an incomplete request, the rest of that request is still unsent.
    return mayGoOn && leftMs > 0 && this.#socket.writableLength === 0 && !this.#isGone;
  }

  /** The call continues reading. */
  goOn(): void {
    if (!this.#isGone) this.#socket.resume();
  }

  /** Also while it is connecting. */
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

  /** @returns whether to continue reading */
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

  /** For an answer that ends with its connection, a reset counts as the end. */
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

  /** Reports one end to the call, or to the owner of an idle connection (CNX1, CNX2). */
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
  const buffer = bytes instanceof Buffer ? bytes : bufferOver(bytes);
  return buffer.toString('latin1');
}
