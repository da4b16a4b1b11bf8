/**
 * A list of numbers of 32 bits that grows and shrinks at its end: four bytes for each, in chunks outside of the heap,
 * so that growing copies nothing but the first of them.
 */

/** A quarter of a mebibyte in each chunk: the allocator takes it from the system and gives it back. */
const CHUNK_BITS = 16;
const CHUNK_NUMBERS = 1 << CHUNK_BITS;
/** The first chunk begins as small as this, and doubles: most accounts have little to keep. */
const FIRST_NUMBERS = 16;

export class NumberList {
  readonly #chunks: Uint32Array[] = [];
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** At a place that there is. */
  at(index: number): number {
    return (this.#chunks[index >>> CHUNK_BITS] as Uint32Array)[index & (CHUNK_NUMBERS - 1)] as number;
  }

  /** At a place that there is. */
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

  /** Of a list that is not empty. */
  pop(): number {
    const last = this.at(this.#length - 1);
    this.#length -= 1;
    // One chunk more than is needed stays, so that going back and forth over a border makes none.
    if (this.#chunks.length > (this.#length >>> CHUNK_BITS) + 2 || this.#length === 0) this.#chunks.pop();
    return last;
  }
}

function doubled(chunk: Uint32Array): Uint32Array {
  const larger = new Uint32Array(2 * chunk.length);
  larger.set(chunk);
  return larger;
}
