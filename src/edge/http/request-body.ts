/**
 * The whole body of a request, counted while it arrives.
 *
 *  RQB1 a body is refused as soon as its size is known to be too large: by its Content-Length, or at the first byte
 *       above the limit
 *  RQB2 bodies count against their tenant's budget until they are answered, and are refused when the budget is full
 *  RQB3 the rest of a refused body is read and discarded up to a limit, so that its client can read the answer; above
 *       it the connection is cut
 *  RQB4 a long body of a client with invalid credentials is not read at all
 *
 * The parser's pieces are taken where they enter the stream: a body of one piece, as nearly all are, is then read
 * without waiting for a tick. Measured: a tenth of the cost of a SET in this process.
 */
import { IncomingMessage, ServerResponse } from 'node:http';
import { assert, type ByteBudget, GrowingBytes, type Hold } from '../../kernel/index.js';
import type { Span } from '../../protocol/index.js';
import type { HttpExchange, HttpRequest, HttpResponse, ReceivedRequest } from './exchange.js';
import { MAX_DISCARDED_BYTES, MAX_STRANGERS_BODY_BYTES, STRANGERS_LINGER_MS } from './http-limits.js';
import { PlainRequest } from './plain-exchange.js';
import { NO_ROUTE } from './request-metrics.js';

/** A request with direct access to the pieces from the parser; its stream stays empty then. */
export class EndpointRequest extends IncomingMessage implements ReceivedRequest {
  #sink: ((chunk: Buffer | null) => void) | undefined;
  #held: (Buffer | null)[] = [];
  /** The label in metrics: the declared route, after it was found. */
  route = NO_ROUTE;
  /** Undefined: not traced. */
  trace: Span | undefined;

  /** @param sink called with each piece, and with null at the end; undefined: the rest goes to the stream */
  sendBodyTo(sink: ((chunk: Buffer | null) => void) | undefined): void {
    this.#sink = sink;
  }

  /** Keeps the pieces read so far, and stops reading until `goOn`. */
  hold(): void {
    const held: (Buffer | null)[] = [];
    this.#held = held;
    this.sendBodyTo((chunk) => held.push(chunk));
    this.socket.pause();
  }

  /** @param handle may take the body synchronously, as when a request arrives */
  goOn(handle: () => void): void {
    const held = this.#held;
    this.#held = [];
    this.sendBodyTo(undefined);
    handle();
    for (const chunk of held) this.push(chunk);
    this.socket.resume();
  }

  override push(chunk: Buffer | null): boolean {
    if (this.#sink === undefined) return super.push(chunk);
    this.#sink(chunk);
    return true;
  }
}

/** The body of such a request has no meaning. */
export const BODILESS_METHODS: ReadonlySet<string | undefined> = new Set(['GET', 'HEAD', 'OPTIONS']);

const EMPTY = Buffer.alloc(0);

export type BodyOutcome =
  | { readonly kind: 'whole'; readonly body: Buffer }
  /** `actualBytes`: the announced length, or the bytes received so far. */
  | { readonly kind: 'too-large'; readonly actualBytes: number }
  | { readonly kind: 'overloaded' }
  /** The client disconnected. */
  | { readonly kind: 'aborted' };

/** A body up to this size is not counted: the limit on connections bounds them. */
const UNCOUNTED_BYTES = 16 * 1024;

/** The pieces of a longer body are joined while they arrive. */
const LARGE_BYTES = 512 * 1024;

const NOTHING: BodyOutcome = { kind: 'whole', body: EMPTY };

export class RequestBodyReader {
  constructor(private readonly budget: ByteBudget) {}

