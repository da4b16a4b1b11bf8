/**
 * Bounds an answer while it is made. What is answered is in memory once and named many times: a megabyte that MGET
 * names a thousand times costs nothing before it is written out.
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

  /** Counts one more item. @throws ErrorReply when that is too much */
  add(textBytes = 0): void {
    this.addItems(1, textBytes);
  }

  addItems(count: number, textBytes: number): void {
    this.#left -= textBytes + count * ITEM_BYTES;
    if (this.#left < 0) throw tooLarge(this.#limit);
  }

  /** Would so many items be too much, whatever is in them? @throws ErrorReply */
  requireItems(count: number): void {
    if (count * ITEM_BYTES > this.#left) throw tooLarge(this.#limit);
  }
}

function tooLarge(limitBytes: number): ErrorReply {
  return new ErrorReply(`ERR answer too large. Limit: ${limitBytes} bytes. Ask for less at a time`);
}
