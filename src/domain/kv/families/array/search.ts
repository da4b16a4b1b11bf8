/** ARGREP: the indexes, in a range, of values that match texts, patterns or regular expressions. */
import { asciiUpperCase, type ByteString } from '../../../../kernel/index.js';
import { AnswerSize } from '../../answer-size.js';
import type { Args } from '../../args.js';
import type { SlicedHandler } from '../../command-spec.js';
import { compileGlob } from '../../glob.js';
import type { Unsigned64 } from '../../numbers.js';
import { compilePattern } from '../../pattern.js';
import { ERRORS, ErrorReply, type Reply } from '../../reply.js';
import { SlicePace } from '../../slices.js';
import { BYTES_A_LOOKUP, type Steps } from '../../steps.js';
import { parseIndex, plus } from '../../types/array-index.js';
import { badIndex, readArray, readLimit, shownIndex } from './array-access.js';

/** As in Redis. */
const MAX_PREDICATES = 250;
const MAX_EXPRESSION_BYTES = 2048;

const tooManyPredicates = new ErrorReply(`ERR too many predicates, maximum is ${MAX_PREDICATES}`);
const emptyExpression = new ErrorReply('ERR regular expression is empty');
const longExpression = new ErrorReply(`ERR regular expression is too long, maximum is ${MAX_EXPRESSION_BYTES} bytes`);

type PredicateKind = 'EXACT' | 'MATCH' | 'GLOB' | 'RE';
const KINDS: ReadonlySet<string> = new Set<PredicateKind>(['EXACT', 'MATCH', 'GLOB', 'RE']);

/** Receives the value, in upper case if case is ignored. Long regular expressions match in slices. */
type Predicate = (text: ByteString) => boolean | Steps<boolean>;

interface Question {
  readonly predicates: readonly Predicate[];
  readonly isForAll: boolean;
  readonly ignoresCase: boolean;
  readonly withValues: boolean;
  readonly limit: number;
}

/**
 * ARGREP key start end (EXACT text | MATCH part | GLOB pattern | RE expression) … [AND | OR] [NOCASE] [WITHVALUES]
 * [LIMIT n] → indexes, or [index, value] each. `-` and `+` are the first and the last index; downward if start > end.
 * WRONGTYPE.
 */
export const grep: SlicedHandler = function* (context): Generator<void, Reply> {
  const { args } = context;
  const start = readBound(args, 2);
  const end = readBound(args, 3);
  const question = readQuestion(args);
  const array = readArray(context);
  if (array === undefined) return [];
  const last = plus(array.length, -1);
  const size = new AnswerSize(context);
  const found: Reply[] = [];
  const pace = new SlicePace();
  for (const [index, value] of array.entries(start ?? last, end ?? last)) {
    if (pace.isDue(question.predicates.length + value.length / BYTES_A_LOOKUP)) yield;
    if (!(yield* isMatch(question, value))) continue;
    size.addItems(question.withValues ? 3 : 1, question.withValues ? value.length : 0);
    found.push(question.withValues ? [shownIndex(index), value] : shownIndex(index));
    if (found.length === question.limit) break;
  }
  return found;
};

function* isMatch({ predicates, isForAll, ignoresCase }: Question, value: ByteString): Steps<boolean> {
  const text = ignoresCase ? asciiUpperCase(value) : value;
  for (const predicate of predicates) {
    const verdict = predicate(text);
    if ((typeof verdict === 'boolean' ? verdict : yield* verdict) !== isForAll) return !isForAll;
  }
  return isForAll;
}

/** Undefined: the last index. */
function readBound(args: Args, at: number): Unsigned64 | undefined {
  const word = args.bytes(at);
  if (word === '+') return undefined;
  const index = word === '-' ? 0 : parseIndex(word);
  if (index === undefined) throw badIndex;
  return index;
}

function readQuestion(args: Args): Question {
  const given: [kind: PredicateKind, text: ByteString][] = [];
  const options = { isForAll: false, ignoresCase: false, withValues: false, limit: Number.POSITIVE_INFINITY };
  for (let at = 4; at < args.length; at += 1) {
    const word = args.option(at);
    if (KINDS.has(word)) {
      at += 1;
      const text = args.bytes(at);
      if (given.length === MAX_PREDICATES) throw tooManyPredicates;
      if (word === 'RE' && text.length > MAX_EXPRESSION_BYTES) throw longExpression;
      given.push([word as PredicateKind, text]);
    } else if (word === 'LIMIT') {
      at += 1;
      options.limit = readLimit(args, at);
    } else if (word === 'WITHVALUES') options.withValues = true;
    else if (word === 'NOCASE') options.ignoresCase = true;
    else if (word === 'AND' || word === 'OR') options.isForAll = word === 'AND';
    else throw ERRORS.syntax;
  }
  if (given.length === 0) throw ERRORS.syntax;
  return { ...options, predicates: given.map(([kind, text]) => predicateOf(kind, text, options.ignoresCase)) };
}

function predicateOf(kind: PredicateKind, text: ByteString, ignoresCase: boolean): Predicate {
  const sought = ignoresCase ? asciiUpperCase(text) : text;
  switch (kind) {
    case 'EXACT':
      return (value) => value === sought;
    case 'MATCH':
      return (value) => value.includes(sought);
    case 'GLOB':
      return compileGlob(sought);
    case 'RE': {
      if (text === '') throw emptyExpression;
      // In upper case `\d` would mean the opposite.
      const { matchesInSteps } = compilePattern(ignoresCase ? `(?i)${text}` : text, MAX_EXPRESSION_BYTES + 4);
      return matchesInSteps;
    }
  }
}
