/** Commands that somebody takes elsewhere: parameters are of the server that keeps them, and no other must obey them. */
import { RespCommandReader } from '../codec/resp/index.js';

/**
 * The same commands without CONFIG, as parts of the pieces that were given.
 * @param pieces  RESP, each of whole commands
 * @param breathe asked behind each command of a piece that is looked through: a promise to wait for, now and then
 */
export async function* withoutParameters(
  pieces: AsyncIterable<Uint8Array>,
  breathe?: () => Promise<void> | undefined,
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
      const due = breathe?.();
      if (due !== undefined) await due;
    }
    if (from < bytes.length) yield bytes.subarray(from);
  }
}
