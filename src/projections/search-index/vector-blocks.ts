/**
 * Vectors of documents by ordinal, one byte per dimension. A block stores the first dimension of all its ordinals,
 * then the second, and so on: a query's vector has few non-zero dimensions, and only these are read. The first block
 * starts small and grows, because a database with many indexes has mostly small ones.
 */

/** Ordinals per block, except a first block that is still growing. */
export const BLOCK_ORDINALS = 1024;
const FIRST_ORDINALS = 16;
const LARGEST = 127;

/** The compared form of a vector: integers from -127 to 127, and the factor that makes its length 1. */
export interface QuantizedVector {
  readonly dimensions: Int32Array;
  readonly values: Float32Array;
  /** 1 / length; 0 for the zero vector. */
  readonly scale: number;
}

export function quantized(vector: Float32Array): QuantizedVector {
  let largest = 0;
  for (let at = 0; at < vector.length; at += 1) largest = Math.max(largest, Math.abs(vector[at] as number));
  const dimensions = new Int32Array(vector.length);
  const values = new Float32Array(vector.length);
  const factor = largest === 0 ? 0 : LARGEST / largest;
  let used = 0;
  let squares = 0;
  for (let at = 0; at < vector.length; at += 1) {
    const value = Math.round((vector[at] as number) * factor);
    if (value === 0) continue;
    dimensions[used] = at;
    values[used] = value;
    used += 1;
    squares += value * value;
  }
  return {
    dimensions: dimensions.subarray(0, used),
    values: values.subarray(0, used),
    scale: squares === 0 ? 0 : 1 / Math.sqrt(squares),
  };
}

interface Block {
  readonly bytes: Int8Array;
  /** Capacity of the block: the distance between two dimensions of one vector. */
  readonly ordinals: number;
}

export class VectorBlocks {
  readonly #blocks: Block[] = [];
  #scales = new Float32Array(FIRST_ORDINALS);

  constructor(readonly dimensions: number) {}

  /** @param isUsed whether the ordinal had a vector before */
  set(ordinal: number, vector: QuantizedVector, isUsed: boolean): void {
    const within = ordinal % BLOCK_ORDINALS;
    const { bytes, ordinals } = this.#blockWith(Math.floor(ordinal / BLOCK_ORDINALS), within);
    for (let dimension = 0; isUsed && dimension < this.dimensions; dimension += 1)
      bytes[dimension * ordinals + within] = 0;
    for (let i = 0; i < vector.dimensions.length; i += 1) {
      bytes[(vector.dimensions[i] as number) * ordinals + within] = vector.values[i] as number;
    }
    if (ordinal >= this.#scales.length) {
      const larger = new Float32Array(Math.max(ordinal + 1, this.#scales.length * 2));
      larger.set(this.#scales);
      this.#scales = larger;
    }
    this.#scales[ordinal] = vector.scale;
  }

  /** Writes the cosines (-1 to 1) of one block's ordinals with the query into `into`. */
  cosines(number: number, { dimensions, values, scale }: QuantizedVector, into: Float32Array): void {
    const { bytes, ordinals } = this.#blocks[number] as Block;
    into.fill(0, 0, BLOCK_ORDINALS);
    // Four dimensions at a time halve the run time, which is mostly reading and writing the sums.
    for (let i = 0; i < dimensions.length; i += 4) {
      const a = dimensions[i] as number;
      const [b, c, d] = [dimensions[i + 1] ?? a, dimensions[i + 2] ?? a, dimensions[i + 3] ?? a];
      const [va, vb, vc, vd] = [values[i] as number, values[i + 1] ?? 0, values[i + 2] ?? 0, values[i + 3] ?? 0];
      addFour(bytes, ordinals, into, [a, b, c, d], [va, vb, vc, vd]);
    }
    const first = number * BLOCK_ORDINALS;
    const scales = this.#scales;
    const used = Math.min(ordinals, scales.length - first);
    for (let ordinal = 0; ordinal < used; ordinal += 1) {
      into[ordinal] = (into[ordinal] as number) * scale * (scales[first + ordinal] as number);
    }
  }

  #blockWith(number: number, within: number): Block {
    while (this.#blocks.length <= number) {
      const ordinals = this.#blocks.length === 0 ? FIRST_ORDINALS : BLOCK_ORDINALS;
      this.#blocks.push({ bytes: new Int8Array(ordinals * this.dimensions), ordinals });
    }
    const block = this.#blocks[number] as Block;
    if (within < block.ordinals) return block;
    let ordinals = block.ordinals;
    while (ordinals <= within) ordinals *= 2;
    const grown = { bytes: new Int8Array(ordinals * this.dimensions), ordinals };
    for (let dimension = 0; dimension < this.dimensions; dimension += 1) {
      const from = dimension * block.ordinals;
      grown.bytes.set(block.bytes.subarray(from, from + block.ordinals), dimension * ordinals);
    }
    this.#blocks[number] = grown;
    return grown;
  }
}

type Four = readonly [number, number, number, number];

function addFour(
  bytes: Int8Array,
  ordinals: number,
  into: Float32Array,
  [a, b, c, d]: Four,
  [va, vb, vc, vd]: Four,
): void {
  const fromA = a * ordinals;
  const fromB = b * ordinals;
  const fromC = c * ordinals;
  const fromD = d * ordinals;
  for (let ordinal = 0; ordinal < ordinals; ordinal += 1) {
    into[ordinal] =
      (into[ordinal] as number) +
      va * (bytes[fromA + ordinal] as number) +
      vb * (bytes[fromB + ordinal] as number) +
      vc * (bytes[fromC + ordinal] as number) +
      vd * (bytes[fromD + ordinal] as number);
  }
}

/** A client's vector, normalised to length 1. */
export function normalized(vector: readonly number[]): Float32Array {
  // Divided by the largest value first, so that squares of large numbers stay finite.
  const largest = vector.reduce((most, value) => Math.max(most, Math.abs(value)), 0) || 1;
  const length = Math.sqrt(vector.reduce((sum, value) => sum + (value / largest) ** 2, 0)) || 1;
  return Float32Array.from(vector, (value) => value / largest / length);
}

/** The cosine of two vectors of length 1 with equal dimensions. */
export function cosine(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let at = 0; at < a.length; at += 1) sum += (a[at] as number) * (b[at] as number);
  return Math.max(-1, Math.min(1, sum));
}
