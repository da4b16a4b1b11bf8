/**
 * The effects of one turn on one partition: Redis commands in absolute form, RESP-encoded as in the journal. A command
 * that changed no key pushes no effect.
 *
 * Text that is concatenated word by word is a tree in V8 until it is read; flattening a million words, or a few of
 * megabytes, takes tens of milliseconds. Pushed effects are therefore encoded into bytes every few words while the
 * commands run, and long words immediately, so that the entry finds its section ready.
 */
import { type ByteString, GrowingBytes } from '../../kernel/index.js';
import { SLICE_WORDS } from './limits.js';
import { textBytes } from './steps.js';

/**
 * After so many words or bytes the pushed text is encoded. Few words, because the pieces of a long text would otherwise
 * survive garbage collections.
 */
const SETTLED_WORDS = 128;
const SETTLED_BYTES = 512 * 1024;
/** The most space to reserve because the last turn needed it. */
const EXPECTED_BYTES = 1024 * 1024;
/** Words of at least this length are copied one by one. */
const LONG_WORD_BYTES = 64 * 1024;
/** The most bytes of RESP framing per word below ten thousand bytes. */
const AROUND_WORD_BYTES = 9;
const NOTHING = Buffer.alloc(0);
const NO_STEPS: readonly undefined[] = [];
const SET = '*3\r\n$3\r\nSET';
/** The framing before a word, by its length. Built once: built per word, it is most of an effect's garbage. */
const IN_FRONT: readonly string[] = Array.from({ length: 512 }, (_, length) => `\r\n$${length}\r\n`);

/** The line end of the preceding text, then the header of a word. */
function inFrontOf({ length }: ByteString): string {
  return IN_FRONT[length] ?? `\r\n$${length}\r\n`;
}

/** The removal of an expired key (`key-effects.ts`). */
export function expiredEffect(key: ByteString): [ByteString, ByteString] {
  return ['UNLINK', key];
}

/** The removal of an evicted key. */
export function evictedEffect(key: ByteString): [ByteString, ByteString, ByteString] {
  return ['UNLINK', key, key];
}

export class Effects {
  /** The count and bytes of effects before the held ones; infinite while no effects are held. */
  #freeCount = Number.POSITIVE_INFINITY;
  #freeBytes = Number.POSITIVE_INFINITY;
  /** In replay, effects that handlers push are dropped before encoding. */
  isMuted = false;
  /** Effects that are already encoded. */
  #settled = new GrowingBytes();
  /** Effects pushed since then, as text. */
  #resp: ByteString = '';
  #words = 0;
  #count = 0;

  /** Effects pushed since the last `take`. */
  get count(): number {
    return this.#count;
  }

  get bytes(): number {
    return this.#settled.length + this.#resp.length;
  }

  push(...words: ByteString[]): void {
    if (!this.isMuted) this.#add(`*${words.length}`, words, 0);
  }

  /** As `push`, for lists of any length: spread into arguments, a long list would overflow the stack. */
  pushList(name: ByteString, words: readonly ByteString[], from = 0): void {
    if (!this.isMuted) this.#add(`*${words.length - from + 1}${inFrontOf(name)}${name}`, words, from);
  }

  /** Pushes whole commands, pausing after each. */
  *pushEach(commands: Iterable<readonly ByteString[]>): Generator<void, void> {
    for (const [name = '', ...words] of commands) {
      this.pushList(name, words);
      yield;
    }
  }

  /** As `pushList` in slices, from one of the words on. The effect is added only when all of it is encoded. */
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

  /** The most frequent effect, written out because it is the hot path. */
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

  adopt(resp: Uint8Array, count: number): void {
    this.#settle();
    this.#settled.append(resp);
    this.#count += count;
  }

  /** Holds effects pushed from now on: `take` leaves them until `letGo` or `drop`. */
  hold(): void {
    this.#freeCount = this.#count;
    this.#freeBytes = this.bytes;
  }

  /** The count and bytes of the effects before the held ones. */
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

  /** Drops the effects pushed since there were `count` effects of `bytes`. */
  rollBack(count: number, bytes: number): void {
    const settled = this.#settled.length;
    if (bytes < settled) this.#settled.cut(bytes);
    this.#resp = bytes <= settled ? '' : this.#resp.slice(0, bytes - settled);
    this.#count = count;
  }

  /** Returns the encoded effects and removes them; held effects stay. */
  take(): Buffer {
    const { count, bytes } = this.free;
    const isHeld = this.#freeCount !== Number.POSITIVE_INFINITY;
    this.#count -= count;
    if (isHeld) {
      this.#freeCount = 0;
      this.#freeBytes = 0;
    }
    // Held effects may be large; without free effects they are not copied.
    if (bytes === 0) return NOTHING;
    this.#words = 0;
    if (this.#settled.length === 0 && !isHeld) {
      const all = Buffer.from(this.#resp, 'latin1');
      this.#resp = '';
      return all;
    }
    this.#settle();
    const all = this.#settled.take();
    // Turns under load are of similar size. Reserving the last turn's size avoids growing and copying the buffer about
    // three times.
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

  /** Copies long words directly into the buffer, so that they never become part of a longer string. */
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
