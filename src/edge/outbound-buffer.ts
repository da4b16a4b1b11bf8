/**
 * Bytes that wait to be written to one client, in order: references to messages that are encoded once for all their
 * listeners.
 *
 *  SY1 one write takes at most about `WRITE_BYTES`: a part of a long message, or several short ones
 *  SY2 a long message is never copied
 */
/** Byte strings, short texts, or the bytes of long ones. */
export type OutboundChunk = string | Buffer;

/** Large enough to be worth a system call. */
export const WRITE_BYTES = 64 * 1024;
/** Too small for a separate write. */
const REMAINDER_BYTES = WRITE_BYTES / 4;
/** Large enough for a separate write; shorter messages are cheaper to copy. */
const LONG_BYTES = 16 * 1024;

/** @returns the text in a form that may be cut anywhere */
export function sharedChunk(text: string): OutboundChunk {
  return text.length < WRITE_BYTES ? text : Buffer.from(text, 'utf8');
}

export class OutboundBuffer {
  #chunks: OutboundChunk[] = [];
  #head = 0;
  /** Bytes already taken from the first message. */
  #taken = 0;
  #bytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  add(chunk: OutboundChunk): void {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
  }

  clear(): void {
    this.#chunks = [];
    this.#head = 0;
    this.#taken = 0;
    this.#bytes = 0;
  }

  /** The next write (SY1: at most about `WRITE_BYTES`); there must be waiting bytes. */
  take(): OutboundChunk {
    const first = this.#chunks[this.#head] as OutboundChunk;
    const taken = typeof first === 'string' && first.length < LONG_BYTES ? this.#takeShort() : this.#takePart(first);
    this.#bytes -= taken.length;
    if (this.#head === this.#chunks.length) {
      this.#chunks.length = 0;
      this.#head = 0;
    } else if (this.#head * 2 >= this.#chunks.length) {
      this.#chunks = this.#chunks.slice(this.#head);
      this.#head = 0;
    }
    return taken;
  }

  #takePart(first: OutboundChunk): OutboundChunk {
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
    for (let at = from; at < this.#chunks.length; at += 1) {
      const chunk = this.#chunks[at] as OutboundChunk;
      if (typeof chunk !== 'string' || chunk.length >= LONG_BYTES || bytes + chunk.length > WRITE_BYTES) break;
      bytes += chunk.length;
      this.#head += 1;
    }
    return this.#head === from + 1 ? (this.#chunks[from] as string) : this.#chunks.slice(from, this.#head).join('');
  }
}
