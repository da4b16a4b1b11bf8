/**
 * Removes CONFIG, messages for the queue and the closure of a partition from exported commands: parameters belong to
 * their server, and must not be applied by another; messages were or will be sent by this one.
 */

import { RespCommandReader } from '../codec/resp/index.js';
import { bufferOver } from '../kernel/index.js';

/** The names of effects about messages, and about the partition itself, begin with these. */
const OF_THE_QUEUE = 'QUEUE.';
const OF_THE_PARTITION = 'PARTITION.';

/**
 * The same commands without CONFIG, QUEUE and PARTITION, as parts of the given pieces.
 * @param pieces        RESP, each of complete commands
 * @param yieldWhenDue  called after each command of an examined piece; it returns a promise to wait for, now and then
 */
export async function* withoutParameters(
  pieces: AsyncIterable<Uint8Array>,
  yieldWhenDue?: () => Promise<void> | undefined,
): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) {
    const bytes = bufferOver(piece);
    if (!bytes.includes('\r\nCONFIG\r\n') && !bytes.includes(OF_THE_QUEUE) && !bytes.includes(OF_THE_PARTITION)) {
      yield piece;
      continue;
    }
    const reader = new RespCommandReader(bytes);
    let from = 0;
    for (let at = 0, words = reader.next(); words !== undefined; at = reader.offset, words = reader.next()) {
      const [name = ''] = words;
      if (name === 'CONFIG' || name.startsWith(OF_THE_QUEUE) || name.startsWith(OF_THE_PARTITION)) {
        if (at > from) yield bytes.subarray(from, at);
        from = reader.offset;
      }
      const due = yieldWhenDue?.();
      if (due !== undefined) await due;
    }
    if (from < bytes.length) yield bytes.subarray(from);
  }
}
