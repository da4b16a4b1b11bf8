/** Names of runs and of events: clients choose them, and put them into paths and headers. */
import { outgoingHeaderProblem } from '../../domain/queue/index.js';
import { MAX_EVENT_ID_BYTES, MAX_RUN_ID_BYTES } from '../../domain/queue/runs/index.js';
import type { RunId } from '../../kernel/index.js';
import { invalid } from '../http/refused.js';
import { decodedName } from './destination.js';

export const RUN_ID = 'svc-workflow-runid';

/** Deliveries carry it as a header. @throws Refused 400 */
export function checkedRunId(text: string): RunId {
  if (text === '') throw invalid('the workflow run id is empty');
  if (Buffer.byteLength(text) > MAX_RUN_ID_BYTES) {
    throw invalid(`the workflow run id is longer than ${MAX_RUN_ID_BYTES} bytes`);
  }
  if (outgoingHeaderProblem(RUN_ID, text) !== undefined) {
    throw invalid('the workflow run id has characters that a header cannot carry');
  }
  return text as RunId;
}

/** @param segment of a path. @throws Refused 400 */
export function runIdInPath(segment: string): RunId {
  return checkedRunId(decodedName(segment));
}

/** @param rest of a path: any text, slashes too. @throws Refused 400 */
export function eventIdInPath(rest: string): string {
  const eventId = decodedName(rest);
  if (eventId === '') throw invalid('the event id is empty');
  if (Buffer.byteLength(eventId) <= MAX_EVENT_ID_BYTES) return eventId;
  throw invalid(`the event id is longer than ${MAX_EVENT_ID_BYTES} bytes`);
}
