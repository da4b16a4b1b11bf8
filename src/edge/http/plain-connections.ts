/**
 * Connections whose requests are plain: each is there in one piece, is answered here, and costs 6 µs less than through
 * Node's server (docs/adr/0057). The first request that is not plain goes to that server with everything behind it, and the
 * connection stays there.
 *
 *  PLC1 only what is there as a whole is taken: nothing is waited for, so slow senders are Node's to judge
 *  PLC2 one request at a time; what arrives meanwhile is looked at when it has been answered, in order
 *  PLC3 a connection is handed over between two requests, with all bytes that were not answered
 *  PLC4 bounds of time and size are those of the server
 */
import type { Socket } from 'node:net';
import type { Clock } from '../../ports/index.js';
import type { HttpLimits } from './http-limits.js';
import { type PlainAnswers, PlainRequest, PlainResponse } from './plain-exchange.js';
import { type PlainHead, PlainHeads } from './plain-head.js';
import type { RequestMetrics } from './request-metrics.js';
import { endRequest, type RequestTraces } from './request-traces.js';

/** A longer body is counted for its tenant while it arrives, and mostly comes in several pieces. */
const MAX_PLAIN_BODY_BYTES = 16 * 1024;

const END_OF_HEAD = Buffer.from('\r\n\r\n');

export interface PlainParts {
  readonly clock: Clock;
  readonly limits: HttpLimits;
  handle(request: PlainRequest, response: PlainResponse): void;
  /** Node's server takes over. */
  accept(socket: Socket): void;
  /** Could a request be judged right now? */
  isFresh(): boolean;
  /** Told of each answer when it is over. */
  readonly requests: RequestMetrics;
  /** Undefined: nothing is traced. */
  readonly traces: RequestTraces | undefined;
  /** Nothing was said for too long. */
  refuseSilent(socket: Socket): void;
}

export class PlainConnections implements PlainAnswers {
  readonly keepAlive: string;
  readonly keepAliveMs: number;
  readonly stalledMs: number;
  readonly #open = new Set<PlainConnection>();
  #isEnding = false;
  #isLeaving = false;
  /** When something was answered last: a clock is read for each answer as it is. */
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

  /** What comes from now on is answered by Node's server, as its connection's last. */
  leave(): void {
    this.#isLeaving = true;
  }

  /** Those without a request end now, the others with its answer. */
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

interface Handle {
  readStart(): void;
  readStop(): void;
}

class PlainConnection {
  readonly #heads: PlainHeads;
  #answering: PlainResponse | undefined;
  /** What came behind the request that is being answered. */
  #waiting: Buffer | undefined;
  #hasAsked = false;
  #isReading = true;
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
    if (this.#answering !== undefined || this.#waiting !== undefined) {
      // PLC2: the system holds the rest.
      this.#waiting = this.#waiting === undefined ? bytes : Buffer.concat([this.#waiting, bytes]);
      this.#read(false);
      return;
    }
    const { parts } = this.all;
    const headEnd = parts.isFresh() && !this.all.isLeaving ? bytes.indexOf(END_OF_HEAD) : -1;
    const head = headEnd < 0 ? undefined : this.#heads.read(bytes.toString('latin1', 0, headEnd));
    const bodyStart = headEnd + END_OF_HEAD.length;
    const end = bodyStart + (head?.bodyBytes ?? 0);
    if (head === undefined || head.bodyBytes > MAX_PLAIN_BODY_BYTES || end > bytes.length) this.#handOver(bytes);
    else this.#answer(head, bytes, bodyStart, end);
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
    else this.#read(true);
  }

  /** PLC2 */
  #goOn(): void {
    const waiting = this.#waiting;
    if (waiting === undefined || this.socket.destroyed) return;
    this.#waiting = undefined;
    this.#receive(waiting);
  }

  /**
   * A paused stream would read on for a while, and a client that does not read its answer would be taken for one that is
   * alive by what it sends. The stream is left in the belief that it reads, or it would begin again by itself.
   */
  #read(isReading: boolean): void {
    const { _handle: handle } = this.socket as unknown as { readonly _handle: Handle | null };
    if (this.#isReading === isReading || handle === null) return;
    this.#isReading = isReading;
    if (isReading) handle.readStart();
    else handle.readStop();
  }

  /** PLC3 */
  #handOver(bytes: Buffer): void {
    const { socket } = this;
    socket.off('data', this.#onData).off('end', this.#onEnd).off('error', this.#onError);
    socket.off('timeout', this.#onTimeout).off('close', this.#onClose);
    socket.setTimeout(0);
    this.onGone();
    // A stream that flows would read on by itself where Node's server stops reading: behind a long body that is refused.
    socket.pause();
    this.all.parts.accept(socket);
    socket.emit('data', bytes);
    this.#read(true);
    socket.resume();
  }

  #timeOut(): void {
    if (this.#hasAsked) this.socket.destroy();
    else this.all.parts.refuseSilent(this.socket);
  }
}
