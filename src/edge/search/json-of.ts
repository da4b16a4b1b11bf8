/** A body that is not an upsert's: short enough to be parsed at once. */
import { parsed } from '../http/json-bounds.js';

/** No body at all is an empty object. @throws Refused 400 */
export function jsonOf(body: Buffer): unknown {
  return body.length === 0 ? {} : parsed(body);
}
