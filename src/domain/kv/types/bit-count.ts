/** Counts and finds bits in bytes; bit 0 is the highest bit of the first byte. */

const ONES = Uint8Array.from({ length: 256 }, (_, byte) => onesOfWord(byte));

function onesOfWord(word: number): number {
  let v = word - ((word >>> 1) & 0x55555555);
  v = (v & 0x33333333) + ((v >>> 2) & 0x33333333);
  v = (v + (v >>> 4)) & 0x0f0f0f0f;
  return Math.imul(v, 0x01010101) >>> 24;
}

export function countOnes(bytes: Uint8Array): number {
  let count = 0;
  const aligned = (4 - (bytes.byteOffset & 3)) & 3;
  const head = Math.min(aligned, bytes.length);
  for (let i = 0; i < head; i += 1) count += ONES[bytes[i] as number] as number;
  const wordCount = (bytes.length - head) >> 2;
  const words = wordCount > 0 ? new Int32Array(bytes.buffer, bytes.byteOffset + head, wordCount) : [];
  for (let i = 0; i < wordCount; i += 1) count += onesOfWord(words[i] as number);
  for (let i = head + wordCount * 4; i < bytes.length; i += 1) count += ONES[bytes[i] as number] as number;
  return count;
}

/** The position of the first bit equal to `bit`, or -1. */
export function findBit(bytes: Uint8Array, bit: 0 | 1): number {
  const skipped = bit === 1 ? 0 : 0xff;
  for (let i = 0; i < bytes.length; i += 1) {
    const byte = bytes[i] as number;
    if (byte === skipped) continue;
    const wanted = bit === 1 ? byte : ~byte & 0xff;
    return i * 8 + Math.clz32(wanted) - 24;
  }
  return -1;
}
