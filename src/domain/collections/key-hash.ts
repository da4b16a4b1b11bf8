/**
 * The hash that places a key in a map: 32-bit FNV-1a with a final mix, so that the leading bits depend on every
 * character. It is the same in every process and version, because scan cursors are hashes (SEM1: a key's hash never
 * changes).
 */
import type { ByteString } from '../../kernel/index.js';

/**
 * A key longer than two such parts is hashed by its first and last 512 characters only, because hashing takes about 1
 * ns per byte.
 */
const HASHED_EDGE = 512;
const OFFSET = 0x811c9dc5;
const PRIME = 0x01000193;

export function hashKey(key: ByteString): number {
  const length = key.length;
  let hash = OFFSET ^ length;
  if (length <= 2 * HASHED_EDGE) {
    for (let i = 0; i < length; i += 1) hash = Math.imul(hash ^ key.charCodeAt(i), PRIME);
  } else {
    for (let i = 0; i < HASHED_EDGE; i += 1) hash = Math.imul(hash ^ key.charCodeAt(i), PRIME);
    for (let i = length - HASHED_EDGE; i < length; i += 1) hash = Math.imul(hash ^ key.charCodeAt(i), PRIME);
  }
  return mixed(hash);
}

/** The hash of a short key that is given as bytes. */
export function hashBytes(bytes: Uint8Array, from: number, length: number): number {
  let hash = OFFSET ^ length;
  for (let i = from; i < from + length; i += 1) hash = Math.imul(hash ^ (bytes[i] as number), PRIME);
  return mixed(hash);
}

function mixed(hash: number): number {
  let mixing = hash ^ (hash >>> 16);
  mixing = Math.imul(mixing, 0x85ebca6b);
  mixing ^= mixing >>> 13;
  mixing = Math.imul(mixing, 0xc2b2ae35);
  return (mixing ^ (mixing >>> 16)) >>> 0;
}
