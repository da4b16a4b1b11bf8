/** Ids of runs and of events. Clients choose them, and put them into paths, query parameters and headers. */
import { isDotSegment, outgoingHeaderProblem } from '../../domain/queue/index.js';
import { MAX_EVENT_ID_BYTES, MAX_RUN_ID_BYTES } from '../../domain/queue/runs/index.js';
import type { RunId } from '../../kernel/index.js';
import { invalid } from '../http/refused.js';
import { decodedName } from './destination.js';

export const RUN_ID = 'svc-workflow-runid';

/** Characters with a meaning in a path, or in a list of ids in a query parameter. */
const HARD_TO_NAME = /[,/\\?#%]/;

/** The id of an existing run, in which earlier versions allowed any character. @throws Refused 400 */
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

/** The id of a new run, which must be usable in every later call. @throws Refused 400 */
export function newRunId(text: string): RunId {
  const [character] = HARD_TO_NAME.exec(text) ?? [];
  if (character !== undefined) {
    throw invalid(`the workflow run id has ${JSON.stringify(character)}; it must not have any of , / \\ ? # %`);
  }
  if (isDotSegment(text))
    throw invalid(`the workflow run id is ${JSON.stringify(text)}, which HTTP clients remove from a path`);
  return checkedRunId(text);
}

export function isRunId(text: string): text is RunId {
  const fits = text !== '' && Buffer.byteLength(text) <= MAX_RUN_ID_BYTES;
  return fits && outgoingHeaderProblem(RUN_ID, text) === undefined;
}

/** @param segment of a path. @returns undefined for a text that cannot be a run id */
export function possibleRunId(segment: string): RunId | undefined {
  const text = decodedName(segment);
  return isRunId(text) ? text : undefined;
}

/** @param segment of a path. @throws Refused 400 */
export function runIdInPath(segment: string): RunId {
  return checkedRunId(decodedName(segment));
}

/**
 * An event id may contain any character. Clients put it into the path without encoding, so a question mark in it
 * starts a query.
 *
 * @param rest of the path, with its slashes
 * @param query without the call's own parameters
 * @throws Refused 400
 */
export function eventIdInPath(rest: string, query = ''): string {
  const eventId = decodedName(query === '' ? rest : `${rest}?${query}`);
  if (eventId === '') throw invalid('the event id is empty');
  if (Buffer.byteLength(eventId) <= MAX_EVENT_ID_BYTES) return eventId;
  throw invalid(`the event id is longer than ${MAX_EVENT_ID_BYTES} bytes`);
}
