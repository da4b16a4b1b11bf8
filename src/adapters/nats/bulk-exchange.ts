/**
 * Transfers payloads too large for one message. The sender keeps the payload and sends an *offer* of a few bytes
 * instead; the receiver requests the pieces, a few at a time, and joins them. A large payload is thus sent at its
 * receiver's pace and cannot cause a disconnect.
 *
 *  BX1 a payload is joined completely or not at all
 *  BX2 kept and joined payloads are bounded in bytes and in time
 */
import { nuid } from 'nats';
import { describeError, MillraceError } from '../../kernel/index.js';
import { bothWays, type TypeOf, text, tuple, whole } from '../../kernel/schema/index.js';
import type { NatsLink } from './link.js';
import type { Names } from './subjects.js';

export interface Offer {
  /** The subject for requests of pieces. */
  readonly at: string;
  readonly id: string;
  readonly bytes: number;
}

export interface KeptPayload {
  readonly offer: Offer;
  release(): void;
}

/** The size of a piece, and of the largest payload in one message: half of the servers' usual limit. */
export const PIECE_BYTES = 512 * 1024;
/** Pieces in flight to one receiver: 2 MiB. */
const PIECES_IN_FLIGHT = 4;
/** All payloads kept for receivers, in multiples of the largest. */
const KEPT_PAYLOADS = 4;

interface Keeping {
  readonly payload: Uint8Array;
  readonly timer: NodeJS.Timeout;
  /** Pieces that were not requested yet; only tracked with one receiver. */
  unasked: Set<number> | undefined;
}

/** Id of the offer, and which piece of it. */
const question = tuple<[id: string, index: number]>(text(), whole);
type Question = TypeOf<typeof question>;
const [encodeQuestion, decodeQuestion] = bothWays(question, 'a question for a piece', 'INVALID');

export interface BulkOptions {
  readonly maxBytes: number;
  /** How long a payload is kept, and how long one piece is waited for. */
  readonly timeoutMs: number;
}

export class BulkExchange {
  readonly #subject: string;
  readonly #kept = new Map<string, Keeping>();
  readonly #subscription: { unsubscribe(): void };
  #keptBytes = 0;

  constructor(
    private readonly link: NatsLink,
    names: Names,
    private readonly options: BulkOptions,
  ) {
    this.#subject = names.bulkSubject(link.user, nuid.next());
    this.#subscription = link.subscribe(this.#subject, (message) => {
      const question = questionOf(message.data);
      if (message.reply && question !== undefined) link.publish(message.reply, this.#piece(question));
    });
  }

  /**
   * Keeps the payload until its one receiver has fetched it, it is released, or the time is over.
   * @throws INVALID when it is too large; MAILBOX_FULL when too much is kept already
   */
  keep(payload: Uint8Array, receivers: 'one' | 'many'): KeptPayload {
    const bytes = payload.byteLength;
    if (bytes > this.options.maxBytes) {
      throw new MillraceError('INVALID', 'a message is too large', { bytes, maxBytes: this.options.maxBytes });
    }
    if (this.#keptBytes + bytes > this.options.maxBytes * KEPT_PAYLOADS) {
      throw new MillraceError('MAILBOX_FULL', 'too many large messages wait for their receivers', { bytes });
    }
    const id = nuid.next();
    const timer = setTimeout(() => this.#release(id), this.options.timeoutMs);
    timer.unref();
    const pieces = Math.ceil(bytes / PIECE_BYTES);
    const unasked = receivers === 'one' ? new Set(Array.from({ length: pieces }, (_, index) => index)) : undefined;
    this.#kept.set(id, { payload, timer, unasked });
    this.#keptBytes += bytes;
    return { offer: { at: this.#subject, id, bytes }, release: () => this.#release(id) };
  }

  /** @throws INVALID when it is too large; TIMED_OUT when a piece did not come */
  async fetch({ at, id, bytes }: Offer): Promise<Uint8Array> {
    const { maxBytes } = this.options;
    if (bytes > maxBytes) throw new MillraceError('INVALID', 'a message is too large', { bytes, maxBytes });
    const whole = new Uint8Array(bytes);
    const pieces = Math.ceil(bytes / PIECE_BYTES);
    let next = 0;
    const fetchOneByOne = async (): Promise<void> => {
      while (next < pieces) {
        const index = next;
        next += 1;
        const piece = await this.#fetchPiece(at, id, index);
        const expected = Math.min(PIECE_BYTES, bytes - index * PIECE_BYTES);
        if (piece.byteLength !== expected) {
          next = pieces;
          throw new MillraceError('TIMED_OUT', 'a piece of a large message no longer exists', { id, index });
        }
        whole.set(piece, index * PIECE_BYTES);
      }
    };
    await Promise.all(Array.from({ length: Math.min(PIECES_IN_FLIGHT, pieces) }, fetchOneByOne));
    return whole;
  }

  stop(): void {
    for (const id of [...this.#kept.keys()]) this.#release(id);
    if (!this.link.raw.isClosed()) this.#subscription.unsubscribe();
  }

  async #fetchPiece(at: string, id: string, index: number): Promise<Uint8Array> {
    try {
      return (await this.link.request(at, encodeQuestion([id, index]), { timeoutMs: this.options.timeoutMs })).data;
    } catch (cause) {
      const reason = describeError(cause);
      throw new MillraceError(
        'TIMED_OUT',
        'a piece of a large message did not come',
        { id, index, why: reason },
        cause,
      );
    }
  }

  /** Empty when the payload is no longer kept, because no piece is empty. */
  #piece([id, index]: Question): Uint8Array {
    const keeping = this.#kept.get(id);
    if (keeping === undefined) return new Uint8Array(0);
    const piece = keeping.payload.subarray(index * PIECE_BYTES, (index + 1) * PIECE_BYTES);
    keeping.unasked?.delete(index);
    if (keeping.unasked?.size === 0) this.#release(id);
    return piece;
  }

  #release(id: string): void {
    const keeping = this.#kept.get(id);
    if (keeping === undefined) return;
    clearTimeout(keeping.timer);
    this.#kept.delete(id);
    this.#keptBytes -= keeping.payload.byteLength;
  }
}

function questionOf(bytes: Uint8Array): Question | undefined {
  try {
    return decodeQuestion(bytes);
  } catch {
    return undefined;
  }
}
