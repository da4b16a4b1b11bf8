/** The first bytes of a response, kept to show failed attempts. */
import { KEPT_RESPONSE_BYTES } from '../model/limits.js';
import type { HeaderList } from '../model/records.js';

/** A copy, because a view would keep the whole response in memory. */
export function keptResponse(response: Uint8Array): Uint8Array {
  return response.byteLength <= KEPT_RESPONSE_BYTES ? response : response.slice(0, KEPT_RESPONSE_BYTES);
}

/**
 * Whether the response was longer than the kept bytes. Events do not store this: a response of exactly the limit is
 * recognised by its Content-Length, and counts as cut when it was sent in chunks.
 */
export function isResponseCut(header: HeaderList, kept: Uint8Array): boolean {
  if (kept.byteLength < KEPT_RESPONSE_BYTES) return false;
  return !header.some(([name, value]) => name === 'Content-Length' && value.trim() === String(KEPT_RESPONSE_BYTES));
}
