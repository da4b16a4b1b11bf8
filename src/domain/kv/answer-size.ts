/**
 * Bounds the size of an answer while it is built. A value is in memory once but may appear many times in an answer:
 * MGET of one 1 MB key named a thousand times costs little memory until the answer is encoded.
 */
import type { CommandContext } from './command-spec.js';
import { ErrorReply, ITEM_BYTES } from './reply.js';

export class AnswerSize {
  readonly #limit: number;
  #left: number;

  constructor({ maxAnswerBytes }: Pick<CommandContext, 'maxAnswerBytes'>) {
    this.#limit = maxAnswerBytes;
    this.#left = maxAnswerBytes;
  }

  /** Counts one more item. @throws ErrorReply when the answer exceeds the bound */
  add(textBytes = 0): void {
    this.addItems(1, textBytes);
  }

  addItems(count: number, textBytes: number): void {
    this.#left -= textBytes + count * ITEM_BYTES;
    if (this.#left < 0) throw tooLarge(this.#limit);
  }

  /** Checks room for `count` items, whatever their text. @throws ErrorReply */
  requireItems(count: number): void {
    if (count * ITEM_BYTES > this.#left) throw tooLarge(this.#limit);
  }
}

function tooLarge(limitBytes: number): ErrorReply {
  return new ErrorReply(`ERR answer too large. Limit: ${limitBytes} bytes. Ask for less at a time`);
}
