/** Replies of RESP2 as a client reads them, from pieces of any size. Strings are bytes; an error is a value. */
import { type ByteString, GrowingBytes } from '../../kernel/index.js';

export class ReplyError {
  constructor(readonly text: ByteString) {}
}

export type ClientReply = ByteString | number | null | ReplyError | readonly ClientReply[];

const CR = 0x0d;
/** A line has a number, or a text that a person may read. */
const MOST_LINE_BYTES = 64 * 1024;
/** One string; the longest that Redis knows. */
const MOST_STRING_BYTES = 512 * 1024 * 1024;
const MOST_ITEMS = 1024 * 1024;
const EMPTY = Buffer.alloc(0);

/** Thrown within, where the rest of a reply has not arrived. */
const NOT_YET = Symbol('not yet');

export class ReplyReader {
  #bytes: Buffer = EMPTY;
  #at = 0;
  #arrived = new GrowingBytes();
  /** So many have to be there before it is worth looking again. */
  #neededBytes = 0;

  feed(chunk: Buffer): void {
    this.#arrived.append(chunk);
  }

  /** The next whole reply. @throws Error, when it is none */
  next(): ClientReply | undefined {
    const there = this.#bytes.length - this.#at + this.#arrived.length;
    if (there === 0 || there < this.#neededBytes) return undefined;
    if (this.#arrived.length > 0) {
      this.#bytes = Buffer.concat([this.#bytes.subarray(this.#at), this.#arrived.take()]);
      this.#at = 0;
    }
    const from = this.#at;
    this.#neededBytes = 0;
    try {
      return this.#read();
    } catch (thrown) {
      if (thrown !== NOT_YET) throw thrown;
      this.#at = from;
      this.#neededBytes = Math.max(this.#neededBytes, this.#bytes.length - from + 1);
      return undefined;
    }
  }

  #read(): ClientReply {
    const line = this.#line();
    const text = line.slice(1);
    switch (line[0]) {
      case '+':
        return text;
      case '-':
        return new ReplyError(text);
      case ':':
        return Number(text);
      case '$':
        return text === '-1' ? null : this.#string(count(text, MOST_STRING_BYTES));
      case '*':
        return text === '-1' ? null : Array.from({ length: count(text, MOST_ITEMS) }, () => this.#read());
      default:
        throw new Error(`what answers does not speak RESP: ${JSON.stringify(line.slice(0, 40))}`);
    }
  }

  #line(): ByteString {
    const end = this.#bytes.indexOf(CR, this.#at);
    if ((end < 0 ? this.#bytes.length : end) - this.#at > MOST_LINE_BYTES) throw new Error('a reply without an end');
    if (end < 0 || end + 2 > this.#bytes.length) throw NOT_YET;
    const line = this.#bytes.toString('latin1', this.#at, end);
    this.#at = end + 2;
    return line;
  }

  #string(length: number): ByteString {
    const end = this.#at + length;
    if (end + 2 > this.#bytes.length) {
      // Arrays begin again with each string that is not whole: all of it is waited for at once.
      this.#neededBytes = Math.max(this.#neededBytes, end + 2 - this.#at);
      throw NOT_YET;
    }
    const text = this.#bytes.toString('latin1', this.#at, end);
    this.#at = end + 2;
    return text;
  }
}

function count(text: string, most: number): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 0 || value > most) throw new Error(`a reply of ${text} bytes or items`);
  return value;
}
