/** Parses RESP2 replies from pieces of any size. Strings are bytes; an error is a value. */
import { type ByteString, GrowingBytes } from '../../kernel/index.js';

export class ReplyError {
  constructor(readonly text: ByteString) {}
}

export type ClientReply = ByteString | number | null | ReplyError | readonly ClientReply[];

const CR = 0x0d;
/** The longest line, which is a number or a readable text. */
const MOST_LINE_BYTES = 64 * 1024;
/** One string; the longest that Redis supports. */
const MOST_STRING_BYTES = 512 * 1024 * 1024;
const MOST_ITEMS = 1024 * 1024;
const EMPTY = Buffer.alloc(0);

/** Thrown internally if the reply is incomplete. */
const NOT_YET = Symbol('not yet');

export class ReplyReader {
  #bytes: Buffer = EMPTY;
  #at = 0;
  #arrived = new GrowingBytes();
  /** Bytes needed before another attempt makes sense. */
  #neededBytes = 0;

  feed(chunk: Buffer): void {
    this.#arrived.append(chunk);
  }

  /** The next complete reply. @throws Error for invalid bytes */
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
        throw new Error(`the server does not speak RESP; its reply begins with ${JSON.stringify(line.slice(0, 40))}`);
    }
  }

  #line(): ByteString {
    const end = this.#bytes.indexOf(CR, this.#at);
    if ((end < 0 ? this.#bytes.length : end) - this.#at > MOST_LINE_BYTES) throw new Error('the reply has no end');
    if (end < 0 || end + 2 > this.#bytes.length) throw NOT_YET;
    const line = this.#bytes.toString('latin1', this.#at, end);
    this.#at = end + 2;
    return line;
  }

  #string(length: number): ByteString {
    const end = this.#at + length;
    if (end + 2 > this.#bytes.length) {
      // An array is parsed again for each incomplete string, so this waits for the whole string.
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
  if (!Number.isInteger(value) || value < 0 || value > most)
    throw new Error(`the reply has an invalid or too large length: ${text}`);
  return value;
}
