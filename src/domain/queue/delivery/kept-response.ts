/** What is kept of an answer for those who look at attempts that failed. */
import { KEPT_RESPONSE_BYTES } from '../limits.js';

/** A copy where it is cut: a view would keep the whole alive. */
export function keptResponse(response: Uint8Array): Uint8Array {
  return response.byteLength <= KEPT_RESPONSE_BYTES ? response : response.slice(0, KEPT_RESPONSE_BYTES);
}
