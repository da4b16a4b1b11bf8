/** From whatever was thrown while a call was handled to what its client is told, and what the log. */
import { describeError, isMillraceError } from '../../kernel/index.js';
import { queueRefusalOf } from '../error-map.js';
import type { QueueFace } from './queue-face.js';
import { Refused } from './refused.js';

/** Defects get an id that a client can quote and an operator can search for. */
export function refusedBy(face: QueueFace, failure: unknown): Refused {
  if (failure instanceof Refused) return failure;
  const refusal = queueRefusalOf(failure);
  if (refusal.status < 500) return new Refused(refusal);
  const { log } = face.parts;
  if (isMillraceError(failure) && refusal.status === 503) {
    log.warn('queue.request.refused', { code: failure.code, reason: failure.message });
    return new Refused(refusal);
  }
  const incident = face.nextIncidentId();
  const stack = failure instanceof Error ? failure.stack : undefined;
  log.error('queue.request.failed', { incident, error: describeError(failure), stack });
  return new Refused({ ...refusal, text: `${refusal.text}, incident=${incident}` });
}
