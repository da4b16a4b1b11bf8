/** Removes CONFIG from exported commands: parameters belong to their server, and must not be applied by another. */
import { RespCommandReader } from '../codec/resp/index.js';

/**
 * The same commands without CONFIG, as parts of the given pieces.
 * @param pieces        RESP, each of complete commands
 * @param yieldWhenDue  called after each command of an examined piece; it returns a promise to wait for, now and then
 */
export async function* withoutParameters(
  pieces: AsyncIterable<Uint8Array>,
  yieldWhenDue?: () => Promise<void> | undefined,
): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) {
    const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
    if (!bytes.includes('\r\nCONFIG\r\n')) {
      yield piece;
      continue;
    }
    const reader = new RespCommandReader(bytes);
    let from = 0;
    for (let at = 0, words = reader.next(); words !== undefined; at = reader.offset, words = reader.next()) {
      if (words[0] === 'CONFIG') {
        if (at > from) yield bytes.subarray(from, at);
        from = reader.offset;
      }
      const due = yieldWhenDue?.();
      if (due !== undefined) await due;
    }
    if (from < bytes.length) yield bytes.subarray(from);
  }
}
