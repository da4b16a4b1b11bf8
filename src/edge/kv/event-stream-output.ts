/**
 * What one event stream has to say, in order.
 *
 *  ESO1 what is said leaves when it is the stream's turn (broadcast-queue.ts), a write at a time while its client
 *       reads; what waits are references to bytes that all who listen share
 *  ESO2 what its client has been offered and has not read is counted for its database, and bounded: beyond it, and
 *       where there is no room, the stream is cut off
 */
import type { ServerResponse } from 'node:http';
import type { Hold } from '../../kernel/index.js';
import type { BroadcastItem, Broadcasts, BroadcastTurn } from '../../ports/index.js';
import { type Said, SaidBytes } from '../said-bytes.js';

/** What may wait for one reader; a second or two of a busy channel. */
const MAX_UNREAD_BYTES = 8 * 1024 * 1024;

export interface EventStreamOutputParts {
  readonly response: ServerResponse;
  readonly tenant: string;
  readonly broadcasts: Broadcasts;
  readonly hold: Hold;
  /** The names that it listens to, which are held as long as it does. */
  readonly nameBytes: number;
}

export class EventStreamOutput implements BroadcastItem {
  readonly #waiting = new SaidBytes();
  #turn: BroadcastTurn | undefined;

  constructor(private readonly parts: EventStreamOutputParts) {
    parts.response.on('drain', () => this.#dueAgain());
  }

  /** @param text whole events, or a comment */
  say(text: Said): void {
    this.#waiting.add(text);
    if (this.#turn !== undefined) this.#turn.more(text.length);
    else if (this.#isFull) this.count();
    else this.#due(text.length);
  }

  /** Nothing is on its way. */
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

  /** (ESO2) */
  count(): void {
    const { response, hold, nameBytes } = this.parts;
    if (response.writableEnded) return;
    const bytes = response.writableLength + (this.#turn === undefined ? this.#waiting.bytes : 0);
    if (bytes > MAX_UNREAD_BYTES || !hold.resize(nameBytes + bytes)) response.destroy();
  }

  /** Says what there is, and nothing more. */
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
