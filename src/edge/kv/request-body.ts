/**
 * A request's body, whole, counted while it arrives.
 *
 * Invariants
 *  B1 a body is refused as soon as it is known to be too large: at its Content-Length, or at the byte beyond
 *  B2 all bodies being received together stay within one bound
 *  B3 what is left of a refused body is thrown away up to a bound, so that its client can read the answer,
 *     and beyond that the connection is cut
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { MAX_DISCARDED_BYTES } from './kv-limits.js';

const EMPTY = Buffer.alloc(0);

export type BodyOutcome =
  | { readonly kind: 'whole'; readonly body: Buffer }
  /** `actualBytes`: announced, or received so far. */
  | { readonly kind: 'too-large'; readonly actualBytes: number }
  | { readonly kind: 'overloaded' }
  /** The client went away. */
  | { readonly kind: 'aborted' };

const NOTHING: BodyOutcome = { kind: 'whole', body: EMPTY };

export class BodyReader {
  #bufferedBytes = 0;

  constructor(private readonly maxBufferedBytes: number) {}

  /** Calls `done` once; at once when there is no body. */
  read(
    { request, response }: { request: IncomingMessage; response: ServerResponse },
    limitBytes: number,
    done: (outcome: BodyOutcome) => void,
  ): void {
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
    this.#collect(request, limitBytes, done);
  }

  #collect(request: IncomingMessage, limitBytes: number, done: (outcome: BodyOutcome) => void): void {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const finish = (outcome: BodyOutcome) => {
      request.off('data', onData).off('end', onEnd).off('close', onClose);
      this.#bufferedBytes -= bytes;
      if (outcome.kind === 'too-large' || outcome.kind === 'overloaded') discardBody(request);
      done(outcome);
    };
    const onData = (chunk: Buffer) => {
      bytes += chunk.length;
      this.#bufferedBytes += chunk.length;
      if (bytes > limitBytes) finish({ kind: 'too-large', actualBytes: bytes });
      else if (this.#bufferedBytes > this.maxBufferedBytes) finish({ kind: 'overloaded' });
      else chunks.push(chunk);
    };
    const onEnd = () => {
      finish({ kind: 'whole', body: chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, bytes) });
    };
    const onClose = () => finish({ kind: 'aborted' });
    request.on('data', onData).on('end', onEnd).on('close', onClose);
  }
}

/** Reads on without keeping anything (B3). */
export function discardBody(request: IncomingMessage): void {
  if (request.complete) return;
  let bytes = 0;
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > MAX_DISCARDED_BYTES) request.socket.destroy();
  });
}

/** Infinity never: a chunked body counts as 1 until it is there. */
function announcedBytes(request: IncomingMessage): number {
  const { headers } = request;
  if (headers['transfer-encoding'] !== undefined) return 1;
  return Number(headers['content-length'] ?? 0);
}
