/**
 * Packs an id of a message into 28 bytes: a generated id without its prefix, or a shorter id as it is. An id that
 * fills all bytes is a generated one.
 */
import type { MessageId } from '../../../../kernel/index.js';

export const ID_WORDS = 7;
const ID_BYTES = ID_WORDS * 4;
const PREFIX = 'msg_';
const ASCII = 0x7f;

const text = Buffer.from(PREFIX.padEnd(PREFIX.length + ID_BYTES));

/** @returns false if the id has neither form */
export function packId(id: MessageId, into: Uint32Array): boolean {
  const isOurs = id.length === PREFIX.length + ID_BYTES && id.startsWith(PREFIX);
  if (!isOurs && (id.length >= ID_BYTES || id.length === 0)) return false;
  let all = 0;
  let isWhole = true;
  for (let word = 0, at = isOurs ? PREFIX.length : 0; word < ID_WORDS; word += 1) {
    let bits = 0;
    for (let shift = 0; shift < 32 && at < id.length; shift += 8, at += 1) {
      const code = id.charCodeAt(at);
      if (code === 0) isWhole = false;
      all |= code;
      bits |= code << shift;
    }
    into[word] = bits;
  }
  return isWhole && all <= ASCII;
}

export function unpackId(words: Uint32Array, from: number): MessageId {
  let length = 0;
  for (; length < ID_BYTES; length += 1) {
    const code = ((words[from + (length >>> 2)] as number) >>> ((length & 3) * 8)) & ASCII;
    if (code === 0) break;
    text[PREFIX.length + length] = code;
  }
  const begin = length === ID_BYTES ? 0 : PREFIX.length;
  return text.toString('latin1', begin, PREFIX.length + length) as MessageId;
}

/** A 32-bit hash of the id at `from`. */
export function hashOfId(words: Uint32Array, from: number): number {
  let hash = 0;
  for (let word = from; word < from + ID_WORDS; word += 1) {
    hash = Math.imul(hash ^ (words[word] as number), 0x9e3779b1);
    hash ^= hash >>> 15;
  }
  hash = Math.imul(hash, 0x85ebca6b);
  return (hash ^ (hash >>> 13)) >>> 0;
}
