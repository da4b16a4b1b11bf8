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

/** Words up to this length are encoded through one buffer that is used again and again. */
const scratch = Buffer.allocUnsafeSlow(1024);

/** Standard alphabet, padded. */
export function quoteBase64(bytes: ByteString): string {
  if (bytes.length > scratch.length) return `"${Buffer.from(bytes, 'latin1').toString('base64')}"`;
  const length = scratch.write(bytes, 'latin1');
  return `"${scratch.toString('base64', 0, length)}"`;
}
