/**
 * Byte strings: inside the engine, bytes are JavaScript strings with characters below 256, one character per byte. V8
 * stores them with one byte per character, caches their hash and compares them natively. Text is converted to a byte
 * string (its UTF-8 bytes) at the edge, and back on the way out.
 */

import { isUtf8 } from 'node:buffer';

/** A string of characters 0–255, each standing for one byte. */
export type ByteString = string;

// biome-ignore lint/suspicious/noControlCharactersInRegex: the range of ASCII starts at NUL
const ASCII = /^[\x00-\x7f]*$/;

const ABOVE_BYTES = /[\u0100-\uffff]/;

/** Whether a text has no character above 255. */
export function isByteString(text: string): text is ByteString {
  return !ABOVE_BYTES.test(text);
}

export function isAscii(text: string): boolean {
  return ASCII.test(text);
}

/**
 * ASCII letters only, so that bytes stay bytes: JavaScript's upper case of `\xdf` has two letters, that of `\xff` is
 * U+0178.
 */
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

/** The same memory, not a copy. */
export function bufferOver({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

export function bufferOfBytes(bytes: ByteString): Buffer {
  return Buffer.from(bytes, 'latin1');
}

/** The text that a byte string encodes; each invalid *byte* becomes one U+FFFD. */
export function textOfBytes(bytes: ByteString): string {
  if (isAscii(bytes)) return bytes;
  return decodeUtf8(Buffer.from(bytes, 'latin1'));
}

/**
 * The text of a header value. HTTP does not define its encoding: UTF-8 if valid, otherwise Latin-1. `bytesOfText` is
 * the inverse. @param value one character per byte; a value with characters above 255 is text already, as earlier
 * releases stored it
 */
export function textOfHeader(value: ByteString): string {
  if (isAscii(value) || !isByteString(value)) return value;
  const bytes = Buffer.from(value, 'latin1');
  return isUtf8(bytes) ? bytes.toString('utf8') : value;
}

const strictDecoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** For JSON: text if it is UTF-8, otherwise its bytes. */
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

/** TextDecoder replaces a maximal invalid *subpart* by one U+FFFD; readers of this API expect one per byte. */
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

/** The length of the well-formed UTF-8 sequence at `at`, 0 if there is none (RFC 3629, table 3-7 of Unicode). */
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
