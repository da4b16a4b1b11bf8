/**
 * Reads commands (RESP arrays of bulk strings) one after the other from a buffer: the effects of a journal entry or
 * snapshot. `next` reads one command, so a caller can slice the work.
 *
 * Words are copied from the buffer, not cut out of a larger string, which V8 would keep in memory as long as any of
 * its words.
 */
import type { SetInPlace } from '../../domain/kv/index.js';
import type { ByteString } from '../../kernel/index.js';

const STAR = 0x2a;
const DOLLAR = 0x24;
const CR = 0x0d;
const LF = 0x0a;
const ZERO = 0x30;
const LINE_END = 2;
/** Digits of a length or a count, enough for any buffer. */
const MAX_DIGITS = 10;
/** The first bytes of a plain SET. */
const PLAIN_SET = Buffer.from('*3\r\n$3\r\nSET\r\n');
/** Words up to this length are assembled byte by byte, which is faster than a call into the buffer. */
const SHORT_WORD = 6;

/** The bytes are not valid commands; `offset` is where the error was found. */
export class MalformedRespError extends Error {
  constructor(
    problem: string,
    readonly offset: number,
  ) {
    super(`${problem} at byte ${offset}`);
    this.name = 'MalformedRespError';
  }
}

export class RespCommandReader {
  #at = 0;

  constructor(private readonly bytes: Buffer) {}

  /** Bytes read so far; the start of the next command. */
  get offset(): number {
    return this.#at;
  }

  /** The words of the next command, undefined at the end. @throws MalformedRespError */
  next(): ByteString[] | undefined {
    if (this.#at >= this.bytes.length) return undefined;
    const count = this.#header(STAR, 'an array');
    if (count === 0) throw new MalformedRespError('a command without words', this.#at);
    // Each word takes at least six bytes, so a larger count is invalid.
    if (count > this.bytes.length / 6) throw new MalformedRespError('more words than bytes', this.#at);
    const words = new Array<ByteString>(count);
    for (let i = 0; i < count; i += 1) words[i] = this.#word();
    return words;
  }

  /**
   * Reads the next command in place if it is `SET key value`, as most are. False: another command, not read yet.
   * @throws MalformedRespError
   */
  nextSet(set: SetInPlace): boolean {
    const { bytes } = this;
    for (let i = 0; i < PLAIN_SET.length; i += 1) if (bytes[this.#at + i] !== PLAIN_SET[i]) return false;
    this.#at += PLAIN_SET.length;
    set.bytes = bytes;
    set.keyLength = this.#skipWord();
    set.keyAt = this.#at - LINE_END - set.keyLength;
    set.valueLength = this.#skipWord();
    set.valueAt = this.#at - LINE_END - set.valueLength;
    return true;
  }

  *[Symbol.iterator](): IterableIterator<ByteString[]> {
    for (let words = this.next(); words !== undefined; words = this.next()) yield words;
  }

  #word(): ByteString {
    const { bytes } = this;
    const length = this.#skipWord();
    const end = this.#at - LINE_END;
    const from = end - length;
    return length <= SHORT_WORD ? shortWord(bytes, from, length) : bytes.toString('latin1', from, end);
  }

  /** @returns the word's length; moves past the end of its line */
  #skipWord(): number {
    const { bytes } = this;
    const length = this.#header(DOLLAR, 'a bulk string');
    const end = this.#at + length;
    if (bytes[end] !== CR || bytes[end + 1] !== LF) {
      throw new MalformedRespError('a bulk string does not end where it says', Math.min(end, bytes.length));
    }
    this.#at = end + LINE_END;
    return length;
  }

  /** Reads `<mark><digits>\r\n`. */
  #header(mark: number, subject: string): number {
    const { bytes } = this;
    let at = this.#at;
    if (bytes[at] !== mark) throw new MalformedRespError(`${subject} should begin`, at);
    at += 1;
    const from = at;
    let value = 0;
    for (;;) {
      const digit = (bytes[at] ?? -1) - ZERO;
      if (digit < 0 || digit > 9) break;
      value = value * 10 + digit;
      at += 1;
    }
    if (at === from || at - from > MAX_DIGITS) throw new MalformedRespError('a length that is no number', from);
    if (bytes[at] !== CR || bytes[at + 1] !== LF) throw new MalformedRespError('a line that does not end', at);
    this.#at = at + 2;
    return value;
  }
}

function shortWord(bytes: Buffer, from: number, length: number): ByteString {
  let word = '';
  for (let i = from; i < from + length; i += 1) word += String.fromCharCode(bytes[i] as number);
  return word;
}

/** A command as an array of bulk strings, the form that RespCommandReader reads. */
export function encodeCommand(words: readonly ByteString[]): ByteString {
  let resp = `*${words.length}\r\n`;
  for (const word of words) resp += `$${word.length}\r\n${word}\r\n`;
  return resp;
}
