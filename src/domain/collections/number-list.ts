/**
 * A list of 32-bit numbers that grows and shrinks at its end, four bytes each, in chunks outside the JavaScript heap.
 * Growing copies only the first chunk.
 */

/** A chunk has 256 KiB, so that the allocator takes it from the operating system and returns it. */
const CHUNK_BITS = 16;
const CHUNK_NUMBERS = 1 << CHUNK_BITS;
/** The first chunk starts this small and doubles: most accounts store few numbers. */
const FIRST_NUMBERS = 16;

export class NumberList {
  readonly #chunks: Uint32Array[] = [];
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** The index must exist. */
  at(index: number): number {
    return (this.#chunks[index >>> CHUNK_BITS] as Uint32Array)[index & (CHUNK_NUMBERS - 1)] as number;
  }

  /** The index must exist. */
  set(index: number, value: number): void {
    (this.#chunks[index >>> CHUNK_BITS] as Uint32Array)[index & (CHUNK_NUMBERS - 1)] = value;
  }

  push(value: number): void {
    const index = this.#length;
    const number = index >>> CHUNK_BITS;
    const place = index & (CHUNK_NUMBERS - 1);
    const chunk = this.#chunks[number];
    if (chunk === undefined) this.#chunks.push(new Uint32Array(number === 0 ? FIRST_NUMBERS : CHUNK_NUMBERS));
    else if (place === chunk.length) this.#chunks[number] = doubled(chunk);
    this.#length += 1;
    this.set(index, value);
  }

  /** The list must not be empty. */
  pop(): number {
    const last = this.at(this.#length - 1);
    this.#length -= 1;
    // One spare chunk stays, so that pushing and popping at a chunk's border allocates none.
    if (this.#chunks.length > (this.#length >>> CHUNK_BITS) + 2 || this.#length === 0) this.#chunks.pop();
    return last;
  }
}

function doubled(chunk: Uint32Array): Uint32Array {
  const larger = new Uint32Array(2 * chunk.length);
  larger.set(chunk);
  return larger;
}
