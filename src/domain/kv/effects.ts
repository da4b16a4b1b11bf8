/**
 * The effects of a turn on one partition, as the journal keeps them: Redis commands in absolute form,
 * RESP-encoded. A command that changed nothing pushes nothing.
 *
 * Strings that were put together word by word are laid out in memory when somebody reads them: of a million words, or of
 * a few that are megabytes, that takes tens of milliseconds. So what has been pushed becomes bytes every so often, while
 * the command runs, and long words do at once; the entry then finds its section as it is.
 */
import { type ByteString, GrowingBytes } from '../../kernel/index.js';
import { SLICE_WORDS } from './limits.js';
import { textBytes } from './steps.js';

/** Words, and bytes, after which what was pushed becomes bytes: soon, for the pieces that a long text is made of outlive collections. */
const SETTLED_WORDS = 128;
const SETTLED_BYTES = 512 * 1024;
/** So much room at most is taken ahead because the last effects needed it. */
const EXPECTED_BYTES = 1024 * 1024;
/** From here on words are looked at one by one. */
const LONG_WORD_BYTES = 64 * 1024;
/** What stands around a word of less than ten thousand bytes, at most. */
const AROUND_WORD_BYTES = 9;
const NOTHING = Buffer.alloc(0);
const NO_STEPS: readonly undefined[] = [];
const SET = '*3\r\n$3\r\nSET';
/** Made once: put together for each word they are most of what an effect takes in memory. */
const IN_FRONT: readonly string[] = Array.from({ length: 512 }, (_, length) => `\r\n$${length}\r\n`);

/** The end of what stands before a word, and its length. */
function inFrontOf({ length }: ByteString): string {
  return IN_FRONT[length] ?? `\r\n$${length}\r\n`;
}

export class Effects {
  /** How many there were when what is held began, and their bytes; all that there are where nothing is held. */
  #freeCount = Number.POSITIVE_INFINITY;
  #freeBytes = Number.POSITIVE_INFINITY;
  /** In replay effects are read, not made: what handlers push is dropped before it is encoded. */
  isMuted = false;
  /** What was pushed earlier. */
  #settled = new GrowingBytes();
  /** What was pushed since. */
  #resp: ByteString = '';
  #words = 0;
  #count = 0;

  /** How many effects have been pushed since the last `take`. */
  get count(): number {
    return this.#count;
  }

  /** Encoded bytes so far. */
  get bytes(): number {
    return this.#settled.length + this.#resp.length;
  }

  push(...words: ByteString[]): void {
    if (!this.isMuted) this.#add(`*${words.length}`, words, 0);
  }

  /** This is `push` for lists as long as a client likes: spread into arguments, those would overflow the stack. */
  pushList(name: ByteString, words: readonly ByteString[], from = 0): void {
    if (!this.isMuted) this.#add(`*${words.length - from + 1}${inFrontOf(name)}${name}`, words, from);
  }

  /** Commands with their names, one after the other, and a pause behind each. */
  *pushEach(commands: Iterable<readonly ByteString[]>): Generator<void, void> {
    for (const [name = '', ...words] of commands) {
      this.pushList(name, words);
      yield;
    }
  }

  /** This is `pushList` in slices, from one of the words on: nothing of it is there before it is all encoded. */
  pushLong(name: ByteString, words: readonly ByteString[], from = 0): Iterable<void> {
    if (!this.isMuted && words.length > SLICE_WORDS) return this.#inSlices(name, words, from);
    this.pushList(name, words, from);
    return NO_STEPS;
  }

