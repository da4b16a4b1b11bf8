/**
 * Percent-encoding of request targets, byte for byte.
 *
 *  PDC1 a decoded word is a separate string, not a slice that keeps the whole target in memory
 *  PDC2 raw bytes above ASCII in a target mean the same as their percent-encoded form
 */
import type { ByteString } from '../../kernel/index.js';

const CR = 13;
const LF = 10;
const SPACE = 32;
const ABOVE_ASCII = 0x80;

/** From this length on V8 makes a slice that references its parent instead of a copy. */
const SLICED_LENGTH = 13;

/** @returns undefined for a percent sign without two hexadecimal digits */
export function percentDecoded(segment: string): ByteString | undefined {
  if (!segment.includes('%')) return segment.length < SLICED_LENGTH ? segment : ownCopy(segment);
  const bytes = Buffer.allocUnsafe(segment.length);
  let length = 0;
  for (let i = 0; i < segment.length; i += 1) {
    let byte = segment.charCodeAt(i);
    if (byte === 0x25) {
      byte = (hexDigit(segment.charCodeAt(i + 1)) << 4) | hexDigit(segment.charCodeAt(i + 2));
      if (byte < 0) return undefined;
      i += 2;
    }
    bytes[length] = byte;
    length += 1;
  }
  return bytes.toString('latin1', 0, length);
}

/** The same for a form's text, in which a plus sign is a space. */
export function formDecoded(text: string): ByteString | undefined {
  return percentDecoded(text.includes('+') ? text.replaceAll('+', ' ') : text);
}

const scratch = Buffer.allocUnsafeSlow(1024);

function ownCopy(text: ByteString): ByteString {
  if (text.length > scratch.length) return Buffer.from(text, 'latin1').toString('latin1');
  return scratch.toString('latin1', 0, scratch.write(text, 'latin1'));
}

/** -1 for any other character, and for NaN: the end of the text. */
function hexDigit(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const letter = code | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}

/**
 * The first bytes of a connection, with the bytes above ASCII in the target of the first request percent-encoded,
 * because Node's parser refuses them raw. An incomplete request line stays as it is.
 */
export function withEncodedTarget(bytes: Buffer): Buffer {
  // Empty lines may precede a request.
  let start = 0;
  while (bytes[start] === CR || bytes[start] === LF) start += 1;
  const end = bytes.indexOf(LF, start);
  const space = bytes.indexOf(SPACE, start);
  if (end < 0 || space < 0 || space > end) return bytes;
  let isAscii = true;
  for (let at = space; at < end && isAscii; at += 1) isAscii = (bytes[at] as number) < ABOVE_ASCII;
  if (isAscii) return bytes;
  const encoded = bytes.toString('latin1', space, end).replace(/[\x80-\xff]/g, percentEncoded);
  return Buffer.concat([bytes.subarray(0, space), Buffer.from(encoded, 'latin1'), bytes.subarray(end)]);
}

function percentEncoded(byte: string): string {
  return `%${byte.charCodeAt(0).toString(16).toUpperCase()}`;
}

/** The index of the path in a target that may be an absolute URL. */
export function startOfPath(target: string): number {
  const scheme = target.indexOf('://');
  const slash = scheme < 0 ? -1 : target.indexOf('/', scheme + 3);
  return slash < 0 ? target.length : slash;
}
