/**
 * Parses a client's bytes into commands, multibulk or inline, from pieces of any size. Only complete commands are
 * returned, and bytes are parsed only on request, so the reader controls the memory.
 *
 *  RPA1 the same bytes give the same commands and errors, however they are split into pieces
 *  RPA2 the words of a command above `maxCommandBytes` are skipped as they arrive and not kept
 *  RPA3 errors and their texts are Redis's; after an error no further bytes are read
 *  RPA4 words are copied from the buffer, because cut out of a larger string they would keep it in memory
 *  RPA5 while more bytes are awaited, few bytes that were already read are kept
 */
import { type ByteString, GrowingBytes } from '../../kernel/index.js';
import { splitInlineWords } from './inline-words.js';

export interface RequestParserLimits {
  /** Words of one command. */
  maxWords: number;
  /** One word; Redis's `proto-max-bulk-len`. */
  maxWordBytes: number;
  /** All words of one command; a larger command is read and discarded. */
  maxCommandBytes: number;
  /** Errors mention that the limits are small because of the missing AUTH. */
  isUnauthenticated: boolean;
}

/** Closes the connection; `text` is the client's error. */
export class ProtocolError extends Error {
  readonly text: ByteString;

  constructor(problem: string) {
    super(problem);
    this.name = 'ProtocolError';
    this.text = `ERR Protocol error: ${problem}`;
  }
}

/** A complete command that was too large to keep. */
export interface OversizedCommand {
  readonly bytes: number;
}

const STAR = 0x2a;
const DOLLAR = 0x24;
const CR = 0x0d;
const LF = 0x0a;
const DASH = 0x2d;
const ZERO = 0x30;
/** The longest line without an end; Redis's limit. */
const MAX_LINE_BYTES = 64 * 1024;
/** Digits of a 64-bit integer. */
const MAX_DIGITS = 19;
/** Words up to this length are assembled byte by byte, which is faster than a call into the buffer. */
const SHORT_WORD = 6;
/** Words that are allocated in advance: a client may announce many and send none. */
const SIZED_WORDS = 64;
/** Words of a command that is read in one pass, and bytes of each. */
const MOST_SMALL_WORDS = 9;
const MOST_SMALL_BYTES = 4096;
/** Command names are never longer. */
const NAME_BYTES = 32;
/** The limits before sign-in, as in Redis. */
const UNAUTHENTICATED_WORDS = 10;
const UNAUTHENTICATED_WORD_BYTES = 16_384;

/** Already read bytes stay with the unread ones up to the larger limit; up to the smaller limit always. */
const MOST_READ_BYTES = 64 * 1024;
const LEAST_READ_BYTES = 4096;
/** The pieces of a longer word are joined while they arrive. */
const LARGE_BYTES = 256 * 1024;
/** Memory of a piece in addition to its bytes: a client may send single bytes. */
const PIECE_BYTES = 256;
/** Memory of a word in addition to its bytes. */
const WORD_BYTES = 32;

const EMPTY = Buffer.alloc(0);

export class RequestParser {
  #bytes: Buffer = EMPTY;
  #at = 0;
  /** Bytes that arrived after `#bytes` and are not joined to it yet. */
  #arrived: Buffer[] = [];
  #arrivedBytes = 0;
  /** The bytes of an incomplete long word; `#bytes` is empty then. */
  #large = new GrowingBytes();
  /** Bytes needed from `#at` before parsing can continue. */
  #neededBytes = 0;
  /** Words of an incomplete command; undefined between commands. */
  #words: ByteString[] | undefined;
  #wordCount = 0;
  #wordsRead = 0;
  /** The previous command's name: pipelined commands often have the same. */
  #name: ByteString = '';
  #commandBytes = 0;
  /** Length of the word whose header was read; -1: no header. */
  #wordBytes = -1;
  /** Bytes left to discard from an oversized command's word. */
  #skipBytes = 0;

  constructor(readonly limits: RequestParserLimits) {}

