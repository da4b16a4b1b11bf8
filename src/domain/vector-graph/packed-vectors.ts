/**
 * Vectors by ordinal in arrays of about a megabyte, in one of four precisions. A query is always of 32 bits.
 *
 *  PV1 with F32, equal vectors have a cosine of exactly 1 and a distance of exactly 0
 *  PV2 the precision of a number is relative to the largest number of its vector, so no vector is too long or too short
 */

/** Numbers of 16 bits (binary16 of IEEE 754) as bit patterns, for magnitudes below 65,504. */
const EXPONENT_SHIFT = 10;
const FRACTION = 2 ** EXPONENT_SHIFT;
const SIGN = 0x8000;
const SMALLEST_EXPONENT = -14;

/** The value of each bit pattern. */
const HALF_VALUES = Float32Array.from({ length: 2 ** 16 }, (_, bits) => {
  const exponent = (bits >> EXPONENT_SHIFT) & 0x1f;
  const fraction = (bits & (FRACTION - 1)) / FRACTION;
  const value =
    exponent === 0 ? fraction * 2 ** SMALLEST_EXPONENT : (1 + fraction) * 2 ** (exponent - 1 + SMALLEST_EXPONENT);
  return bits >= SIGN ? -value : value;
});

/** The bit pattern of the nearest number of 16 bits. */
function halfOf(value: number): number {
  const magnitude = Math.abs(value);
  const sign = value < 0 ? SIGN : 0;
  const exponent = Math.max(SMALLEST_EXPONENT, exponentOf(magnitude));
  // In units of the last place. A carry into the next exponent gives the right pattern, because exponents follow fractions.
  const units = Math.round(magnitude / 2 ** (exponent - EXPONENT_SHIFT));
  return sign + units + (exponent - SMALLEST_EXPONENT) * FRACTION;
}

const single = new Float32Array(1);
const singleBits = new Uint32Array(single.buffer);

/** The exponent of a number of 32 bits; that of 0 and of subnormal numbers is −127. */
function exponentOf(value: number): number {
  single[0] = value;
  return (((singleBits[0] as number) >>> 23) & 0xff) - 127;
}

/** `B1` is the sign of each number. */
export type Precision = 'F32' | 'F16' | 'I8' | 'B1';

const BLOCK_BYTES = 2 ** 20;
/** Room of the first block, which grows up to a full block: most sets of vectors are small. */
const FIRST_VECTORS = 8;
const LARGEST_BYTE = 127;
/** Of bytes: smaller numbers have no exact multiples with 32 bits. */
const SMALLEST_SCALE = 2 ** -120;
const WORD_BITS = 32;

export interface QueryVector {
  readonly numbers: Float32Array;
  /** The square of its length. */
  readonly squared: number;
  /** The signs, for `B1`. */
  readonly signs: Int32Array | undefined;
}

type Numbers = Float32Array | Uint16Array | Int8Array | Int32Array;

interface Block {
  readonly numbers: Numbers;
  /** The factor of each vector's stored numbers. */
  readonly scales: Float32Array;
  /** The squares of the lengths. */
  readonly squared: Float64Array;
}

export class PackedVectors {
  readonly #blocks: Block[] = [];
  readonly #perBlock: number;
  /** Elements of an array for one vector. */
  readonly #stride: number;

  constructor(
    readonly dimension: number,
    readonly precision: Precision,
  ) {
    this.#stride = precision === 'B1' ? Math.ceil(dimension / WORD_BITS) : dimension;
    this.#perBlock = Math.max(1, Math.floor(BLOCK_BYTES / (this.#stride * elementBytes(precision))));
  }

  /** Bytes of one stored vector. */
  get vectorBytes(): number {
    return this.#stride * elementBytes(this.precision) + 12;
  }

  query(numbers: Float32Array): QueryVector {
    const squared = product(numbers, numbers, 0);
    return { numbers, squared, signs: this.precision === 'B1' ? signsOf(numbers) : undefined };
  }

  /** A stored vector as a query. */
  queryOf(ordinal: number): QueryVector {
    const numbers = this.read(ordinal);
    const signs = this.precision === 'B1' ? signsOf(numbers) : undefined;
    return { numbers, squared: this.squared(ordinal), signs };
  }

  set(ordinal: number, vector: Float32Array): void {
    const at = ordinal % this.#perBlock;
    const { numbers, scales, squared } = this.#blockFor(ordinal, at);
    const from = at * this.#stride;
    scales[at] = writeInto(numbers, from, vector);
    squared[at] = this.query(this.read(ordinal)).squared;
  }