  /**
   * Calls `done` once; synchronously if there is no body.
   *
   * @param tenant the tenant whose budget holds the body
   */
  read(
    { request, response }: HttpExchange,
    tenant: string,
    limitBytes: number,
    done: (outcome: BodyOutcome) => void,
  ): void {
    if (request instanceof PlainRequest) {
      done(ofRead(request.body, limitBytes));
      return;
    }
    assert(request instanceof EndpointRequest, 'a request that no server of ours has received');
    const announced = announcedBytes(request);
    if (announced === 0) {
      done(NOTHING);
      return;
    }
    if (announced > limitBytes) {
      discardBody(request);
      done({ kind: 'too-large', actualBytes: announced });
      return;
    }
    // Sent only now: a client that waits for 100 Continue has not sent a body that would be refused.
    if (request.headers.expect !== undefined && response instanceof ServerResponse) response.writeContinue();
    this.#collect({ request, response, announced }, tenant, limitBytes, done);
  }

  #collect(
    { request, response, announced }: { request: EndpointRequest; response: HttpResponse; announced: number },
    tenant: string,
    limitBytes: number,
    done: (outcome: BodyOutcome) => void,
  ): void {
    const chunks: Buffer[] = [];
    const large = new GrowingBytes(0, announced);
    let bytes = 0;
    let hold: Hold | undefined;
    const fits = () => {
      if (bytes <= UNCOUNTED_BYTES) return true;
      hold ??= this.budget.hold(tenant);
      return hold.resize(bytes);
    };
    const finish = (outcome: BodyOutcome) => {
      request.sendBodyTo(undefined);
      request.off('close', onClose);
      if (hold !== undefined) releaseLater(hold, outcome, response);
      if (outcome.kind === 'too-large' || outcome.kind === 'overloaded') discardBody(request);
      done(outcome);
    };
    const onClose = () => finish({ kind: 'aborted' });
    request.on('close', onClose);
    request.sendBodyTo((chunk) => {
      if (chunk === null) {
        finish({ kind: 'whole', body: large.length > 0 ? large.take() : joined(chunks, bytes) });
        return;
      }
      bytes += chunk.length;
      if (bytes > limitBytes) finish({ kind: 'too-large', actualBytes: bytes });
      else if (!fits()) finish({ kind: 'overloaded' });
      else if (bytes <= LARGE_BYTES) chunks.push(chunk);
      else {
        for (const earlier of chunks.splice(0)) large.append(earlier);
        large.append(chunk);
      }
    });
  }
}

/** The outcome for a body that was read before. */
export function ofRead(body: Buffer, limitBytes: number): BodyOutcome {
  return body.length > limitBytes ? { kind: 'too-large', actualBytes: body.length } : { kind: 'whole', body };
}

function joined(chunks: readonly Buffer[], bytes: number): Buffer {
  return chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, bytes);
}

/** The parsed body lives until its request is answered or its client has disconnected. */
function releaseLater(hold: Hold, { kind }: BodyOutcome, response: HttpResponse): void {
  if (kind === 'whole' && !response.closed) response.once('close', () => hold.release());
  else hold.release();
}

/** Reads the rest of a refused body and discards it up to a limit (RQB3). */
export function discardBody(request: HttpRequest): void {
  if (request.complete || !(request instanceof IncomingMessage)) return;
  let bytes = 0;
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > MAX_DISCARDED_BYTES) request.socket.destroy();
  });
}

/** Is more of the body to come than is read for an invalid caller? An unknown length counts as long. */
export function isLongBody(request: HttpRequest): boolean {
  if (request.complete || announcedBytes(request) === 0) return false;
  return request.headers['transfer-encoding'] !== undefined || announcedBytes(request) > MAX_STRANGERS_BODY_BYTES;
}

/**
 * Writes an answer with `Connection: close` to a client that is still sending a long body (RQB4). It reads no more,
 * so the client's system stops sending. Closing immediately would make that system discard the answer, so the client
 * or the timeout closes.
 */
export function answerUnread(request: HttpRequest, response: HttpResponse, body: string): void {
  assert(response instanceof ServerResponse, 'a plain request has no unread body');
  response.flushHeaders();
  response.write(body);
  request.socket.setTimeout(STRANGERS_LINGER_MS);
}

/** Never Infinity: a chunked body counts as 1 until it has arrived. */
function announcedBytes(request: HttpRequest): number {
  const { headers } = request;
  if (headers['transfer-encoding'] !== undefined) return 1;
  return Number(headers['content-length'] ?? 0);
}
