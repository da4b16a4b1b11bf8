/**
 * The output of one event stream, in order.
 *
 *  ESO1 events are written in the stream's turn (broadcast-queue.ts), one write at a time while the client reads;
 *       waiting events are references to bytes that all listeners share
 *  ESO2 bytes that the client has not read count against its database's budget and have a limit; above the limit, or
 *       if the budget is full, the stream is closed
 */
import type { ServerResponse } from 'node:http';
import type { Hold } from '../../kernel/index.js';
import type { BroadcastItem, Broadcasts, BroadcastTurn } from '../../ports/index.js';
import { OutboundBuffer, type OutboundChunk } from '../outbound-buffer.js';

/** Limit on the bytes that wait for one reader: one or two seconds of a busy channel. */
const MAX_UNREAD_BYTES = 8 * 1024 * 1024;

export interface EventStreamOutputParts {
  readonly response: ServerResponse;
  readonly tenant: string;
  readonly broadcasts: Broadcasts;
  readonly hold: Hold;
  /** Bytes of the names that it listens to, held as long as the stream. */
  readonly nameBytes: number;
}

export class EventStreamOutput implements BroadcastItem {
  readonly #waiting = new OutboundBuffer();
  #turn: BroadcastTurn | undefined;

  constructor(private readonly parts: EventStreamOutputParts) {
    parts.response.on('drain', () => this.#dueAgain());
  }

  /** @param text whole events, or a comment */
  say(text: OutboundChunk): void {
    this.#waiting.add(text);
    if (this.#turn !== undefined) this.#turn.more(text.length);
    else if (this.#isFull) this.count();
    else this.#due(text.length);
  }

  /** No bytes are waiting or being sent. */
  get isQuiet(): boolean {
    return this.#waiting.bytes === 0 && this.parts.response.writableLength === 0;
  }

  handOn(mayGoOn: () => boolean): number {
    const { response } = this.parts;
    while (this.#waiting.bytes > 0 && !this.#isFull && !response.destroyed) {
      response.write(this.#waiting.take());
      if (this.#waiting.bytes > 0 && !this.#isFull && !mayGoOn()) return this.#waiting.bytes;
    }
    this.#turn = undefined;
    this.count();
    return 0;
  }

  /** Counts the unread bytes, and closes the stream above the limit (ESO2). */
  count(): void {
    const { response, hold, nameBytes } = this.parts;
    if (response.writableEnded) return;
    const bytes = response.writableLength + (this.#turn === undefined ? this.#waiting.bytes : 0);
    if (bytes > MAX_UNREAD_BYTES || !hold.resize(nameBytes + bytes)) response.destroy();
  }

  /** Writes the waiting bytes and ends the response. */
  end(): void {
    const { response } = this.parts;
    while (this.#waiting.bytes > 0 && !response.destroyed) response.write(this.#waiting.take());
    response.end();
  }

  get #isFull(): boolean {
    const { response } = this.parts;
    return response.writableNeedDrain && response.writableLength > 0;
  }

  #dueAgain(): void {
    if (this.#waiting.bytes > 0 && this.#turn === undefined) this.#due(this.#waiting.bytes);
  }

  #due(bytes: number): void {
    const { broadcasts, tenant } = this.parts;
    this.#turn = broadcasts.add(tenant, this, bytes);
  }
}
