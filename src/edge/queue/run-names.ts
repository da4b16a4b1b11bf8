/** Ids of runs and of events. Clients choose them, and put them into paths, query parameters and headers. */
import { eventIdProblem, newRunIdProblem, runIdProblem } from '../../domain/queue/index.js';
import type { RunId } from '../../kernel/index.js';
import { invalid } from '../http/refused.js';
import { decodedName } from './destination.js';

export { RUN_ID } from '../../domain/queue/runs/index.js';

/** The id of an existing run. @throws Refused 400 */
export function checkedRunId(text: string): RunId {
  const problem = runIdProblem(text);
  if (problem !== undefined) throw invalid(problem);
  return text as RunId;
}

/** The id of a new run. @throws Refused 400 */
export function newRunId(text: string): RunId {
  const problem = newRunIdProblem(text);
  if (problem !== undefined) throw invalid(problem);
  return text as RunId;
}

export function isRunId(text: string): text is RunId {
  return runIdProblem(text) === undefined;
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
  const problem = eventIdProblem(eventId);
  if (problem !== undefined) throw invalid(problem);
  return eventId;
}
