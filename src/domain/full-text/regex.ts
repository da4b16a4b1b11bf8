/** Regular expressions of filters, in time linear in the text: expressions are input of tenants. */
import { RE2JS } from 're2js';
import { SearchProblem } from './definition.js';
import { MAX_REGEX_CHARACTERS, MAX_REGEX_REPETITIONS } from './limits.js';

const COUNTED = /\{(\d+)(?:,(\d*))?\}/g;

/** A test of whole terms. @param ignoresCase for terms in lower case @throws SearchProblem */
export function regexTest(pattern: string, ignoresCase: boolean): (term: string) => boolean {
  if (pattern.length > MAX_REGEX_CHARACTERS) {
    throw new SearchProblem(`A regular expression has at most ${MAX_REGEX_CHARACTERS} characters`);
  }
  let repetitions = 1;
  for (const [, least = '', most] of pattern.matchAll(COUNTED)) {
    repetitions *= Math.max(1, Number(least), Number(most ?? 0));
  }
  if (repetitions > MAX_REGEX_REPETITIONS) {
    throw new SearchProblem(`Counted repetitions of a regular expression multiply to ${MAX_REGEX_REPETITIONS} at most`);
  }
  try {
    const compiled = RE2JS.compile(pattern, ignoresCase ? RE2JS.CASE_INSENSITIVE : 0);
    return (term) => compiled.matches(term);
  } catch {
    throw new SearchProblem(`Invalid regular expression: ${pattern}`);
  }
}
