/** From whatever was thrown while a call was handled to what its client is told, and what the log. */
import { managementRefusalOf } from '../error-map.js';
import { Refused } from '../http/refused.js';
import type { ManagementFace } from './management-face.js';

export function refusedBy(face: ManagementFace, failure: unknown): Refused {
  if (failure instanceof Refused) return failure;
  return new Refused(face.incidents.told(managementRefusalOf(failure), failure));
}
