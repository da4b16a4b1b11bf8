/** The first bytes of a response, kept to show attempts. */
import type { AttemptOutcome } from '../model/commands.js';
import { KEPT_RESPONSE_BYTES } from '../model/limits.js';
import type { HeaderList, KeptAnswer } from '../model/records.js';

/** A copy, because a view would keep the whole response in memory. */
export function keptResponse(response: Uint8Array): Uint8Array {
  return response.byteLength <= KEPT_RESPONSE_BYTES ? response : response.slice(0, KEPT_RESPONSE_BYTES);
}

/**
 * The answer to a successful attempt: the headers that fit, then the beginning of the body.
 * @param maxBytes of headers and body; 0: none is kept
 */
export function keptAnswerOf(
  { header, body, isCut }: Extract<AttemptOutcome, { kind: 'response' }>,
  maxBytes: number,
): KeptAnswer | undefined {
  if (maxBytes <= 0) return undefined;
  let room = maxBytes;
  const kept = header.filter(([name, value]) => {
    const bytes = name.length + value.length;
    if (bytes > room) return false;
    room -= bytes;
    return true;
  });
  const isWhole = body.byteLength <= room && kept.length === header.length;
  // A copy, because a view would keep the whole response in memory.
  return { header: kept, body: body.slice(0, room), isCut: isCut || !isWhole };
}

/**
 * Whether the response was longer than the kept bytes. Events do not store this: a response of exactly the limit is
 * recognised by its Content-Length, and counts as cut when it was sent in chunks.
 */
export function isResponseCut(header: HeaderList, kept: Uint8Array): boolean {
  if (kept.byteLength < KEPT_RESPONSE_BYTES) return false;
  return !header.some(([name, value]) => name === 'Content-Length' && value.trim() === String(KEPT_RESPONSE_BYTES));
}
