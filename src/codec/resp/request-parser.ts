/**
 * What a client sends, as commands: multibulk or inline, in pieces of any size. A command is handed out when it
 * is whole; nothing is parsed before it is asked for, so whoever reads decides how much is in memory.
 *
 * Invariants
 *  RPA1 the same bytes give the same commands and errors, however they are cut into pieces
 *  RPA2 of a command beyond `maxCommandBytes` the words are skipped as they arrive, never kept
 *  RPA3 errors and their texts are Redis's; after one nothing more is read
 *  RPA4 words are copied out of the buffer: cut out of a larger string they would keep that alive
 *  RPA5 what waits for more bytes keeps little that has been read already
 */
import { type ByteString, GrowingBytes } from '../../kernel/index.js';
import { splitInlineWords } from './inline-words.js';

export interface RequestParserLimits {
  /** Words of one command. */
  maxWords: number;
  /** One word; Redis's `proto-max-bulk-len`. */
  maxWordBytes: number;
  /** All words of one command; beyond it the command is read and thrown away. */
  maxCommandBytes: number;
  /** Errors say that it is for want of AUTH that the limits are so small. */
  isUnauthenticated: boolean;
}

/** Closes the connection; `text` is the error as a client reads it. */
export class ProtocolError extends Error {
  readonly text: ByteString;

  constructor(problem: string) {
    super(problem);
    this.name = 'ProtocolError';
    this.text = `ERR Protocol error: ${problem}`;
  }
}

/** A whole command whose words were too many bytes to keep. */
export interface OversizedCommand {
  readonly bytes: number;
}

const STAR = 0x2a;
const DOLLAR = 0x24;
const CR = 0x0d;
const LF = 0x0a;
const DASH = 0x2d;
const ZERO = 0x30;
/** A line without an end is given up; Redis's bound. */
const MAX_LINE_BYTES = 64 * 1024;
/** Digits of a 64-bit integer. */
const MAX_DIGITS = 19;
/** Words this short are put together from their bytes, which is faster than a call into the buffer. */
const SHORT_WORD = 6;
/** Words of a command for which there is room from the start: a client may announce many, and send none. */
const SIZED_WORDS = 64;
/** Words of a command that is read in one go, and bytes of each. */
const MOST_SMALL_WORDS = 9;
const MOST_SMALL_BYTES = 4096;
/** The name of a command: longer words are none. */
const NAME_BYTES = 32;
/** The bounds before somebody has signed in, as in Redis. */
const UNAUTHENTICATED_WORDS = 10;
const UNAUTHENTICATED_WORD_BYTES = 16_384;

/** Bytes that were read are kept with those that were not, up to the larger bound; up to the smaller one they always are. */
const MOST_READ_BYTES = 64 * 1024;
const LEAST_READ_BYTES = 4096;
/** The pieces of what is longer are put together as they come. */
const LARGE_BYTES = 256 * 1024;
/** What a piece costs beside its bytes: clients may send them one by one. */
const PIECE_BYTES = 256;
/** What a word costs beside its bytes. */
const WORD_BYTES = 32;

const EMPTY = Buffer.alloc(0);

export class RequestParser {
  #bytes: Buffer = EMPTY;
  #at = 0;
  /** Bytes that arrived behind `#bytes` and are not joined to it yet. */
  #arrived: Buffer[] = [];
  #arrivedBytes = 0;
  /** All that waits for a long word to be whole; `#bytes` is empty then. */
  #large = new GrowingBytes();
  /** How many bytes are needed from `#at` on before anything can be done. */
  #neededBytes = 0;
  /** Words of the command that has begun and waits for more bytes; undefined between commands. */
  #words: ByteString[] | undefined;
  #wordCount = 0;
  #wordsRead = 0;
  /** The name of the command before: what comes in pipelines is mostly alike. */
  #name: ByteString = '';
  #commandBytes = 0;
  /** The length of the word whose header has been read; -1: no header was read. */
  #wordBytes = -1;
  /** Still to be thrown away of an oversized command's word. */
  #skipBytes = 0;

  constructor(readonly limits: RequestParserLimits) {}

