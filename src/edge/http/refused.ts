/** A refusal on its way to whoever answers: thrown where the call turns out to be wrong. */
import { badRequest, queueBodyTooLarge, type Refusal, SHARED_REFUSALS } from '../error-map.js';
import type { BodyOutcome } from './request-body.js';

/** Which spellings stand in some headers: of the alias, of the neutral words, none or both. */
export interface HeaderWords {
  readonly isAlias: boolean;
  readonly isNeutral: boolean;
}

export class RefusedRequest extends Error {
  constructor(
    readonly refusal: Refusal,
    /** Names and values that go with it. */
    readonly headers: Readonly<Record<string, string>> = {},
    /** Spellings of the headers that it is about, if they are not the request's own; undefined: the request's count. */
    readonly words?: HeaderWords | undefined,
    /** It is ours, and soon over: see `isPassing`. */
    readonly isPassing = false,
  ) {
    super(refusal.text);
    this.name = 'Refused';
  }
}

/** A 400 whose text says what is wrong with which part of the call. */
export function invalid(text: string): RefusedRequest {
  return new RefusedRequest(badRequest(text));
}

/** What a client hears whose body was not read to its end. */
export function bodyRefused(
  { kind }: Exclude<BodyOutcome, { kind: 'whole' | 'aborted' }>,
  limitBytes: number,
): RefusedRequest {
  return new RefusedRequest(kind === 'overloaded' ? SHARED_REFUSALS.overloaded : queueBodyTooLarge(limitBytes));
}

/** What is wrong with headers that stand in a body is told in their own spelling, where they have one. */
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
