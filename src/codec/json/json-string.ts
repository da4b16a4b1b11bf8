/**
 * Byte strings as JSON strings: their UTF-8 text, with each invalid byte as U+FFFD; or their base64.
 *
 * Plain ASCII, which is nearly every string, is quoted unchanged: measured at half the time of JSON.stringify on long
 * words, and never slower on short ones.
 */
import { type ByteString, textOfBytes } from '../../kernel/index.js';

/** Up to this length a character loop is faster than starting a regular expression. */
const LOOPED_LENGTH = 48;

const PLAIN = /^[ !#-[\]-~]*$/;

export function quoteBytes(bytes: ByteString): string {
  return isPlain(bytes) ? `"${bytes}"` : JSON.stringify(textOfBytes(bytes));
}

/** True without characters that JSON escapes and without non-ASCII ones. */
function isPlain(bytes: ByteString): boolean {
  if (bytes.length > LOOPED_LENGTH) return PLAIN.test(bytes);
  for (let i = 0; i < bytes.length; i += 1) {
    const code = bytes.charCodeAt(i);
    if (code < 0x20 || code > 0x7e || code === 0x22 || code === 0x5c) return false;
  }
  return true;
}

/** Bytes of a long string that are quoted at a time: invalid UTF-8 takes a hundred times as long as plain text. */
const PIECE_BYTES = 96 * 1024;
/** The most continuation bytes of a character. */
const MAX_CONTINUATION = 3;

/** Is it long enough to be quoted in pieces? */
export function isLongString(bytes: ByteString): boolean {
  return bytes.length > 2 * PIECE_BYTES;
}

/** The text of `quoteBytes` or `quoteBase64`, in pieces. */
export function* quoteInPieces(bytes: ByteString, isBase64: boolean): Generator<string> {
  let from = 0;
  yield '"';
  while (from < bytes.length) {
    // A multiple of three has no padding.
    const to = isBase64 ? from + PIECE_BYTES : characterEnd(bytes, from + PIECE_BYTES);
    const piece = bytes.slice(from, to);
    const quoted = isBase64 ? quoteBase64(piece) : quoteBytes(piece);
    yield quoted.slice(1, -1);
    from = to;
  }
  yield '"';
}

/**
 * A position that does not split a character: before a byte that is no continuation, or anywhere among too many
 * continuations.
 */
function characterEnd(bytes: ByteString, wanted: number): number {
  let at = Math.min(wanted, bytes.length);
  for (let back = 0; back <= MAX_CONTINUATION && at < bytes.length; back += 1, at -= 1) {
    if ((bytes.charCodeAt(at) & 0xc0) !== 0x80) return at;
  }
  return Math.min(wanted, bytes.length);
}

/** Words up to this length are encoded through one reused buffer. */
const scratch = Buffer.allocUnsafeSlow(1024);

/** Standard alphabet, padded. */
export function quoteBase64(bytes: ByteString): string {
  if (bytes.length > scratch.length) return `"${Buffer.from(bytes, 'latin1').toString('base64')}"`;
  const length = scratch.write(bytes, 'latin1');
  return `"${scratch.toString('base64', 0, length)}"`;
}