  /** Bytes that wait to be parsed. */
  get bufferedBytes(): number {
    return this.#bytes.length - this.#at + this.#arrivedBytes + this.#large.length;
  }

  /** What is kept: bytes that wait, in their pieces, and words of a command that is not whole yet. */
  get heldBytes(): number {
    const words = this.#words;
    const bytes = this.bufferedBytes + this.#arrived.length * PIECE_BYTES;
    // No words are kept of a command that is too large.
    if (words === undefined || words.length === 0) return bytes;
    return bytes + this.#commandBytes - Math.max(0, this.#wordBytes) + words.length * WORD_BYTES;
  }

  /** Of all words of the command that `next` gave last. */
  get commandBytes(): number {
    return this.#commandBytes;
  }

  /** Is what is fed copied at once, behind what there is of a long word? */
  get isGathering(): boolean {
    return this.#neededBytes > LARGE_BYTES && this.bufferedBytes > 0;
  }

  /** Is there reason to call `next`? */
  get mayHaveMore(): boolean {
    return this.bufferedBytes > 0 && this.bufferedBytes >= this.#neededBytes;
  }

  feed(chunk: Buffer): void {
    if (this.bufferedBytes === 0) {
      this.#bytes = chunk;
      this.#at = 0;
      return;
    }
    if (this.isGathering) {
      this.#large.append(this.#bytes.subarray(this.#at));
      this.#large.append(chunk);
      this.#bytes = EMPTY;
      this.#at = 0;
      return;
    }
    this.#arrived.push(chunk);
    this.#arrivedBytes += chunk.length;
  }

  /** What is left of a chunk that was fed is copied: somebody else overwrites it from now on. */
  giveBack(chunk: Buffer): void {
    if (this.#bytes !== chunk) return;
    this.#bytes = this.#at === chunk.length ? EMPTY : ownCopy(chunk.subarray(this.#at));
    this.#at = 0;
  }

  /** Forgets what has not been asked for. */
  clear(): void {
    this.#bytes = EMPTY;
    this.#at = 0;
    this.#arrived = [];
    this.#arrivedBytes = 0;
    this.#large = new GrowingBytes();
    this.#words = undefined;
  }

  /** The next whole command; undefined: more bytes are needed. @throws ProtocolError */
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

  /** (RPA5) */
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

  /** The next look needs so many bytes from `#at` on. */
  #need(bytes: number): undefined {
    this.#neededBytes = bytes;
    return undefined;
  }

  #needMoreThanThereIs(): undefined {
    return this.#need(this.#bytes.length - this.#at + 1);
  }

  /** Undefined with `#neededBytes` 0: an empty command has been passed over. */
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
      // Asked again, it says the same.
      this.#keep(words);
      throw problem;
    }
  }

  /** One of few words, none of them long, that is whole: most are. Undefined: it is still to be read, word by word. */
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

  /** More bytes are needed. */
  #keep(words: ByteString[]): undefined {
    if (words.length > this.#wordsRead) words.length = this.#wordsRead;
    this.#words = words;
    return undefined;
  }

  /** It is the same string as the one before where it is the same name. */
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

  /** Where the line that begins at `#at` has its CR, with one more byte behind it; -1: not there yet. */
  #endOfLine(tooBig: string): number {
    const bytes = this.#bytes;
    // Headers are a few bytes long: a call into the buffer costs more than looking.
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

  /** It is read as Redis reads one: no plus, no leading zero, no blanks. */
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

/** In memory of its own: what is small would keep a page of others' alive otherwise. */
export function ownCopy(bytes: Buffer): Buffer {
  const own = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(own);
  return own;
}

/** What `toString('latin1', from, end)` calls in the end; half of its time goes into finding that out. */
interface Latin1Source {
  latin1Slice(from: number, end: number): ByteString;
}

function wordOf(bytes: Buffer, from: number, end: number): ByteString {
  if (end - from > SHORT_WORD) return (bytes as unknown as Latin1Source).latin1Slice(from, end);
  let word = '';
  for (let i = from; i < end; i += 1) word += String.fromCharCode(bytes[i] as number);
  return word;
}
