/** Long lists of words as several commands of bounded size: what snapshots and effects are made of. */
import type { ByteString } from '../../../kernel/index.js';

/** A command is cut before it grows beyond this, unless one entry alone is larger. */
const CHUNK_BYTES = 64 * 1024;
/** Words are counted by their header too: `$5\r\n…\r\n`. */
const WORD_OVERHEAD_BYTES = 8;
/** Short words are many; a command of this many is applied in about 2 ms. */
const CHUNK_WORDS = 4096;

/** Commands that begin with `head`, and together hold every entry; entries are not torn apart. */
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
