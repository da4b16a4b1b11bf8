/**
 * A short list of words in one string: each word behind a character that is its length. Small hashes and
 * sets are kept so: a million hashes of five short fields take 205 MB of heap this way, 566 MB as arrays of
 * strings and 662 MB as Maps (redis-server: 152 MB).
 *
 * Invariants
 *  PW1 a packed string is flat: ropes and slices would keep what they were made of
 *  PW2 positions are those of a word's length; `nextWord` of the last one is the string's length
 */
import type { ByteString } from '../../../kernel/index.js';

/** The length has to fit in one character below 256. */
export const MAX_PACKED_WORD_BYTES = 255;
/** A lookup passes every entry: at this many it takes about half a microsecond. */
export const MAX_PACKED_ENTRIES = 128;
/** A change copies all of it: about a microsecond at this size. */
export const MAX_PACKED_BYTES = 8 * 1024;

/** Room for the largest packed string and one more entry of two words. */
const scratch = Buffer.allocUnsafe(MAX_PACKED_BYTES + 2 * (MAX_PACKED_WORD_BYTES + 1));

export function packWord(word: ByteString): ByteString {
  return String.fromCharCode(word.length) + word;
}

/** The same text, not made of parts (PW1); for packed strings only. */
export function flat(packed: ByteString): ByteString {
  return scratch.toString('latin1', 0, scratch.write(packed, 0, 'latin1'));
}

export function nextWord(packed: ByteString, position: number): number {
  return position + 1 + packed.charCodeAt(position);
}

export function wordAt(packed: ByteString, position: number): ByteString {
  return packed.slice(position + 1, nextWord(packed, position));
}

/** Position of the word among those that begin an entry of `wordsAnEntry` words; -1 if it is none of them. */
export function findWord(packed: ByteString, word: ByteString, wordsAnEntry: 1 | 2): number {
  const { length } = word;
  let at = 0;
  while (at < packed.length) {
    const size = packed.charCodeAt(at);
    if (size === length && packed.startsWith(word, at + 1)) return at;
    at += 1 + size;
    if (wordsAnEntry === 2) at += 1 + packed.charCodeAt(at);
  }
  return -1;
}

export function unpackWords(packed: ByteString): ByteString[] {
  const words: ByteString[] = [];
  for (let at = 0; at < packed.length; at = nextWord(packed, at)) words.push(wordAt(packed, at));
  return words;
}
