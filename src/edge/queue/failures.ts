/** From whatever was thrown while a call was handled to what its client is told, and what the log. */
import { isPassing, queueRefusalOf } from '../error-map.js';
import { Refused } from '../http/refused.js';
import type { QueueFace } from './queue-face.js';

export function refusedBy(face: QueueFace, failure: unknown): Refused {
  if (failure instanceof Refused) return failure;
  return new Refused(face.incidents.told(queueRefusalOf(failure), failure), {}, undefined, isPassing(failure));
}
