/**
 * Connections with plain requests: each request arrives in one piece, is answered here, and costs 6 µs less than
 * through Node's server (docs/decisions/http.md). The first request that is not plain goes to Node's server with all later
 * bytes, and the connection stays there.
 *
 *  PLC1 only a complete request is taken; this file never waits for more bytes, so Node's server judges slow senders
 *  PLC2 one request at a time; later bytes are read after its answer, in order
 *  PLC3 a connection is handed over between two requests, with all unanswered bytes
 *  PLC4 the limits of time and size are those of the server
 *  PLC5 bytes above ASCII in a request's target are percent-encoded before any reader: in every request that is
 *       answered here, and in the first one after a hand-over
 */
import type { Socket } from 'node:net';
import { getDefaultHighWaterMark } from 'node:stream';
import type { Clock } from '../../ports/index.js';
import type { HttpLimits } from './http-limits.js';
import { withEncodedTarget } from './percent-encoding.js';
import { type PlainAnswers, PlainRequest, PlainResponse } from './plain-exchange.js';
import { type PlainHead, PlainHeads } from './plain-head.js';
import type { RequestMetrics } from './request-metrics.js';
import { endRequest, type RequestTraces } from './request-traces.js';

/** A longer body is counted against its tenant while it arrives, and mostly arrives in several pieces. */
const MAX_PLAIN_BODY_BYTES = 16 * 1024;

/** Fills the buffer of a socket's stream. */
const FILLER = Buffer.alloc(getDefaultHighWaterMark(false));

const END_OF_HEAD = Buffer.from('\r\n\r\n');

export interface PlainParts {
  readonly clock: Clock;
  readonly limits: HttpLimits;
  handle(request: PlainRequest, response: PlainResponse): void;
  /** Gives the connection to Node's server. */
  accept(socket: Socket): void;
  /** Are the grants current, so that a request can be checked? */
  isFresh(): boolean;
  /** Counts each finished answer. */
  readonly requests: RequestMetrics;
  /**
   * False: Node's server answers all requests, and connections are only prepared for it (PLC5: bytes above ASCII are
   * percent-encoded).
   */
  readonly answers: boolean;
  /** Undefined: no traces. */
  readonly traces: RequestTraces | undefined;
  /** Answers a connection that sent no request in time. */
  refuseSilent(socket: Socket): void;
}

export class PlainConnections implements PlainAnswers {
  readonly keepAlive: string;
  readonly keepAliveMs: number;
  readonly stalledMs: number;
  readonly #open = new Set<PlainConnection>();
  #isEnding = false;
  #isLeaving = false;
  /** Time of the last answer, taken from the clock that each answer reads for its `Date`. */
  usedAtMs = Number.NEGATIVE_INFINITY;
  #second = 0;
  #dateText = '';

  constructor(readonly parts: PlainParts) {
    this.keepAliveMs = parts.limits.keepAliveTimeoutMs;
    this.stalledMs = parts.limits.stalledSocketTimeoutMs;
    const seconds = Math.floor(this.keepAliveMs / 1000);
    this.keepAlive = `Connection: keep-alive\r\nKeep-Alive: timeout=${seconds}\r\n`;
  }