  /** Bytes not yet parsed. */
  get bufferedBytes(): number {
    return this.#bytes.length - this.#at + this.#arrivedBytes + this.#large.length;
  }

  /** Memory of unparsed bytes and of the words of an incomplete command. */
  get heldBytes(): number {
    const words = this.#words;
    const bytes = this.bufferedBytes + this.#arrived.length * PIECE_BYTES;
    // An oversized command keeps no words.
    if (words === undefined || words.length === 0) return bytes;
    return bytes + this.#commandBytes - Math.max(0, this.#wordBytes) + words.length * WORD_BYTES;
  }

  /** Bytes of all words of the last command from `next`. */
  get commandBytes(): number {
    return this.#commandBytes;
  }

  /** Could `next` return a command? */
  get mayHaveMore(): boolean {
    return this.bufferedBytes > 0 && this.bufferedBytes >= this.#neededBytes;
  }

  feed(chunk: Buffer): void {
    if (this.bufferedBytes === 0) {
      this.#bytes = chunk;
      this.#at = 0;
      return;
    }
    if (this.#neededBytes > LARGE_BYTES) {
      this.#large.append(this.#bytes.subarray(this.#at));
      this.#large.append(chunk);
      this.#bytes = EMPTY;
      this.#at = 0;
      return;
    }
    this.#arrived.push(chunk);
    this.#arrivedBytes += chunk.length;
  }

  /** Drops all unparsed bytes. */
  clear(): void {
    this.#bytes = EMPTY;
    this.#at = 0;
    this.#arrived = [];
    this.#arrivedBytes = 0;
    this.#large = new GrowingBytes();
    this.#words = undefined;
  }

