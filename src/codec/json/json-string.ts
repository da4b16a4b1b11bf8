/**
 * Byte strings as JSON strings: the UTF-8 text they hold, each invalid byte as U+FFFD; or their base64.
 *
 * Plain ASCII, which is nearly everything, is put between quotes as it is: measured at half the
 * time of JSON.stringify on long words, and never slower on short ones.
 */
import { type ByteString, textOfBytes } from '../../kernel/index.js';

/** Up to this length a loop over the characters beats the start-up cost of a regular expression. */
const LOOPED_LENGTH = 48;

const PLAIN = /^[ !#-[\]-~]*$/;

export function quoteBytes(bytes: ByteString): string {
  return isPlain(bytes) ? `"${bytes}"` : JSON.stringify(textOfBytes(bytes));
}

/** No character that JSON escapes, none beyond ASCII. */
function isPlain(bytes: ByteString): boolean {
  if (bytes.length > LOOPED_LENGTH) return PLAIN.test(bytes);
  for (let i = 0; i < bytes.length; i += 1) {
    const code = bytes.charCodeAt(i);
    if (code < 0x20 || code > 0x7e || code === 0x22 || code === 0x5c) return false;
  }
  return true;
}

/** So much of a long string is quoted at once: bytes that are no text take a hundred times as long as plain ones. */
const PIECE_BYTES = 96 * 1024;
/** Continuation bytes of a character, at most. */
const MAX_CONTINUATION = 3;

/** Is it worth quoting in pieces? */
export function isLongString(bytes: ByteString): boolean {
  return bytes.length > 2 * PIECE_BYTES;
}

/** The same text as `quoteBytes`, or as `quoteBase64`, in pieces. */
export function* quoteInPieces(bytes: ByteString, isBase64: boolean): Generator<string> {
  let from = 0;
  yield '"';
  while (from < bytes.length) {
    // A multiple of three has no padding inside.
    const to = isBase64 ? from + PIECE_BYTES : characterEnd(bytes, from + PIECE_BYTES);
    const piece = bytes.slice(from, to);
    const quoted = isBase64 ? quoteBase64(piece) : quoteBytes(piece);
    yield quoted.slice(1, -1);
    from = to;
  }
  yield '"';
}

/** A place where no character is cut apart: before a byte that continues none, or behind more of them than one can have. */
function characterEnd(bytes: ByteString, wanted: number): number {
  let at = Math.min(wanted, bytes.length);
  for (let back = 0; back <= MAX_CONTINUATION && at < bytes.length; back += 1, at -= 1) {
    if ((bytes.charCodeAt(at) & 0xc0) !== 0x80) return at;
  }
  return Math.min(wanted, bytes.length);
}

/** Words up to this length are encoded through one buffer that is used again and again. */
const scratch = Buffer.allocUnsafeSlow(1024);

/** Standard alphabet, padded. */
export function quoteBase64(bytes: ByteString): string {
  if (bytes.length > scratch.length) return `"${Buffer.from(bytes, 'latin1').toString('base64')}"`;
  const length = scratch.write(bytes, 'latin1');
  return `"${scratch.toString('base64', 0, length)}"`;
}
