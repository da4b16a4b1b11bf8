/**
 * kv effects as words: RESP arrays of bulk strings, one after the other, cut from one buffer without
 * copying it. Every word is a string of its own: a piece of a large string would keep all of it alive.
 */
import { type ByteString, MillraceError } from '../kernel/index.js';

const STAR = 0x2a;
const DOLLAR = 0x24;
const CR = 0x0d;
const LF = 0x0a;

export class EffectWords {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(effects: Uint8Array) {
    this.#bytes = Buffer.from(effects.buffer, effects.byteOffset, effects.byteLength);
  }

  /** Bytes read so far. */
  get position(): number {
    return this.#at;
  }

  /** The next effect's words; undefined at the end. @throws JOURNAL_DAMAGED */
  next(): ByteString[] | undefined {
    if (this.#at === this.#bytes.length) return undefined;
    const count = this.#header(STAR);
    if (count === 0) throw this.#damage('an effect without words');
    const words: ByteString[] = [];
    for (let i = 0; i < count; i += 1) words.push(this.#word());
    return words;
  }

  #word(): ByteString {
    const length = this.#header(DOLLAR);
    const start = this.#at;
    const end = start + length;
    if (end + 2 > this.#bytes.length) throw this.#damage('a word is cut off');
    this.#at = end;
    this.#lineEnd();
    return this.#bytes.toString('latin1', start, end);
  }

  #header(kind: number): number {
    const bytes = this.#bytes;
    if (bytes[this.#at] !== kind) throw this.#damage(`no ${String.fromCharCode(kind)} where one has to be`);
    let at = this.#at + 1;
    let value = 0;
    for (let digit = (bytes[at] ?? 0) - 48; digit >= 0 && digit <= 9; digit = (bytes[at] ?? 0) - 48) {
      value = value * 10 + digit;
      at += 1;
    }
    if (at === this.#at + 1 || value > bytes.length) throw this.#damage('a length that cannot be');
    this.#at = at;
    this.#lineEnd();
    return value;
  }

  #lineEnd(): void {
    if (this.#bytes[this.#at] !== CR || this.#bytes[this.#at + 1] !== LF) throw this.#damage('a line does not end');
    this.#at += 2;
  }

  #damage(reason: string): MillraceError {
    return new MillraceError('JOURNAL_DAMAGED', `effects cannot be read: ${reason}`, { at: this.#at });
  }
}

/** One effect as bytes of the same format. */
export function effectBytes(words: readonly ByteString[]): ByteString {
  let resp = `*${words.length}\r\n`;
  for (const word of words) resp += `$${word.length}\r\n${word}\r\n`;
  return resp;
}
