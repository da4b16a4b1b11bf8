/** The stored form of an index's contents: numbers, texts and lists, little-endian, written and read in order. */
import { SearchProblem } from './definition.js';

/** Pieces are passed on when they have this size. */
const PIECE_BYTES = 256 * 1024;
/** Longer lists are copied in one go; all supported processors are little-endian. */
const COPIED_FROM = 32;

export class ContentsWriter {
  #piece = Buffer.alloc(PIECE_BYTES);
  #length = 0;
  readonly #full: Uint8Array[] = [];

  /** The pieces that are complete. */
  takeFull(): Uint8Array[] {
    return this.#full.splice(0);
  }

  /** All pieces that are left. */
  takeRest(): Uint8Array[] {
    const rest = this.takeFull();
    if (this.#length > 0) rest.push(this.#piece.subarray(0, this.#length));
    this.#piece = Buffer.alloc(0);
    this.#length = 0;
    return rest;
  }

  integer(value: number): void {
    this.#room(4);
    this.#length = this.#piece.writeUInt32LE(value, this.#length);
  }

  float(value: number): void {
    this.#room(8);
    this.#length = this.#piece.writeDoubleLE(value, this.#length);
  }

  text(value: string): void {
    const bytes = Buffer.from(value, 'utf8');
    this.integer(bytes.length);
    this.#room(bytes.length);
    bytes.copy(this.#piece, this.#length);
    this.#length += bytes.length;
  }

  integers(values: ArrayLike<number>, length = values.length): void {
    this.integer(length);
    for (let at = 0; at < length; at += 1) this.integer(values[at] as number);
  }

  #room(bytes: number): void {
    if (this.#length + bytes <= this.#piece.length) return;
    if (this.#length > 0) this.#full.push(this.#piece.subarray(0, this.#length));
    this.#piece = Buffer.alloc(Math.max(PIECE_BYTES, bytes));
    this.#length = 0;
  }
}

/** @throws SearchProblem beyond the end */
export class ContentsReader {
  readonly #bytes: Buffer<ArrayBuffer>;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.byteLength);
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  integer(): number {
    return this.#bytes.readUInt32LE(this.#take(4));
  }

  float(): number {
    return this.#bytes.readDoubleLE(this.#take(8));
  }

  text(): string {
    const length = this.integer();
    const from = this.#take(length);
    return this.#bytes.toString('utf8', from, from + length);
  }

  integers(): Uint32Array {
    const length = this.integer();
    const from = this.#take(4 * length);
    if (length >= COPIED_FROM) {
      const start = this.#bytes.byteOffset + from;
      return new Uint32Array(this.#bytes.buffer.slice(start, start + 4 * length));
    }
    const values = new Uint32Array(length);
    for (let at = 0; at < length; at += 1) values[at] = this.#bytes.readUInt32LE(from + 4 * at);
    return values;
  }

  #take(bytes: number): number {
    const from = this.#at;
    if (from + bytes > this.#bytes.length) throw new SearchProblem('the stored contents of an index end too early');
    this.#at = from + bytes;
    return from;
  }
}
