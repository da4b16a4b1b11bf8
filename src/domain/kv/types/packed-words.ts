/**
 * A short list of words in one string: each word is preceded by a character that is its length. Small hashes and sets
 * are stored this way. A million hashes of five short fields take 205 MB of heap, compared with 566 MB as arrays of
 * strings and 662 MB as Maps (redis-server: 152 MB).
 *
 * Invariants
 *
 *  PW1 a packed string is flat, because V8's ropes and slices keep the strings that they were made from
 *  PW2 a position is that of a word's length character; `nextWord` of the last word is the string's length
 */
import type { ByteString } from '../../../kernel/index.js';

/** The length must fit into one character below 256. */
export const MAX_PACKED_WORD_BYTES = 255;
/** A lookup passes every entry: with this many it takes about half a microsecond. */
export const MAX_PACKED_ENTRIES = 128;
/** A change copies the whole string: about a microsecond at this size. */
export const MAX_PACKED_BYTES = 8 * 1024;

/** Space for the largest packed string and one more entry of two words. */
const scratch = Buffer.allocUnsafe(MAX_PACKED_BYTES + 2 * (MAX_PACKED_WORD_BYTES + 1));

export function packWord(word: ByteString): ByteString {
  return String.fromCharCode(word.length) + word;
}

/** Returns a flat copy (PW1: a packed string is flat); for packed strings only. */
export function flat(packed: ByteString): ByteString {
  return scratch.toString('latin1', 0, scratch.write(packed, 0, 'latin1'));
}

export function nextWord(packed: ByteString, position: number): number {
  return position + 1 + packed.charCodeAt(position);
}

export function wordAt(packed: ByteString, position: number): ByteString {
  return packed.slice(position + 1, nextWord(packed, position));
}

/** The position of the word among the first words of entries of `wordsAnEntry` words; -1 if absent. */
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
