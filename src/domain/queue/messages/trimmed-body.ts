/** A body as a list shows it that was asked to cut bodies. */
import type { Redaction } from '../records.js';

const NOTHING = new Uint8Array(0);

/** Is no body shown, so that none has to be read? */
export function isBodyless(trimBytes: number | undefined): boolean {
  return trimBytes !== undefined && trimBytes <= 0;
}

/**
 * What is to be redacted stays whole: it is shown as a hash, and the hash is of all of it.
 * @param trimBytes at most so many bytes, and whole characters of a text; 0 or less: nothing; undefined: all
 */
export function trimmedBody(
  body: Uint8Array,
  redaction: Redaction | undefined,
  trimBytes: number | undefined,
): Uint8Array {
  if (isBodyless(trimBytes)) return NOTHING;
  if (trimBytes === undefined || body.byteLength <= trimBytes || redaction?.body === true) return body;
  let end = trimBytes;
  // Not between the bytes of one character; of other bytes that costs three at most.
  for (let back = 0; back < 3 && ((body[end] as number) & 0xc0) === 0x80; back += 1) end -= 1;
  return body.subarray(0, Math.max(0, end));
}
