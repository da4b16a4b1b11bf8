/**
 * What waits to be written to one client, in order: references to bytes that others may be told as well, and that are
 * made once for all of them.
 *
 *  SY1 what is taken out for one write is at most about `WRITE_BYTES`: a part of what is long, or several that are
 *      short
 *  SY2 what is long is never copied
 */
/** Byte strings, short texts, or the bytes of long ones. */
export type Said = string | Buffer;

/** A write of this size is worth its system call. */
export const WRITE_BYTES = 64 * 1024;
/** Not worth a write of its own. */
const REMAINDER_BYTES = WRITE_BYTES / 4;
/** Worth a write of its own; what is shorter is cheaper to copy. */
const LONG_BYTES = 16 * 1024;

/** @returns a text of any characters, in a form that may be cut anywhere */
export function shareable(text: string): Said {
  return text.length < WRITE_BYTES ? text : Buffer.from(text, 'utf8');
}

export class SaidBytes {
  #said: Said[] = [];
  #head = 0;
  /** How much of the first has been taken out. */
  #taken = 0;
  #bytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  add(said: Said): void {
    this.#said.push(said);
    this.#bytes += said.length;
  }

  clear(): void {
    this.#said = [];
    this.#head = 0;
    this.#taken = 0;
    this.#bytes = 0;
  }

  /** The next to be written; there has to be something. (SY1) */
  take(): Said {
    const first = this.#said[this.#head] as Said;
    const taken = typeof first === 'string' && first.length < LONG_BYTES ? this.#takeShort() : this.#takePart(first);
    this.#bytes -= taken.length;
    if (this.#head === this.#said.length) {
      this.#said.length = 0;
      this.#head = 0;
    } else if (this.#head * 2 >= this.#said.length) {
      this.#said = this.#said.slice(this.#head);
      this.#head = 0;
    }
    return taken;
  }

  #takePart(first: Said): Said {
    const from = this.#taken;
    const isLast = first.length - from <= WRITE_BYTES + REMAINDER_BYTES;
    if (!isLast) {
      this.#taken += WRITE_BYTES;
      return typeof first === 'string' ? first.slice(from, this.#taken) : first.subarray(from, this.#taken);
    }
    this.#head += 1;
    this.#taken = 0;
    if (from === 0) return first;
    return typeof first === 'string' ? first.slice(from) : first.subarray(from);
  }

  #takeShort(): string {
    const from = this.#head;
    let bytes = 0;
    for (let at = from; at < this.#said.length; at += 1) {
      const said = this.#said[at] as Said;
      if (typeof said !== 'string' || said.length >= LONG_BYTES || bytes + said.length > WRITE_BYTES) break;
      bytes += said.length;
      this.#head += 1;
    }
    return this.#head === from + 1 ? (this.#said[from] as string) : this.#said.slice(from, this.#head).join('');
  }
}
