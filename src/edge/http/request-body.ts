/**
 * A request's body, whole, counted while it arrives.
 *
 * Invariants
 *  RQB1 a body is refused as soon as it is known to be too large: at its Content-Length, or at the byte beyond
 *  RQB2 bodies are counted for their tenant until they are answered, and refused as soon as there is no room for them
 *  RQB3 what is left of a refused body is thrown away up to a bound, so that its client can read the answer,
 *       and beyond that the connection is cut
 *  RQB4 a long body of somebody who is refused for who they are is not read at all
 *
 * The parser's pieces are taken where they enter the stream: a body of one piece, which is nearly every one, is
 * then read without waiting for a tick. Measured: a tenth of what a SET costs this process.
 */
import { IncomingMessage, type ServerResponse } from 'node:http';
import { type ByteBudget, GrowingBytes, type Hold } from '../../kernel/index.js';
import type { Span } from '../../messages/index.js';
import { MAX_DISCARDED_BYTES, MAX_STRANGERS_BODY_BYTES, STRANGERS_LINGER_MS } from './http-limits.js';
import { PlainRequest } from './plain-exchange.js';
import { NO_ROUTE } from './request-metrics.js';

/** A request whose body can be had as it comes from the parser; the stream it otherwise is then stays empty. */
export class FaceRequest extends IncomingMessage {
  #sink: ((chunk: Buffer | null) => void) | undefined;
  #held: (Buffer | null)[] = [];
  /** What it is counted as: the declared route, once it has been found. */
  route = NO_ROUTE;
  /** Undefined: it is not traced. */
  trace: Span | undefined;

  /** @param sink called with each piece, and with null at the end; undefined: the stream has the rest */
  sendBodyTo(sink: ((chunk: Buffer | null) => void) | undefined): void {
    this.#sink = sink;
  }

  /** Keeps what has been read of the body, and reads no more, until `goOn`. */
  hold(): void {
    const held: (Buffer | null)[] = [];
    this.#held = held;
    this.sendBodyTo((chunk) => held.push(chunk));
    this.socket.pause();
  }

  /** @param handle may take the body, at once, as it may when a request arrives */
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

/** A body of such a request means nothing. */
export const BODILESS_METHODS: ReadonlySet<string | undefined> = new Set(['GET', 'HEAD', 'OPTIONS']);

const EMPTY = Buffer.alloc(0);

export type BodyOutcome =
  | { readonly kind: 'whole'; readonly body: Buffer }
  /** `actualBytes`: announced, or received so far. */
  | { readonly kind: 'too-large'; readonly actualBytes: number }
  | { readonly kind: 'overloaded' }
  /** The client went away. */
  | { readonly kind: 'aborted' };

/** A body up to this is not counted: the number of connections bounds such bodies. */
const UNCOUNTED_BYTES = 16 * 1024;

/** The pieces of a longer body are put together as they come. */
const LARGE_BYTES = 512 * 1024;

const NOTHING: BodyOutcome = { kind: 'whole', body: EMPTY };

export class RequestBodyReader {
  constructor(private readonly budget: ByteBudget) {}

  /**
   * Calls `done` once; at once when there is no body.
   *
   * @param tenant who it is counted for
   */
  read(
    { request, response }: { request: FaceRequest; response: ServerResponse },
    tenant: string,
    limitBytes: number,
    done: (outcome: BodyOutcome) => void,
  ): void {
    if (request instanceof PlainRequest) {
      const { body } = request;
      done(body.length > limitBytes ? { kind: 'too-large', actualBytes: body.length } : { kind: 'whole', body });
      return;
    }
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
    // Asked for only now: a client that waits for this has not sent what would be refused anyway.
    if (request.headers.expect !== undefined) response.writeContinue();
    this.#collect({ request, response, announced }, tenant, limitBytes, done);
  }

  #collect(
    { request, response, announced }: { request: FaceRequest; response: ServerResponse; announced: number },
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

function joined(chunks: readonly Buffer[], bytes: number): Buffer {
  return chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, bytes);
}

/** What has been made of a body lives until its request is answered, or its client has gone. */
function releaseLater(hold: Hold, { kind }: BodyOutcome, response: ServerResponse): void {
  if (kind === 'whole' && !response.closed) response.once('close', () => hold.release());
  else hold.release();
}

/** Reads on without keeping anything (RQB3). */
export function discardBody(request: IncomingMessage): void {
  if (request.complete) return;
  let bytes = 0;
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > MAX_DISCARDED_BYTES) request.socket.destroy();
  });
}

/** Is more of it to come than is read of a stranger's? Its length counts, and one that nobody knows is long. */
export function isLongBody(request: IncomingMessage): boolean {
  if (request.complete || announcedBytes(request) === 0) return false;
  return request.headers['transfer-encoding'] !== undefined || announcedBytes(request) > MAX_STRANGERS_BODY_BYTES;
}

/**
 * The rest of an answer whose head says `Connection: close`, to a client that is sending a long body (RQB4). Nothing more
 * is read: the client's system stops sending. Closing at once would make that system throw the answer away, so the
 * client is the one to close, or time is.
 */
export function answerUnread(request: IncomingMessage, response: ServerResponse, body: string | Buffer): void {
  response.flushHeaders();
  response.write(body);
  request.socket.setTimeout(STRANGERS_LINGER_MS);
}

/** Infinity never: a chunked body counts as 1 until it is there. */
function announcedBytes(request: IncomingMessage): number {
  const { headers } = request;
  if (headers['transfer-encoding'] !== undefined) return 1;
  return Number(headers['content-length'] ?? 0);
}
