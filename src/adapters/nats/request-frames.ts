/**
 * Requests as the protocol has them, each written into one buffer and handed to the client's queue of what is to be
 * sent. That queue is below the client's public face, which makes six pieces of every message and joins them again
 * (docs/adr/0049-requests-are-one-frame.md). Connecting and all that is received stay the client's.
 *
 *  RF1 the client's own checks are made before anything is written: nothing was sent when one of them throws
 */
import { errors, type NatsConnection, type Payload } from 'nats';
import { assert } from '../../kernel/index.js';

/** What is to be sent, in order. What the client itself puts into it leaves with what stands there already. */
interface Outbound {
  length(): number;
  size(): number;
  fill(frame: Uint8Array): void;
}

interface Protocol {
  readonly outbound: Outbound;
  /** So many bytes are sent at once. */
  readonly pendingLimit: number;
  flushPending(): void;
}

const BREAKS_A_FRAME = /[ \r\n\t]/;

export class RequestFrames {
  readonly #protocol: Protocol;

  constructor(private readonly connection: NatsConnection) {
    const { protocol } = connection as unknown as { readonly protocol?: Partial<Protocol> };
    const { outbound, pendingLimit, flushPending } = protocol ?? {};
    const isKnown = outbound !== undefined && pendingLimit !== undefined && flushPending !== undefined;
    assert(isKnown, 'the NATS client has no queue where it had one');
    this.#protocol = protocol as Protocol;
  }

  /**
   * @param headers as they are sent, with their first line and an empty last one; empty: none
   * @throws what the client's `publish` throws
   */
  send(subject: string, reply: string, headers: string, payload: Payload): void {
    const { connection } = this;
    if (connection.isClosed()) throw new errors.ClosedConnectionError();
    if (connection.isDraining()) throw new errors.DrainingConnectionError();
    if (BREAKS_A_FRAME.test(subject)) throw new errors.InvalidSubjectError(subject);
    const payloadBytes = typeof payload === 'string' ? Buffer.byteLength(payload) : payload.length;
    const bytes = headers.length + payloadBytes;
    const mostBytes = connection.info?.max_payload ?? bytes;
    if (bytes > mostBytes) {
      throw new errors.InvalidArgumentError(
        `a message of ${bytes} bytes is larger than the server takes: ${mostBytes}`,
      );
    }
    const head =
      headers === ''
        ? `PUB ${subject} ${reply} ${bytes}\r\n`
        : `HPUB ${subject} ${reply} ${headers.length} ${bytes}\r\n${headers}`;
    const end = head.length + payloadBytes;
    const frame = Buffer.allocUnsafe(end + 2);
    frame.write(head, 0, 'latin1');
    if (typeof payload === 'string') frame.write(payload, head.length);
    else frame.set(payload, head.length);
    frame[end] = 0x0d;
    frame[end + 1] = 0x0a;
    this.#put(frame);
  }

  /** It leaves with everything else of the same turn of the loop; `queueMicrotask` would make an object of Node's for it. */
  #put(frame: Uint8Array): void {
    const { outbound, pendingLimit } = this.#protocol;
    const isFirst = outbound.length() === 0;
    outbound.fill(frame);
    if (isFirst) void Promise.resolve().then(this.#flush);
    else if (outbound.size() >= pendingLimit) this.#protocol.flushPending();
  }

  readonly #flush = (): void => this.#protocol.flushPending();
}
