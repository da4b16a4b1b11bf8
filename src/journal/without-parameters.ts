/**
 * Removes CONFIG and messages for the queue from exported commands: parameters belong to their server, and must not be
 * applied by another; messages were or will be sent by this one.
 */
import { RespCommandReader } from '../codec/resp/index.js';

/** The names of messages begin with it. */
const OF_THE_QUEUE = 'QUEUE.';

/**
 * The same commands without CONFIG and QUEUE, as parts of the given pieces.
 * @param pieces        RESP, each of complete commands
 * @param yieldWhenDue  called after each command of an examined piece; it returns a promise to wait for, now and then
 */
export async function* withoutParameters(
  pieces: AsyncIterable<Uint8Array>,
  yieldWhenDue?: () => Promise<void> | undefined,
): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) {
    const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
    if (!bytes.includes('\r\nCONFIG\r\n') && !bytes.includes(OF_THE_QUEUE)) {
      yield piece;
      continue;
    }
    const reader = new RespCommandReader(bytes);
    let from = 0;
    for (let at = 0, words = reader.next(); words !== undefined; at = reader.offset, words = reader.next()) {
      if (words[0] === 'CONFIG' || words[0]?.startsWith(OF_THE_QUEUE)) {
        if (at > from) yield bytes.subarray(from, at);
        from = reader.offset;
      }
      const due = yieldWhenDue?.();
      if (due !== undefined) await due;
    }
    if (from < bytes.length) yield bytes.subarray(from);
  }
}