  add(socket: Socket): void {
    const connection = new PlainConnection(socket, this, () => this.#open.delete(connection));
    this.#open.add(connection);
  }

  get isEnding(): boolean {
    return this.#isEnding;
  }

  get isLeaving(): boolean {
    return this.#isLeaving;
  }

  /** Node's server answers all later requests and closes their connections. */
  leave(): void {
    this.#isLeaving = true;
  }

  /** Idle connections close now, the others after their answer. */
  end(): void {
    this.#isEnding = true;
    for (const connection of this.#open) connection.endIfIdle();
  }

  dateText(): string {
    this.usedAtMs = this.parts.clock.nowMs();
    const second = Math.floor(this.usedAtMs / 1000);
    if (second !== this.#second) {
      this.#second = second;
      this.#dateText = new Date(second * 1000).toUTCString();
    }
    return this.#dateText;
  }
}

class PlainConnection {
  readonly #heads: PlainHeads;
  #answering: PlainResponse | undefined;
  /** Bytes after the request that is being answered. */
  #waiting: Buffer | undefined;
  #hasAsked = false;
  /** The stream has the filler, and Node does not read. */
  #isFilled = false;
  #askedAtMs = 0;
  readonly #onData = (bytes: Buffer) => this.#receive(bytes);
  readonly #onEnd = () => this.socket.end();
  readonly #onError = () => {};
  readonly #onTimeout = () => this.#timeOut();
  readonly #onClose = () => {
    this.onGone();
    this.#answering?.close();
  };

  constructor(
    private readonly socket: Socket,
    private readonly all: PlainConnections,
    private readonly onGone: () => void,
  ) {
    const { limits } = all.parts;
    this.#heads = new PlainHeads(limits);
    socket.on('data', this.#onData).on('end', this.#onEnd).on('error', this.#onError);
    socket.on('timeout', this.#onTimeout).on('close', this.#onClose);
    socket.setTimeout(limits.headersTimeoutMs);
  }

  endIfIdle(): void {
    if (this.#answering === undefined) this.socket.destroy();
  }

  #receive(bytes: Buffer): void {
    if (bytes.buffer === FILLER.buffer) {
      this.#isFilled = false;
      return;
    }
    if (this.#answering !== undefined || this.#waiting !== undefined) {
      //  PLC2 (one request at a time): the system's buffer holds the rest.
      this.#waiting = this.#waiting === undefined ? bytes : Buffer.concat([this.#waiting, bytes]);
      this.#stopReading();
      return;
    }
    const { parts } = this.all;
    const isAnswered = parts.answers && parts.isFresh() && !this.all.isLeaving;
    const headEnd = isAnswered ? bytes.indexOf(END_OF_HEAD) : -1;
    const head = headEnd < 0 ? undefined : this.#heads.read(bytes.toString('latin1', 0, headEnd));
    const bodyStart = headEnd + END_OF_HEAD.length;
    const end = bodyStart + (head?.bodyBytes ?? 0);
    if (head !== undefined && head.bodyBytes <= MAX_PLAIN_BODY_BYTES && end <= bytes.length) {
      this.#answer(head, bytes, bodyStart, end);
      return;
    }
    const encoded = withEncodedTarget(bytes); // PLC5 (bytes above ASCII are percent-encoded).
    if (encoded === bytes || !isAnswered) this.#handOver(encoded);
    else this.#receive(encoded);
  }

  #answer(head: PlainHead, bytes: Buffer, bodyStart: number, end: number): void {
    const { parts } = this.all;
    const { socket } = this;
    if (!this.#hasAsked) {
      this.#hasAsked = true;
      socket.setTimeout(this.all.keepAliveMs);
    }
    this.#askedAtMs = parts.clock.monotonicMs();
    const request = new PlainRequest(head, bytes.subarray(bodyStart, end), socket, () => {
      this.#answering = undefined;
      this.#waiting = undefined;
      this.#handOver(bytes);
    });
    if (parts.traces !== undefined) request.trace = parts.traces.begin(request);
    this.#waiting = end < bytes.length ? bytes.subarray(end) : undefined;
    const response = new PlainResponse(request, this.all, () => this.#answered(response));
    this.#answering = response;
    parts.handle(request, response);
  }

  #answered(response: PlainResponse): void {
    const { socket } = this;
    const { clock, requests } = this.all.parts;
    const { route, method, trace } = response.req;
    requests.answered(route, response.statusCode, clock.monotonicMs() - this.#askedAtMs);
    if (trace !== undefined) endRequest(trace, method, route, response.statusCode);
    this.#answering = undefined;
    if (response.isLast || this.all.isEnding) socket.destroySoon();
    else if (this.#waiting !== undefined) queueMicrotask(() => this.#goOn());
    else if (this.#isFilled) socket.resume();
  }

  /**
   * Node stops reading a socket while the buffer of its stream is full. Without the filler a paused stream would read on
   * until then, and each byte restarts the timeout of a client that does not read its answer: one byte a minute would
   * keep the answer in memory.
   */
  #stopReading(): void {
    if (this.#isFilled) return;
    this.#isFilled = true;
    this.socket.pause().unshift(FILLER);
  }

  /**
   *  PLC2 (later bytes are read after the answer).
   */
  #goOn(): void {
    const waiting = this.#waiting;
    if (waiting === undefined || this.socket.destroyed) return;
    this.#waiting = undefined;
    this.#receive(waiting);
  }

  /**
   *  PLC3 (hands the connection over with all unanswered bytes).
   */
  #handOver(bytes: Buffer): void {
    const { socket } = this;
    socket.off('data', this.#onData).off('end', this.#onEnd).off('error', this.#onError);
    socket.off('timeout', this.#onTimeout).off('close', this.#onClose);
    socket.setTimeout(0);
    this.onGone();
    if (this.#isFilled) socket.read(FILLER.length);
    // A flowing stream would read on where Node's server stops reading: after a refused long body.
    socket.pause();
    this.all.parts.accept(socket);
    socket.emit('data', bytes);
    socket.resume();
  }

  #timeOut(): void {
    if (this.#hasAsked) this.socket.destroy();
    else this.all.parts.refuseSilent(this.socket);
  }
}
