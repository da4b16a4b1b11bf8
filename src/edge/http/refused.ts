/** A refusal as an exception: thrown where the call is found wrong, caught where the answer is written. */
import { badRequest, queueBodyTooLarge, type Refusal, SHARED_REFUSALS } from '../error-map.js';
import type { BodyOutcome } from './request-body.js';

/** The spellings that a set of headers uses: the alias, the neutral words, none or both. */
export interface HeaderWords {
  readonly isAlias: boolean;
  readonly isNeutral: boolean;
}

export class RefusedRequest extends Error {
  constructor(
    readonly refusal: Refusal,
    /** Headers of the answer. */
    readonly headers: Readonly<Record<string, string>> = {},
    /** Spellings of the headers that the refusal is about. Undefined: those of the request. */
    readonly words?: HeaderWords | undefined,
    /** The cause is in the server and temporary: see `isPassing`. */
    readonly isPassing = false,
  ) {
    super(refusal.text);
    this.name = 'Refused';
  }
}

/** A 400 with a text that names the wrong part of the call. */
export function invalid(text: string): RefusedRequest {
  return new RefusedRequest(badRequest(text));
}

/** The refusal for a body that was not read to its end. */
export function bodyRefused(
  { kind }: Exclude<BodyOutcome, { kind: 'whole' | 'aborted' }>,
  limitBytes: number,
): RefusedRequest {
  return new RefusedRequest(kind === 'overloaded' ? SHARED_REFUSALS.overloaded : queueBodyTooLarge(limitBytes));
}

/** Refusals about headers inside a body use the spelling of those headers, if they have one. */
export function inWordsOf<Result>(words: HeaderWords, judged: () => Result): Result {
  try {
    return judged();
  } catch (problem) {
    throw worded(problem, words);
  }
}

export function worded(problem: unknown, words: HeaderWords | undefined): unknown {
  if (!(problem instanceof RefusedRequest) || problem.words !== undefined) return problem;
  if (words === undefined || !(words.isAlias || words.isNeutral)) return problem;
  return new RefusedRequest(problem.refusal, problem.headers, words);
}
