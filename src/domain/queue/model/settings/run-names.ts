/** Rules for ids of runs and of events, which clients choose and put into paths, query parameters and headers. */
import { RUN_ID } from '../run-ids.js';
import { MAX_EVENT_ID_BYTES, MAX_RUN_ID_BYTES } from '../run-limits.js';
import { outgoingHeaderProblem } from './header-names.js';
import { isDotSegment } from './names.js';

/** Characters with a meaning in a path, or in a list of ids in a query parameter. */
const HARD_TO_NAME = /[,/\\?#%]/;

/**
 * The problem of an id of an existing run, in which earlier versions allowed any character; undefined for a valid one.
 */
export function runIdProblem(text: string): string | undefined {
  if (text === '') return 'the workflow run id is empty';
  if (Buffer.byteLength(text) > MAX_RUN_ID_BYTES) return `the workflow run id is longer than ${MAX_RUN_ID_BYTES} bytes`;
  if (outgoingHeaderProblem(RUN_ID, text) === undefined) return undefined;
  return 'the workflow run id has characters that a header cannot carry';
}

/** The problem of an id of a new run, which must be usable in every later call. */
export function newRunIdProblem(text: string): string | undefined {
  const [character] = HARD_TO_NAME.exec(text) ?? [];
  if (character !== undefined) {
    return `the workflow run id has ${JSON.stringify(character)}; it must not have any of , / \\ ? # %`;
  }
  if (isDotSegment(text))
    return `the workflow run id is ${JSON.stringify(text)}, which HTTP clients remove from a path`;
  return runIdProblem(text);
}

export function eventIdProblem(eventId: string): string | undefined {
  if (eventId === '') return 'the event id is empty';
  if (Buffer.byteLength(eventId) <= MAX_EVENT_ID_BYTES) return undefined;
  return `the event id is longer than ${MAX_EVENT_ID_BYTES} bytes`;
}
