/** MurmurHash2 of 32 bits, with which Redis hashes the items of sketches that count. */
const M = 0x5bd1e995;

export function murmur32(bytes: Uint8Array, seed: number): number {
  const { length } = bytes;
  const end = length & ~3;
  let h = (seed ^ length) >>> 0;
  for (let at = 0; at < end; at += 4) {
    let k =
      byteAt(bytes, at) | (byteAt(bytes, at + 1) << 8) | (byteAt(bytes, at + 2) << 16) | (byteAt(bytes, at + 3) << 24);
    k = Math.imul(k, M);
    k ^= k >>> 24;
    h = Math.imul(h, M) ^ Math.imul(k, M);
  }
  for (let at = length - 1; at >= end; at -= 1) h ^= byteAt(bytes, at) << ((at - end) * 8);
  if (end < length) h = Math.imul(h, M);
  h ^= h >>> 13;
  h = Math.imul(h, M);
  return (h ^ (h >>> 15)) >>> 0;
}

function byteAt(bytes: Uint8Array, at: number): number {
  return bytes[at] as number;
}
