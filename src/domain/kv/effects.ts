/**
 * The effects of a turn on one partition, as the journal keeps them: Redis commands in absolute form,
 * RESP-encoded. A command that changed nothing pushes nothing.
 */
import type { ByteString } from '../../kernel/index.js';
import { SLICE_WORDS } from './limits.js';

export class Effects {
  /** How many there were when what is held began, and their bytes; all that there are where nothing is held. */
  #freeCount = Number.POSITIVE_INFINITY;
  #freeBytes = Number.POSITIVE_INFINITY;
  /** In replay effects are read, not made: what handlers push is dropped before it is encoded. */
  isMuted = false;
  #resp: ByteString = '';
  #count = 0;

  /** How many effects have been pushed since the last `take`. */
  get count(): number {
    return this.#count;
  }

  /** Encoded bytes so far. */
  get bytes(): number {
    return this.#resp.length;
  }

  push(...words: ByteString[]): void {
    if (this.isMuted) return;
    let resp = `*${words.length}\r\n`;
    for (const word of words) resp += `$${word.length}\r\n${word}\r\n`;
    this.#resp += resp;
    this.#count += 1;
  }

  /** As `push`, for lists as long as a client likes: spread into arguments, those would overflow the stack. */
  pushList(name: ByteString, words: readonly ByteString[]): void {
    if (this.isMuted) return;
    let resp = `*${words.length + 1}\r\n$${name.length}\r\n${name}\r\n`;
    for (const word of words) resp += `$${word.length}\r\n${word}\r\n`;
    this.#resp += resp;
    this.#count += 1;
  }

  /** As `pushList`, in slices: nothing of it is there before it is all encoded. */
  *pushLong(name: ByteString, words: readonly ByteString[]): Generator<void, void> {
    if (this.isMuted) return;
    const pieces = [`*${words.length + 1}\r\n$${name.length}\r\n${name}\r\n`];
    for (let at = 0; at < words.length; at += SLICE_WORDS) {
      let piece = '';
      for (const word of words.slice(at, at + SLICE_WORDS)) piece += `$${word.length}\r\n${word}\r\n`;
      pieces.push(piece);
      yield;
    }
    // Added, not joined: bytes are made of them once, when the entry is.
    for (const piece of pieces) this.#resp += piece;
    this.#count += 1;
  }

  /** The commonest effect, spelled out because it is the hot path. */
  pushSet(key: ByteString, value: ByteString): void {
    if (this.isMuted) return;
    this.#resp += `*3\r\n$3\r\nSET\r\n$${key.length}\r\n${key}\r\n$${value.length}\r\n${value}\r\n`;
    this.#count += 1;
  }

  /** Takes over effects that are encoded already. */
  adopt(resp: ByteString, count: number): void {
    this.#resp += resp;
    this.#count += count;
  }

  /** What is pushed from now on is left by `take`, until it is let go or dropped. */
  hold(): void {
    this.#freeCount = this.#count;
    this.#freeBytes = this.#resp.length;
  }

  /** How many effects there are in front of what is held, and their bytes. */
  get free(): { readonly count: number; readonly bytes: number } {
    return { count: Math.min(this.#count, this.#freeCount), bytes: Math.min(this.#resp.length, this.#freeBytes) };
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
    this.#resp = this.#resp.slice(0, bytes);
    this.#count = count;
  }

  /** The encoded effects; what is held stays, and nothing else. */
  take(): ByteString {
    const { count, bytes } = this.free;
    const resp = this.#resp.slice(0, bytes);
    this.#resp = this.#resp.slice(bytes);
    this.#count -= count;
    if (this.#freeCount !== Number.POSITIVE_INFINITY) {
      this.#freeCount = 0;
      this.#freeBytes = 0;
    }
    return resp;
  }
}
