/**
 * A HyperLogLog in Redis's string format: `HYLL`, the form (0 dense, 1 sparse), three zeros, a 64-bit cached
 * cardinality with the highest bit set when it is outdated, and the registers.
 */
import { type ByteString, bufferOfBytes } from '../../../kernel/index.js';
import { eachRun, emptyRuns, MAX_SPARSE_VALUE, REGISTERS, raiseSparse } from './hyperloglog-sparse.js';
import type { Hash64 } from './murmur64.js';

const HEADER_BYTES = 16;
const DENSE_BYTES = HEADER_BYTES + (REGISTERS * 6) / 8;
const FORM_AT = 4;
const CARDINALITY_AT = 8;
const MAX_REGISTER = 63;
/** Hash bits used for counting zeros; the others choose the register. */
const COUNTED_BITS = 50;
/** 1 / (2 ln 2) */
const ALPHA = 0.5 / Math.LN2;

export class HyperLogLog {
  readonly #header: Buffer;
  /** Opcodes in sparse form, packed registers in dense form. */
  #sparse: number[] | undefined;
  #dense: Buffer | undefined;
  /** Set when it became dense because of the size limit; with another limit it might have stayed sparse. */
  hasOutgrown = false;

  private constructor(header: Buffer) {
    this.#header = header;
  }

  static empty(): HyperLogLog {
    const header = Buffer.alloc(HEADER_BYTES);
    header.write('HYLL', 'latin1');
    header[FORM_AT] = 1;
    const made = new HyperLogLog(header);
    made.#sparse = emptyRuns();
    return made;
  }

  /** Undefined when the string is not a HyperLogLog. */
  static read(text: ByteString): HyperLogLog | undefined {
    if (text.length < HEADER_BYTES || !text.startsWith('HYLL')) return undefined;
    const bytes = bufferOfBytes(text);
    const form = bytes[FORM_AT] as number;
    if (form > 1 || (form === 0 && bytes.length !== DENSE_BYTES)) return undefined;
    const read = new HyperLogLog(bytes.subarray(0, HEADER_BYTES));
    if (form === 1) read.#sparse = [...bytes.subarray(HEADER_BYTES)];
    else read.#dense = bytes.subarray(HEADER_BYTES);
    return read;
  }

  get isDense(): boolean {
    return this.#dense !== undefined;
  }

  get text(): ByteString {
    const body = this.#dense ?? Buffer.from(this.#sparse as number[]);
    return this.#header.toString('latin1') + body.toString('latin1');
  }

