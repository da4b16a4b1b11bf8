/**
 * The effects of a turn on one partition, as the journal keeps them: Redis commands in absolute form,
 * RESP-encoded. A command that changed nothing pushes nothing.
 *
 * Strings that were put together word by word are laid out in memory when somebody reads them: of a million words
 * that takes a tenth of a second. So what has been pushed is laid out every so often, while the command runs, and
 * making bytes of it for the entry is copying a few large pieces.
 */
import { type ByteString, bufferOfBytes, bytesOfBuffer } from '../../kernel/index.js';
import { SLICE_WORDS } from './limits.js';

/** Words after which what was pushed is laid out in one piece. */
const SETTLED_WORDS = 2048;
/** What is longer than this for so few words is in few pieces, and costs more to copy than it saves. */
const MAX_SETTLED_BYTES = 512 * 1024;

export class Effects {
  /** How many there were when what is held began, and their bytes; all that there are where nothing is held. */
  #freeCount = Number.POSITIVE_INFINITY;
  #freeBytes = Number.POSITIVE_INFINITY;
  /** In replay effects are read, not made: what handlers push is dropped before it is encoded. */
  isMuted = false;
  /** What was pushed earlier, laid out in pieces. */
  #settled: ByteString = '';
  /** What was pushed since, and is not laid out yet. */
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
    if (this.isMuted) return;
    let resp = `*${words.length}\r\n`;
    for (const word of words) resp += `$${word.length}\r\n${word}\r\n`;
    this.#resp += resp;
    this.#count += 1;
    this.#noteWords(words.length);
  }

  /** This is `push` for lists as long as a client likes: spread into arguments, those would overflow the stack. */
  pushList(name: ByteString, words: readonly ByteString[]): void {
    if (this.isMuted) return;
    let resp = `*${words.length + 1}\r\n$${name.length}\r\n${name}\r\n`;
    for (const word of words) resp += `$${word.length}\r\n${word}\r\n`;
    this.#resp += resp;
    this.#count += 1;
    this.#noteWords(words.length);
  }

  /** Commands with their names, one after the other, and a pause behind each. */
  *pushEach(commands: Iterable<readonly ByteString[]>): Generator<void, void> {
    for (const [name = '', ...words] of commands) {
      this.pushList(name, words);
      yield;
    }
  }

  /** This is `pushList` in slices: nothing of it is there before it is all encoded. */
  *pushLong(name: ByteString, words: readonly ByteString[]): Generator<void, void> {
    if (this.isMuted) return;
    if (words.length <= SLICE_WORDS) {
      this.pushList(name, words);
      return;
    }
    const pieces = [`*${words.length + 1}\r\n$${name.length}\r\n${name}\r\n`];
    for (let at = 0; at < words.length; at += SLICE_WORDS) {
      let piece = '';
      for (const word of words.slice(at, at + SLICE_WORDS)) piece += `$${word.length}\r\n${word}\r\n`;
      pieces.push(laidOut(piece));
      yield;
    }
    // Added, not joined: bytes are made of them once, when the entry is.
    for (const piece of pieces) this.#resp += piece;
    this.#count += 1;
    this.#settle();
  }

  /** The commonest effect, spelled out because it is the hot path. */
  pushSet(key: ByteString, value: ByteString): void {
    if (this.isMuted) return;
    this.#resp += `*3\r\n$3\r\nSET\r\n$${key.length}\r\n${key}\r\n$${value.length}\r\n${value}\r\n`;
    this.#count += 1;
    this.#noteWords(1);
  }

  /** Takes over effects that are encoded already. */
  adopt(resp: ByteString, count: number): void {
    this.#resp += resp;
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
    if (bytes < settled) this.#settled = this.#settled.slice(0, bytes);
    this.#resp = bytes <= settled ? '' : this.#resp.slice(0, bytes - settled);
    this.#count = count;
  }

  /** The encoded effects; what is held stays, and nothing else. */
  take(): ByteString {
    const all = this.#all;
    const { count, bytes } = this.free;
    this.#settled = '';
    this.#words = 0;
    if (this.#freeCount === Number.POSITIVE_INFINITY) {
      this.#resp = '';
      this.#count = 0;
      return all;
    }
    this.#resp = all.slice(bytes);
    this.#count -= count;
    this.#freeCount = 0;
    this.#freeBytes = 0;
    return all.slice(0, bytes);
  }

  get #all(): ByteString {
    return this.#settled === '' ? this.#resp : this.#settled + this.#resp;
  }

  #noteWords(count: number): void {
    this.#words += count;
    if (this.#words >= SETTLED_WORDS) this.#settle();
  }

  #settle(): void {
    this.#settled += laidOut(this.#resp);
    this.#resp = '';
    this.#words = 0;
  }
}

function laidOut(resp: ByteString): ByteString {
  return resp.length > MAX_SETTLED_BYTES ? resp : bytesOfBuffer(bufferOfBytes(resp));
}