  /** Its numbers, as precisely as they are stored. The array must not be changed. */
  read(ordinal: number): Float32Array {
    const at = ordinal % this.#perBlock;
    const { numbers, scales } = this.#block(ordinal);
    const from = at * this.#stride;
    if (numbers instanceof Float32Array) return numbers.subarray(from, from + this.dimension);
    const scale = scales[at] as number;
    const { dimension } = this;
    if (numbers instanceof Int32Array) {
      return Float32Array.from({ length: dimension }, (_, i) =>
        (((numbers[from + Math.floor(i / WORD_BITS)] as number) >>> (i % WORD_BITS)) & 1) === 1 ? 1 : -1,
      );
    }
    const read = new Float32Array(dimension);
    if (numbers instanceof Uint16Array) {
      for (let i = 0; i < dimension; i += 1) read[i] = (HALF_VALUES[numbers[from + i] as number] as number) * scale;
    } else {
      for (let i = 0; i < dimension; i += 1) read[i] = (numbers[from + i] as number) * scale;
    }
    return read;
  }

  /** Its stored bytes, little-endian. */
  rawBytes(ordinal: number): Uint8Array {
    const { numbers } = this.#block(ordinal);
    const from = (ordinal % this.#perBlock) * this.#stride * numbers.BYTES_PER_ELEMENT;
    return new Uint8Array(numbers.buffer, from, this.#stride * numbers.BYTES_PER_ELEMENT);
  }

  /** The square of a stored vector's length. */
  squared(ordinal: number): number {
    return this.#block(ordinal).squared[ordinal % this.#perBlock] as number;
  }

  product(query: QueryVector, ordinal: number): number {
    const at = ordinal % this.#perBlock;
    const { numbers, scales } = this.#block(ordinal);
    const from = at * this.#stride;
    if (numbers instanceof Float32Array) return product(query.numbers, numbers, from);
    if (numbers instanceof Uint16Array) return productOfHalves(query.numbers, numbers, from) * (scales[at] as number);
    if (numbers instanceof Int8Array) return productOfBytes(query.numbers, numbers, from) * (scales[at] as number);
    return this.dimension - 2 * differentBits(query.signs as Int32Array, numbers, from);
  }

  squaredDistance(query: QueryVector, ordinal: number): number {
    const { numbers } = this.#block(ordinal);
    if (numbers instanceof Float32Array) {
      return squaredDistance(query.numbers, numbers, (ordinal % this.#perBlock) * this.#stride);
    }
    return Math.max(0, query.squared + this.squared(ordinal) - 2 * this.product(query, ordinal));
  }

  /** From −1 to 1; undefined if one of both has no direction. */
  cosine(query: QueryVector, ordinal: number): number | undefined {
    const squared = this.squared(ordinal);
    const length = this.precision === 'B1' ? this.dimension : query.squared;
    if (query.squared === 0 || squared === 0) return undefined;
    // The root of a square is exact, so a vector and itself have exactly 1.
    return Math.max(-1, Math.min(1, this.product(query, ordinal) / Math.sqrt(length * squared)));
  }

  #block(ordinal: number): Block {
    return this.#blocks[Math.floor(ordinal / this.#perBlock)] as Block;
  }

  #blockFor(ordinal: number, at: number): Block {
    const number = Math.floor(ordinal / this.#perBlock);
    while (this.#blocks.length <= number) {
      const isFirst = this.#blocks.length === 0;
      this.#blocks.push(this.#made(isFirst ? Math.min(FIRST_VECTORS, this.#perBlock) : this.#perBlock));
    }
    const block = this.#blocks[number] as Block;
    if (at < block.scales.length) return block;
    const larger = this.#made(Math.min(this.#perBlock, Math.max(at + 1, 2 * block.scales.length)));
    larger.numbers.set(block.numbers);
    larger.scales.set(block.scales);
    larger.squared.set(block.squared);
    this.#blocks[number] = larger;
    return larger;
  }

  #made(vectors: number): Block {
    return {
      numbers: arrayOf(this.precision, vectors * this.#stride),
      scales: new Float32Array(vectors),
      squared: new Float64Array(vectors),
    };
  }
}

function elementBytes(precision: Precision): number {
  return { F32: 4, F16: 2, I8: 1, B1: 4 }[precision];
}

function arrayOf(precision: Precision, length: number): Numbers {
  switch (precision) {
    case 'F32':
      return new Float32Array(length);
    case 'F16':
      return new Uint16Array(length);
    case 'I8':
      return new Int8Array(length);
    case 'B1':
      return new Int32Array(length);
  }
}

/** @returns the factor of the written numbers */
function writeInto(numbers: Numbers, from: number, vector: Float32Array): number {
  if (numbers instanceof Float32Array) {
    numbers.set(vector, from);
    return 1;
  }
  if (numbers instanceof Int32Array) {
    numbers.set(signsOf(vector), from);
    return 1;
  }
  let largest = 0;
  for (const value of vector) largest = Math.max(largest, Math.abs(value));
  if (numbers instanceof Uint16Array) {
    // A power of two, so that dividing by it is exact.
    const scale = 2 ** Math.max(-126, exponentOf(largest));
    for (let i = 0; i < vector.length; i += 1) numbers[from + i] = halfOf((vector[i] as number) / scale);
    return scale;
  }
  const scale = byteScale(largest);
  for (let i = 0; i < vector.length; i += 1) numbers[from + i] = Math.round((vector[i] as number) / scale);
  return scale;
}

/** A factor with which bytes that are read and written again stay the same. */
function byteScale(largest: number): number {
  if (largest < SMALLEST_SCALE * LARGEST_BYTE) return SMALLEST_SCALE;
  return Math.fround(Math.fround(Math.fround(largest / LARGEST_BYTE) * LARGEST_BYTE) / LARGEST_BYTE);
}

function signsOf(vector: Float32Array): Int32Array {
  const signs = new Int32Array(Math.ceil(vector.length / WORD_BITS));
  for (let i = 0; i < vector.length; i += 1) {
    if ((vector[i] as number) > 0) {
      const word = Math.floor(i / WORD_BITS);
      signs[word] = (signs[word] as number) | (1 << (i % WORD_BITS));
    }
  }
  return signs;
}

// The loops have four sums: with one, each addition waits for the previous one.

function product(query: Float32Array, numbers: Float32Array, from: number): number {
  let [a, b, c, d] = [0, 0, 0, 0];
  const { length } = query;
  const even = length - (length % 4);
  for (let i = 0; i < even; i += 4) {
    a += (query[i] as number) * (numbers[from + i] as number);
    b += (query[i + 1] as number) * (numbers[from + i + 1] as number);
    c += (query[i + 2] as number) * (numbers[from + i + 2] as number);
    d += (query[i + 3] as number) * (numbers[from + i + 3] as number);
  }
  for (let i = even; i < length; i += 1) a += (query[i] as number) * (numbers[from + i] as number);
  return a + b + c + d;
}

function squaredDistance(query: Float32Array, numbers: Float32Array, from: number): number {
  let [a, b] = [0, 0];
  const { length } = query;
  const even = length - (length % 2);
  for (let i = 0; i < even; i += 2) {
    const first = (query[i] as number) - (numbers[from + i] as number);
    const second = (query[i + 1] as number) - (numbers[from + i + 1] as number);
    a += first * first;
    b += second * second;
  }
  if (even < length) a += ((query[even] as number) - (numbers[from + even] as number)) ** 2;
  return a + b;
}

function productOfHalves(query: Float32Array, halves: Uint16Array, from: number): number {
  const values = HALF_VALUES;
  let [a, b, c, d] = [0, 0, 0, 0];
  const { length } = query;
  const even = length - (length % 4);
  for (let i = 0; i < even; i += 4) {
    a += (query[i] as number) * (values[halves[from + i] as number] as number);
    b += (query[i + 1] as number) * (values[halves[from + i + 1] as number] as number);
    c += (query[i + 2] as number) * (values[halves[from + i + 2] as number] as number);
    d += (query[i + 3] as number) * (values[halves[from + i + 3] as number] as number);
  }
  for (let i = even; i < length; i += 1) a += (query[i] as number) * (values[halves[from + i] as number] as number);
  return a + b + c + d;
}

function productOfBytes(query: Float32Array, bytes: Int8Array, from: number): number {
  let [a, b, c, d] = [0, 0, 0, 0];
  const { length } = query;
  const even = length - (length % 4);
  for (let i = 0; i < even; i += 4) {
    a += (query[i] as number) * (bytes[from + i] as number);
    b += (query[i + 1] as number) * (bytes[from + i + 1] as number);
    c += (query[i + 2] as number) * (bytes[from + i + 2] as number);
    d += (query[i + 3] as number) * (bytes[from + i + 3] as number);
  }
  for (let i = even; i < length; i += 1) a += (query[i] as number) * (bytes[from + i] as number);
  return a + b + c + d;
}

function differentBits(query: Int32Array, words: Int32Array, from: number): number {
  let count = 0;
  for (let i = 0; i < query.length; i += 1) {
    let bits = (query[i] as number) ^ (words[from + i] as number);
    bits -= (bits >>> 1) & 0x55555555;
    bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333);
    count += Math.imul((bits + (bits >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
  }
  return count;
}
