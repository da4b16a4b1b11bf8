/**
 * A plain request and its response: the members of Node's objects that the handlers of plain requests use, without
 * streams. The bytes of an answer are the same as Node's.
 */
import { EventEmitter } from 'node:events';
import { type IncomingHttpHeaders, type OutgoingHttpHeaders, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Span } from '../../protocol/index.js';
import type { HttpResponse, ReceivedRequest } from './exchange.js';
import type { PlainHead } from './plain-head.js';
import { CLIENT_GONE, NO_ROUTE } from './request-metrics.js';

export class PlainRequest implements ReceivedRequest {
  /** The whole request has arrived. */
  readonly complete = true;
  /** The label in metrics: the declared route, after it was found. */
  route = NO_ROUTE;
  /** Undefined: not traced. */
  trace: Span | undefined;

  readonly method: PlainHead['method'];
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];

  constructor(
    head: PlainHead,
    readonly body: Buffer,
    readonly socket: Socket,
    /** Gives the request, and all later bytes of its connection, to Node's server. It must not have an answer yet. */
    readonly handOver: () => void,
  ) {
    this.method = head.method;
    this.url = head.url;
    this.headers = head.headers;
    this.rawHeaders = head.rawHeaders;
  }
}

/** Parts of an answer that do not depend on its request. */
export interface PlainAnswers {
  /** The value of `Date`. */
  dateText(): string;
  /** `Connection` and `Keep-Alive` of an answer after which the connection stays open. */
  readonly keepAlive: string;
  /** How long an idle connection stays open, and one with a client that does not read. */
  readonly keepAliveMs: number;
  readonly stalledMs: number;
}

/** Emits `close` when the client has read the answer or has disconnected. */
export class PlainResponse extends EventEmitter implements HttpResponse {
  headersSent = false;
  statusCode = CLIENT_GONE;
  closed = false;
  /** Does the connection close after it? */
  isLast = false;
  #ended = false;
  #isChunked = false;
  #head = '';
  #headers: [name: string, value: string][] = [];

  constructor(
    readonly req: PlainRequest,
    private readonly answers: PlainAnswers,
    private readonly onDone: (response: PlainResponse) => void,
  ) {
    super();
  }

  get destroyed(): boolean {
    return this.closed || !this.req.socket.writable;
  }

  get writableEnded(): boolean {
    return this.#ended;
  }

  /** Closes the connection in the middle of the answer. */
  destroy(): void {
    this.req.socket.destroy();
  }

  setHeader(name: string, value: string | number): void {
    this.#headers.push([name, String(value)]);
  }

  /** @param headers alternating names and values, or an object */
  writeHead(status: number, headers: readonly string[] | OutgoingHttpHeaders): void {
    this.statusCode = status;
    let head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'unknown'}\r\n`;
    let hasLength = false;
    let namesConnection = false;
    const add = (name: string, value: string) => {
      head += `${name}: ${value}\r\n`;
      if (name === 'Content-Length') hasLength = true;
      if (name !== 'Connection') return;
      namesConnection = true;
      this.isLast = value === 'close';
    };
    for (const [name, value] of this.#headers) add(name, value);
    if (isFlat(headers)) {
      for (let at = 0; at < headers.length; at += 2) add(headers[at] as string, headers[at + 1] as string);
    } else {
      for (const name in headers) add(name, String(headers[name]));
    }
    head += `Date: ${this.answers.dateText()}\r\n`;
    if (!namesConnection) head += this.answers.keepAlive;
    this.#isChunked = !hasLength;
    if (this.#isChunked) head += 'Transfer-Encoding: chunked\r\n';
    this.#head = `${head}\r\n`;
    this.headersSent = true;
  }

  /** @returns whether the socket took the piece; if not, `drain` follows */
  write(piece: string, encoding: BufferEncoding): boolean {
    if (this.destroyed || piece === '') return true;
    const isTaken = this.#send(piece, encoding);
    if (!isTaken) this.#whenTaken(() => this.emit('drain'));
    return isTaken;
  }

  end(piece = '', encoding: BufferEncoding = 'latin1'): void {
    if (this.#ended || this.closed) return;
    this.#ended = true;
    const { socket } = this.req;
    if (socket.writable) {
      const isTaken = this.#isChunked ? this.#sendLast(piece, encoding) : this.#send(piece, encoding);
      if (!isTaken) {
        this.#whenTaken(() => this.close());
        return;
      }
    }
    this.close();
  }

  /** The client has read the answer or has disconnected. */
  close(): void {
    if (this.closed) return;
    this.closed = true;
    this.emit('close');
    this.onDone(this);
  }

  #whenTaken(then: () => void): void {
    const { socket } = this.req;
    socket.setTimeout(this.answers.stalledMs);
    socket.once('drain', () => {
      socket.setTimeout(this.answers.keepAliveMs);
      then();
    });
  }

  #send(piece: string, encoding: BufferEncoding): boolean {
    const head = this.#head;
    this.#head = '';
    const text = this.#isChunked ? `${chunkHead(piece, encoding)}${piece}\r\n` : piece;
    return this.req.socket.write(head + text, encoding);
  }

  #sendLast(piece: string, encoding: BufferEncoding): boolean {
    if (piece !== '') this.#send(piece, encoding);
    const head = this.#head;
    this.#head = '';
    return this.req.socket.write(`${head}0\r\n\r\n`, 'latin1');
  }
}

function chunkHead(piece: string, encoding: BufferEncoding): string {
  return `${Buffer.byteLength(piece, encoding).toString(16)}\r\n`;
}

function isFlat(headers: readonly string[] | OutgoingHttpHeaders): headers is readonly string[] {
  return Array.isArray(headers);
}
