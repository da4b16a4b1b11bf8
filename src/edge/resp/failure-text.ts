/** From what went wrong to what a client of the native protocol reads; the texts are those of error-map.ts. */
import { describeError, isMillraceError } from '../../kernel/index.js';
import { refusalOf } from '../error-map.js';
import type { RespFace } from './resp-face.js';

/** @returns what a client hears of a failure, having logged it */
export function failureText(face: RespFace, failure: unknown): string {
  const { log } = face.parts;
  const refusal = refusalOf(failure);
  if (refusal.status < 500) return refusal.text;
  if (isMillraceError(failure) && refusal.status === 503) {
    log.warn('resp.request.refused', { code: failure.code, reason: failure.message });
    return refusal.text;
  }
  const incident = face.nextIncidentId();
  const stack = failure instanceof Error ? failure.stack : undefined;
  log.error('resp.request.failed', { incident, error: describeError(failure), stack });
  return `${refusal.text}, incident=${incident}`;
}
