/** Splits long lists of words into commands of bounded size, for snapshots and effects. */
import type { ByteString } from '../../../kernel/index.js';

/** A command ends before it exceeds this size, unless a single entry is larger. */
const CHUNK_BYTES = 64 * 1024;
/** The RESP header of a word: `$5\r\n…\r\n`. */
const WORD_OVERHEAD_BYTES = 8;
/** A bound for many short words; a command with this many is applied in about 2 ms. */
const CHUNK_WORDS = 4096;

/** Commands that begin with `head` and together contain every entry; an entry is never split. */
export function* commandsOf(
  head: readonly ByteString[],
  entries: Iterable<readonly ByteString[]>,
): Iterable<ByteString[]> {
  let words = [...head];
  let bytes = 0;
  for (const entry of entries) {
    let entryBytes = 0;
    for (const word of entry) entryBytes += word.length + WORD_OVERHEAD_BYTES;
    if (words.length > head.length && (bytes + entryBytes > CHUNK_BYTES || words.length >= CHUNK_WORDS)) {
      yield words;
      words = [...head];
      bytes = 0;
    }
    for (const word of entry) words.push(word);
    bytes += entryBytes;
  }
  if (words.length > head.length) yield words;
}