  /** The next complete command; undefined: more bytes are needed. @throws ProtocolError */
  next(): ByteString[] | OversizedCommand | undefined {
    for (;;) {
      if (this.bufferedBytes < this.#neededBytes || this.bufferedBytes === 0) return this.#wait();
      if (this.#large.length > 0) this.#bytes = this.#large.take();
      else if (this.#arrivedBytes > 0) this.#join();
      this.#neededBytes = 0;
      const command = this.#words === undefined ? this.#begin() : this.#readWords(this.#words);
      if (command === undefined) {
        if (this.#neededBytes === 0) continue;
        return this.#wait();
      }
      if (!Array.isArray(command) || command.length > 0) return command;
    }
  }

  /** Drops most bytes that were already read (RPA5: few of them are kept). */
  #wait(): undefined {
    const restBytes = this.#bytes.length - this.#at;
    if (restBytes === 0) this.#bytes = EMPTY;
    else if (this.#at < LEAST_READ_BYTES || (this.#at < restBytes && this.#at < MOST_READ_BYTES)) return undefined;
    else this.#bytes = ownCopy(this.#bytes.subarray(this.#at));
    this.#at = 0;
    return undefined;
  }

  #join(): void {
    this.#bytes = Buffer.concat([this.#bytes.subarray(this.#at), ...this.#arrived]);
    this.#at = 0;
    this.#arrived = [];
    this.#arrivedBytes = 0;
  }

  /** Parsing continues when this many bytes are there from `#at`. */
  #need(bytes: number): undefined {
    this.#neededBytes = bytes;
    return undefined;
  }

  #needMoreThanThereIs(): undefined {
    return this.#need(this.#bytes.length - this.#at + 1);
  }

  /** Undefined with `#neededBytes` 0: an empty command was skipped. */
  #begin(): ByteString[] | OversizedCommand | undefined {
    if (this.#bytes[this.#at] !== STAR) return this.#inline();
    const small = this.#small();
    if (small !== undefined) return small;
    const end = this.#endOfLine('too big mbulk count string');
    if (end < 0) return undefined;
    const count = this.#integer(this.#at + 1, end);
    if (count === undefined || count > this.limits.maxWords) throw new ProtocolError('invalid multibulk length');
    if (count > UNAUTHENTICATED_WORDS && this.limits.isUnauthenticated) {
      throw new ProtocolError('unauthenticated multibulk length');
    }
    this.#at = end + 2;
    if (count <= 0) return undefined;
    this.#wordCount = count;
    this.#wordsRead = 0;
    this.#commandBytes = 0;
    const words = count <= SIZED_WORDS ? new Array<ByteString>(count) : [];
    try {
      return this.#readWords(words);
    } catch (problem) {
      // The next call reports the same problem.
      this.#keep(words);
      throw problem;
    }
  }

  /** A complete command of few, short words, as most are. Undefined: it has to be read word by word. */
  #small(): ByteString[] | undefined {
    const bytes = this.#bytes;
    const count = (bytes[this.#at + 1] as number) - ZERO;
    if (!(count > 0 && count <= MOST_SMALL_WORDS) || bytes[this.#at + 2] !== CR) return undefined;
    const words = new Array<ByteString>(count);
    let at = this.#at + 4;
    let commandBytes = 0;
    for (let i = 0; i < count; i += 1) {
      let length = (bytes[at + 1] as number) - ZERO;
      if (bytes[at] !== DOLLAR || !(length >= 0 && length <= 9)) return undefined;
      for (at += 2; bytes[at] !== CR; at += 1) {
        const digit = (bytes[at] as number) - ZERO;
        if (length === 0 || !(digit >= 0 && digit <= 9)) return undefined;
        length = length * 10 + digit;
      }
      const from = at + 2;
      at = from + length + 2;
      if (at > bytes.length || length > MOST_SMALL_BYTES) return undefined;
      words[i] = i === 0 ? this.#nameIn(from, from + length) : wordOf(bytes, from, from + length);
      commandBytes += length;
    }
    const { maxWords, maxWordBytes, maxCommandBytes } = this.limits;
    if (count > maxWords || commandBytes > maxWordBytes || commandBytes > maxCommandBytes) return undefined;
    this.#at = at;
    this.#commandBytes = commandBytes;
    return words;
  }

  #inline(): ByteString[] | undefined {
    const { limits } = this;
    const end = this.#bytes.indexOf(LF, this.#at);
    const lineBytes = (end < 0 ? this.#bytes.length : end) - this.#at;
    if (lineBytes > MAX_LINE_BYTES) throw new ProtocolError('too big inline request');
    if (end < 0) return this.#needMoreThanThereIs();
    const lineEnd = end > this.#at && this.#bytes[end - 1] === CR ? end - 1 : end;
    const words = splitInlineWords(this.#bytes.toString('latin1', this.#at, lineEnd));
    if (words === undefined) throw new ProtocolError('unbalanced quotes in request');
    this.#at = end + 1;
    this.#commandBytes = 0;
    for (const word of words) this.#commandBytes += word.length;
    return words.length > 0 && words.length <= limits.maxWords ? words : undefined;
  }

  #readWords(words: ByteString[]): ByteString[] | OversizedCommand | undefined {
    const { maxCommandBytes } = this.limits;
    while (this.#wordsRead < this.#wordCount) {
      if (this.#skipBytes > 0) {
        if (!this.#skip()) return this.#keep(words);
        continue;
      }
      if (this.#wordBytes < 0) {
        if (!this.#readWordHeader()) return this.#keep(words);
        if (this.#commandBytes > maxCommandBytes) {
          words.length = 0;
          this.#skipBytes = this.#wordBytes + 2;
          continue;
        }
      }
      const from = this.#at;
      const end = from + this.#wordBytes;
      if (end + 2 > this.#bytes.length) {
        this.#need(this.#wordBytes + 2);
        return this.#keep(words);
      }
      words[this.#wordsRead] = this.#wordsRead === 0 ? this.#nameIn(from, end) : wordOf(this.#bytes, from, end);
      this.#at = end + 2;
      this.#wordBytes = -1;
      this.#wordsRead += 1;
    }
    this.#words = undefined;
    return this.#commandBytes > maxCommandBytes ? { bytes: this.#commandBytes } : words;
  }

  /** Waits for more bytes. */
  #keep(words: ByteString[]): undefined {
    if (words.length > this.#wordsRead) words.length = this.#wordsRead;
    this.#words = words;
    return undefined;
  }

  /** Returns the previous command's string if the name is the same. */
  #nameIn(from: number, end: number): ByteString {
    const bytes = this.#bytes;
    const name = this.#name;
    if (end - from === name.length) {
      let at = 0;
      while (at < name.length && bytes[from + at] === name.charCodeAt(at)) at += 1;
      if (at === name.length) return name;
    }
    const word = wordOf(bytes, from, end);
    if (word.length <= NAME_BYTES) this.#name = word;
    return word;
  }

  #skip(): boolean {
    const there = Math.min(this.#skipBytes, this.#bytes.length - this.#at);
    this.#at += there;
    this.#skipBytes -= there;
    if (this.#skipBytes > 0) {
      this.#need(1);
      return false;
    }
    this.#wordBytes = -1;
    this.#wordsRead += 1;
    return true;
  }

  #readWordHeader(): boolean {
    if (this.#at >= this.#bytes.length) {
      this.#need(1);
      return false;
    }
    const end = this.#endOfLine('too big bulk count string');
    if (end < 0) return false;
    const first = this.#bytes[this.#at] as number;
    if (first !== DOLLAR) throw new ProtocolError(`expected '$', got '${String.fromCharCode(first)}'`);
    const { limits } = this;
    const length = this.#integer(this.#at + 1, end);
    if (length === undefined || length < 0 || length > limits.maxWordBytes) {
      throw new ProtocolError('invalid bulk length');
    }
    if (length > UNAUTHENTICATED_WORD_BYTES && limits.isUnauthenticated) {
      throw new ProtocolError('unauthenticated bulk length');
    }
    this.#at = end + 2;
    this.#wordBytes = length;
    this.#commandBytes += length;
    return true;
  }

  /** Position of the CR of the line from `#at`, if another byte follows; -1: not there yet. */
  #endOfLine(tooBig: string): number {
    const bytes = this.#bytes;
    // Headers have a few bytes: a loop is cheaper than a call into the buffer.
    let end = this.#at;
    const near = Math.min(bytes.length, end + MAX_DIGITS);
    while (end < near && bytes[end] !== CR) end += 1;
    if (end === near) end = bytes.indexOf(CR, near);
    const lineBytes = (end < 0 ? bytes.length : end) - this.#at;
    if (lineBytes > MAX_LINE_BYTES) throw new ProtocolError(tooBig);
    if (end >= 0 && end + 1 < bytes.length) return end;
    this.#needMoreThanThereIs();
    return -1;
  }

  /** An integer by Redis's rules: no plus, no leading zero, no blanks. */
  #integer(from: number, end: number): number | undefined {
    const bytes = this.#bytes;
    const isNegative = bytes[from] === DASH;
    const first = isNegative ? from + 1 : from;
    if (first >= end || end - first > MAX_DIGITS) return undefined;
    if (bytes[first] === ZERO) return end === first + 1 && !isNegative ? 0 : undefined;
    let value = 0;
    for (let at = first; at < end; at += 1) {
      const digit = (bytes[at] as number) - ZERO;
      if (digit < 0 || digit > 9) return undefined;
      value = value * 10 + digit;
    }
    return isNegative ? -value : value;
  }
}

/** A separate copy: a small slice would keep a shared page in memory. */
function ownCopy(bytes: Buffer): Buffer {
  const own = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(own);
  return own;
}

/** The method behind `toString('latin1', from, end)`, which spends half of its time on finding it. */
interface Latin1Source extends Buffer {
  latin1Slice(from: number, end: number): ByteString;
}

function wordOf(bytes: Buffer, from: number, end: number): ByteString {
  if (end - from > SHORT_WORD) return (bytes as Latin1Source).latin1Slice(from, end);
  let word = '';
  for (let i = from; i < end; i += 1) word += String.fromCharCode(bytes[i] as number);
  return word;
}