  /** The cached cardinality, unless it is outdated. */
  get cached(): number | undefined {
    if (((this.#header[CARDINALITY_AT + 7] as number) & 0x80) !== 0) return undefined;
    return Number(this.#header.readBigUInt64LE(CARDINALITY_AT));
  }

  invalidate(): void {
    this.#header[CARDINALITY_AT + 7] = (this.#header[CARDINALITY_AT + 7] as number) | 0x80;
  }

  /**
   * @returns whether a register was raised; undefined when the string is corrupt @param hash of the element @param
   * maxSparseBytes limit of the whole string in sparse form
   */
  add({ high, low }: Hash64, maxSparseBytes: number): boolean | undefined {
    // A set bit above the counted bits bounds the search.
    const counted = {
      low: ((low >>> 14) | (high << 18)) >>> 0,
      high: ((high >>> 14) | (1 << (COUNTED_BITS - 32))) >>> 0,
    };
    const zeros = counted.low !== 0 ? trailingZeros(counted.low) : 32 + trailingZeros(counted.high);
    return this.raise(low & (REGISTERS - 1), zeros + 1, maxSparseBytes);
  }

  /** As `add`, for a given register. */
  raise(index: number, count: number, maxSparseBytes: number): boolean | undefined {
    if (this.#sparse !== undefined) {
      const isTooHigh = count > MAX_SPARSE_VALUE;
      const outcome = isTooHigh ? 'too-large' : raiseSparse(this.#sparse, index, count, maxSparseBytes - HEADER_BYTES);
      if (outcome === 'corrupt') return undefined;
      if (outcome !== 'too-large') {
        if (outcome === 'changed') this.invalidate();
        return outcome === 'changed';
      }
      if (!this.makeDense()) return undefined;
      if (!isTooHigh) this.hasOutgrown = true;
    }
    const dense = this.#dense as Buffer;
    if (registerOf(dense, index) >= count) return false;
    setRegister(dense, index, count);
    return true;
  }

  /** @returns false when the string is corrupt */
  makeDense(): boolean {
    if (this.#dense !== undefined) return true;
    const registers = new Uint8Array(REGISTERS);
    if (!this.mergeInto(registers)) return false;
    this.#dense = Buffer.alloc(DENSE_BYTES - HEADER_BYTES);
    for (let i = 0; i < REGISTERS; i += 1) if (registers[i] !== 0) setRegister(this.#dense, i, registers[i] as number);
    this.#sparse = undefined;
    this.#header[FORM_AT] = 0;
    return true;
  }

  /** Raises each of `registers` to its value here. @returns false when the string is corrupt */
  mergeInto(registers: Uint8Array): boolean {
    if (this.#sparse !== undefined) {
      return eachRun(this.#sparse, (first, value, length) => {
        for (let i = first; i < first + length; i += 1) if (value > (registers[i] as number)) registers[i] = value;
      });
    }
    const dense = this.#dense as Buffer;
    for (let i = 0, at = 0; i < REGISTERS; i += 4, at += 3) {
      const word = (dense[at] as number) | ((dense[at + 1] as number) << 8) | ((dense[at + 2] as number) << 16);
      for (let j = 0; j < 4; j += 1) {
        const value = (word >> (j * 6)) & MAX_REGISTER;
        if (value > (registers[i + j] as number)) registers[i + j] = value;
      }
    }
    return true;
  }
}

function trailingZeros(word: number): number {
  return 31 - Math.clz32(word & -word);
}

/** Six bits per register, lowest first; a register may span two bytes. */
function registerOf(dense: Buffer, index: number): number {
  const at = (index * 6) >> 3;
  return (((dense[at] as number) | ((dense[at + 1] ?? 0) << 8)) >> ((index * 6) & 7)) & MAX_REGISTER;
}

function setRegister(dense: Buffer, index: number, value: number): void {
  const at = (index * 6) >> 3;
  const shift = (index * 6) & 7;
  const word = (dense[at] as number) | ((dense[at + 1] ?? 0) << 8);
  const changed = (word & ~(MAX_REGISTER << shift)) | (value << shift);
  dense[at] = changed & 0xff;
  if (at + 1 < dense.length) dense[at + 1] = changed >> 8;
}

/**
 * The approximate number of distinct elements. Source: O. Ertl, "New cardinality estimation algorithms for HyperLogLog
 * sketches", arXiv:1702.01284, algorithm 6.
 */
export function estimate(registers: Uint8Array): number {
  const histogram = new Array<number>(64).fill(0);
  for (const value of registers) histogram[value] = (histogram[value] as number) + 1;
  const m = REGISTERS;
  let z = m * tau((m - (histogram[COUNTED_BITS + 1] as number)) / m);
  for (let j = COUNTED_BITS; j >= 1; j -= 1) z = (z + (histogram[j] as number)) * 0.5;
  z += m * sigma((histogram[0] as number) / m);
  return Math.round((ALPHA * m * m) / z);
}

function sigma(start: number): number {
  if (start === 1) return Number.POSITIVE_INFINITY;
  let x = start;
  let y = 1;
  let z = x;
  let before: number;
  do {
    x *= x;
    before = z;
    z += x * y;
    y += y;
  } while (before !== z);
  return z;
}

function tau(start: number): number {
  if (start === 0 || start === 1) return 0;
  let x = start;
  let y = 1;
  let z = 1 - x;
  let before: number;
  do {
    x = Math.sqrt(x);
    before = z;
    y *= 0.5;
    z -= (1 - x) ** 2 * y;
  } while (before !== z);
  return z / 3;
}
