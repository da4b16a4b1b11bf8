/** CRC-64 with Jones' polynomial, reflected, initial value zero: the checksum of Redis's dump payloads. */

const POLYNOMIAL = 0x95ac9329ac4bc9b5n;

/** Bytes processed per step; each has its own table, so that the CPU can do the lookups in parallel. */
const STRIDE = 4;

// Two halves of 32 bits, because bigint arithmetic is about a hundred times slower.
const low = Array.from({ length: STRIDE }, () => new Int32Array(256));
const high = Array.from({ length: STRIDE }, () => new Int32Array(256));
for (let byte = 0; byte < 256; byte += 1) {
  let crc = BigInt(byte);
  for (let shift = 0; shift < STRIDE; shift += 1) {
    for (let bit = 0; bit < 8; bit += 1) crc = crc & 1n ? (crc >> 1n) ^ POLYNOMIAL : crc >> 1n;
    (low[shift] as Int32Array)[byte] = Number(BigInt.asIntN(32, crc));
    (high[shift] as Int32Array)[byte] = Number(BigInt.asIntN(32, crc >> 32n));
  }
}
const [low0, low1, low2, low3] = low as [Int32Array, Int32Array, Int32Array, Int32Array];
const [high0, high1, high2, high3] = high as [Int32Array, Int32Array, Int32Array, Int32Array];

/** Bytes per slice: a quarter of a millisecond, more while the code is not yet optimised. */
const STEP_BYTES = 128 * 1024;

/** The checksum of the first `length` bytes, as the eight little-endian bytes at the end of a payload. */
export function crc64(bytes: Uint8Array, length: number): Buffer {
  const checksum = new Crc64();
  checksum.add(bytes, 0, length);
  return checksum.toBytes();
}

/** As `crc64`, in slices. */
export function* crc64InSteps(bytes: Uint8Array, length: number): Generator<void, Buffer> {
  const checksum = new Crc64();
  for (let from = 0; from < length; from += STEP_BYTES) {
    checksum.add(bytes, from, Math.min(from + STEP_BYTES, length));
    yield;
  }
  return checksum.toBytes();
}

/** The checksum of bytes given in parts. */
export class Crc64 {
  #low = 0;
  #high = 0;

  add(bytes: Uint8Array, from: number, to: number): void {
    let crcLow = this.#low;
    let crcHigh = this.#high;
    let at = from;
    for (; at + STRIDE <= to; at += STRIDE) {
      const a = (crcLow ^ element(bytes, at)) & 0xff;
      const b = ((crcLow >>> 8) ^ element(bytes, at + 1)) & 0xff;
      const c = ((crcLow >>> 16) ^ element(bytes, at + 2)) & 0xff;
      const d = (crcLow >>> 24) ^ element(bytes, at + 3);
      crcLow = crcHigh ^ element(low3, a) ^ element(low2, b) ^ element(low1, c) ^ element(low0, d);
      crcHigh = element(high3, a) ^ element(high2, b) ^ element(high1, c) ^ element(high0, d);
    }
    for (; at < to; at += 1) {
      const index = (crcLow ^ element(bytes, at)) & 0xff;
      crcLow = ((crcLow >>> 8) | (crcHigh << 24)) ^ element(low0, index);
      crcHigh = (crcHigh >>> 8) ^ element(high0, index);
    }
    this.#low = crcLow;
    this.#high = crcHigh;
  }

  toBytes(): Buffer {
    const checksum = Buffer.allocUnsafe(8);
    checksum.writeInt32LE(this.#low, 0);
    checksum.writeInt32LE(this.#high, 4);
    return checksum;
  }
}

/** Reads an element that is known to exist. */
function element(array: Uint8Array | Int32Array, index: number): number {
  return array[index] as number;
}