  *#inSlices(name: ByteString, words: readonly ByteString[], from: number): Generator<void, void> {
    const count = words.length - from;
    const bytes = new GrowingBytes((yield* textBytes(words, from)) + count * AROUND_WORD_BYTES);
    bytes.appendLatin1(`*${count + 1}\r\n$${name.length}\r\n${name}\r\n`);
    for (let at = from; at < words.length; at += SLICE_WORDS) {
      const end = Math.min(words.length, at + SLICE_WORDS);
      let piece = '';
      for (let i = at; i < end; i += 1) {
        const word = words[i] as ByteString;
        piece += `$${word.length}\r\n${word}\r\n`;
        if (piece.length < LONG_WORD_BYTES) continue;
        bytes.appendLatin1(piece);
        piece = '';
        yield;
      }
      bytes.appendLatin1(piece);
      yield;
    }
    this.#count += 1;
    if (this.bytes === 0) {
      this.#settled = bytes;
      return;
    }
    this.#settle();
    this.#settled.append(bytes.take());
  }

  /** The commonest effect, spelled out because it is the hot path. */
  pushSet(key: ByteString, value: ByteString): void {
    if (this.isMuted) return;
    if (value.length >= LONG_WORD_BYTES) {
      this.push('SET', key, value);
      return;
    }
    this.#resp += `${SET}${inFrontOf(key)}${key}${inFrontOf(value)}${value}\r\n`;
    this.#count += 1;
    this.#noteWords(1);
  }

  /** Takes over effects that are encoded already. */
  adopt(resp: Uint8Array, count: number): void {
    this.#settle();
    this.#settled.append(resp);
    this.#count += count;
  }

  /** What is pushed from now on is left by `take`, until it is let go or dropped. */
  hold(): void {
    this.#freeCount = this.#count;
    this.#freeBytes = this.bytes;
  }

  /** How many effects there are in front of what is held, and their bytes. */
  get free(): { readonly count: number; readonly bytes: number } {
    return { count: Math.min(this.#count, this.#freeCount), bytes: Math.min(this.bytes, this.#freeBytes) };
  }

  get hasHeld(): boolean {
    return this.#count > this.#freeCount;
  }

  letGo(): void {
    this.#freeCount = Number.POSITIVE_INFINITY;
    this.#freeBytes = Number.POSITIVE_INFINITY;
  }

  drop(): void {
    const { count, bytes } = this.free;
    this.rollBack(count, bytes);
    this.letGo();
  }

  /** Drops what was pushed since there were `count` effects of `bytes`. */
  rollBack(count: number, bytes: number): void {
    const settled = this.#settled.length;
    if (bytes < settled) this.#settled.cut(bytes);
    this.#resp = bytes <= settled ? '' : this.#resp.slice(0, bytes - settled);
    this.#count = count;
  }

  /** The encoded effects; what is held stays, and nothing else. */
  take(): Buffer {
    const { count, bytes } = this.free;
    const isHeld = this.#freeCount !== Number.POSITIVE_INFINITY;
    this.#count -= count;
    if (isHeld) {
      this.#freeCount = 0;
      this.#freeBytes = 0;
    }
    // What is held may be much, and is where it belongs.
    if (bytes === 0) return NOTHING;
    this.#words = 0;
    if (this.#settled.length === 0 && !isHeld) {
      const all = Buffer.from(this.#resp, 'latin1');
      this.#resp = '';
      return all;
    }
    this.#settle();
    const all = this.#settled.take();
    // Turns under load are alike: room that grows as it fills is asked for, and copied, three times over.
    this.#settled = new GrowingBytes(Math.min(all.length + (all.length >>> 2), EXPECTED_BYTES));
    if (bytes < all.length) this.#settled.append(all.subarray(bytes));
    return all.subarray(0, bytes);
  }

  #add(head: ByteString, words: readonly ByteString[], from: number): void {
    let resp = head;
    for (let i = from; i < words.length; i += 1) {
      const word = words[i] as ByteString;
      resp += inFrontOf(word);
      resp += word;
    }
    if (resp.length < LONG_WORD_BYTES) this.#resp += `${resp}\r\n`;
    else this.#addLong(head, words, from);
    this.#count += 1;
    this.#noteWords(words.length);
  }

  /** Word by word: what is long is copied once, and is never part of a longer string. */
  #addLong(head: ByteString, words: readonly ByteString[], from: number): void {
    this.#resp += head;
    for (let i = from; i < words.length; i += 1) {
      const word = words[i] as ByteString;
      this.#resp += inFrontOf(word);
      if (word.length < LONG_WORD_BYTES) this.#resp += word;
      else {
        this.#settle();
        this.#settled.appendLatin1(word);
      }
    }
    this.#resp += '\r\n';
  }

  #noteWords(count: number): void {
    this.#words += count;
    if (this.#words >= SETTLED_WORDS || this.#resp.length >= SETTLED_BYTES) this.#settle();
  }

  #settle(): void {
    this.#settled.appendLatin1(this.#resp);
    this.#resp = '';
    this.#words = 0;
  }
}
