/**
 * Bytes inside the engine are *byte strings*: JavaScript strings whose characters are all below 256,
 * a character a byte. V8 keeps them at a byte a character, hashes them once and compares them natively.
 * Text becomes a byte string at the edge (its UTF-8 bytes) and text again on the way out.
 */

/** A string of characters 0–255, each standing for one byte. */
export type ByteString = string;

// biome-ignore lint/suspicious/noControlCharactersInRegex: the range of ASCII starts at NUL
const ASCII = /^[\x00-\x7f]*$/;

export function isAscii(text: string): boolean {
  return ASCII.test(text);
}

/** Letters of ASCII alone, so that bytes stay bytes: JavaScript makes two letters of `\xdf`, and U+0178 of `\xff`. */
export function asciiUpperCase(bytes: ByteString): ByteString {
  return bytes.replace(/[a-z]+/g, (letters) => letters.toUpperCase());
}

export function asciiLowerCase(bytes: ByteString): ByteString {
  return bytes.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** The UTF-8 bytes of a text. Lone surrogates become U+FFFD. */
export function bytesOfText(text: string): ByteString {
  return isAscii(text) ? text : Buffer.from(text, 'utf8').toString('latin1');
}

export function bytesOfBuffer(buffer: Buffer): ByteString {
  return buffer.toString('latin1');
}

export function bufferOfBytes(bytes: ByteString): Buffer {
  return Buffer.from(bytes, 'latin1');
}

/** The text that a byte string encodes; each invalid *byte* becomes one U+FFFD. */
export function textOfBytes(bytes: ByteString): string {
  if (isAscii(bytes)) return bytes;
  return decodeUtf8(Buffer.from(bytes, 'latin1'));
}

const strictDecoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** As JSON shows it: text where it is UTF-8, else its bytes. */
export function shownBytes(bytes: ByteString): string | { readonly base64: string } {
  if (isAscii(bytes)) return bytes;
  const buffer = Buffer.from(bytes, 'latin1');
  try {
    return strictDecoder.decode(buffer);
  } catch {
    return { base64: buffer.toString('base64') };
  }
}

function decodeUtf8(buffer: Buffer): string {
  try {
    return strictDecoder.decode(buffer);
  } catch {
    return decodeInvalidUtf8(buffer);
  }
}

/** TextDecoder replaces a maximal invalid *subpart* by one U+FFFD; readers of this API expect one a byte. */
function decodeInvalidUtf8(buffer: Buffer): string {
  let text = '';
  let validFrom = 0;
  let at = 0;
  while (at < buffer.length) {
    const length = sequenceLength(buffer, at);
    if (length > 0) {
      at += length;
      continue;
    }
    text += `${buffer.toString('utf8', validFrom, at)}\ufffd`;
    at += 1;
    validFrom = at;
  }
  return text + buffer.toString('utf8', validFrom, at);
}

/** Bytes of the well-formed UTF-8 sequence at `at`, 0 if there is none (RFC 3629, table 3-7 of Unicode). */
function sequenceLength(buffer: Buffer, at: number): number {
  const first = buffer[at] as number;
  if (first < 0x80) return 1;
  if (first < 0xc2 || first > 0xf4) return 0;
  const second = buffer[at + 1] ?? 0;
  if (first < 0xe0) return isContinuation(second) ? 2 : 0;
  const low = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80;
  const high = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf;
  if (second < low || second > high || !isContinuation(buffer[at + 2] ?? 0)) return 0;
  if (first < 0xf0) return 3;
  return isContinuation(buffer[at + 3] ?? 0) ? 4 : 0;
}

function isContinuation(byte: number): boolean {
  return byte >= 0x80 && byte <= 0xbf;
}
