/** CRC-64 with Jones' polynomial, bits reflected, starting at zero: the checksum of Redis's dump payloads. */

const POLYNOMIAL = 0x95ac9329ac4bc9b5n;

// Two halves of 32 bits: bigint arithmetic would be a hundred times slower.
const tableLow = new Int32Array(256);
const tableHigh = new Int32Array(256);
for (let byte = 0; byte < 256; byte += 1) {
  let crc = BigInt(byte);
  for (let bit = 0; bit < 8; bit += 1) crc = crc & 1n ? (crc >> 1n) ^ POLYNOMIAL : crc >> 1n;
  tableLow[byte] = Number(BigInt.asIntN(32, crc));
  tableHigh[byte] = Number(BigInt.asIntN(32, crc >> 32n));
}

/** Checksum of the first `length` bytes, as the eight little-endian bytes a payload ends with. */
export function crc64(bytes: Uint8Array, length: number): Buffer {
  let low = 0;
  let high = 0;
  for (let at = 0; at < length; at += 1) {
    const index = (low ^ (bytes[at] as number)) & 0xff;
    low = ((low >>> 8) | (high << 24)) ^ (tableLow[index] as number);
    high = (high >>> 8) ^ (tableHigh[index] as number);
  }
  const checksum = Buffer.allocUnsafe(8);
  checksum.writeInt32LE(low, 0);
  checksum.writeInt32LE(high, 4);
  return checksum;
}
