/** SEARCH.QUERY and SEARCH.COUNT. */
import {
  bestOf,
  type DocumentFilter,
  FilterEvaluation,
  orderedBy,
  parseFilter,
  SharedStatistics,
  withFunction,
} from '../../../full-text/index.js';
import { AnswerSize } from '../../answer-size.js';
import type { Args } from '../../args.js';
import type { CommandContext } from '../../command-spec.js';
import { ErrorReply, type Reply } from '../../reply.js';
import type { SearchedIndex } from '../../search-registry.js';
import type { Steps } from '../../steps.js';
import { DocumentAnswers } from './answers.js';
import { aboutIndex, jsonWord } from './index-access.js';
import { type QueryWords, queryWordsOf } from './query-words.js';

const needsNoContent = new ErrorReply('ERR SEARCH.QUERY needs NOCONTENT in a transaction or script');

/** SEARCH.QUERY name filter [options] → [key, score, fields] for each document; null without an index. */
export const query = aboutIndex(null, function* (context, live): Steps<Reply> {
  const { args, isNested } = context;
  const words = queryWordsOf(args, live.contents);
  if (isNested && words.hasContent) throw needsNoContent;
  return yield* documents(context, live, words, yield* evaluationOf(args, live));
});

/** SEARCH.COUNT name filter → the number of documents; -1 without an index. */
export const count = aboutIndex(-1, function* ({ args }, live): Steps<Reply> {
  return (yield* matchesOf(args, live)).ordinals.length;
});

/** The documents of one page, with the contents that the words ask for. */
export function* documents(
  context: CommandContext,
  live: SearchedIndex,
  words: QueryWords,
  { filter, evaluation }: Evaluated,
): Steps<Reply[]> {
  const ranked = yield* rankedBy(words, filter, evaluation);
  const answers = new DocumentAnswers(context, live, words, evaluation.termsByField, new AnswerSize(context));
  const replies: Reply[] = [];
  for (const document of ranked.slice(words.offset)) {
    const reply = yield* answers.answerOf(document);
    if (reply !== undefined) replies.push(reply);
    yield;
  }
  return replies;
}

function* rankedBy({ score, order, offset, limit }: QueryWords, filter: DocumentFilter, evaluation: FilterEvaluation) {
  const most = offset + limit;
  if (score === undefined && order === undefined) return yield* evaluation.best(filter, most);
  const found = yield* evaluation.matches(filter);
  const matches = score === undefined ? found : yield* withFunction(found, score);
  return order === undefined ? yield* bestOf(matches, most) : yield* orderedBy(matches, order, most);
}

interface Evaluated {
  readonly filter: DocumentFilter;
  readonly evaluation: FilterEvaluation;
}

/** The filter in the third word. @param totals the statistics of all partitions */
export function* evaluationOf(args: Args, live: SearchedIndex, totals?: readonly number[]): Steps<Evaluated> {
  const { contents } = live;
  const filter = yield* filterIn(args, live);
  const statistics = totals === undefined ? undefined : new SharedStatistics(filter, contents, totals);
  return { filter, evaluation: new FilterEvaluation(contents, statistics) };
}

export function* filterIn(args: Args, { definition }: SearchedIndex): Steps<DocumentFilter> {
  return parseFilter(yield* jsonWord(args.bytes(2), 'A filter'), definition);
}

export function* matchesOf(args: Args, live: SearchedIndex) {
  const { filter, evaluation } = yield* evaluationOf(args, live);
  return yield* evaluation.matches(filter);
}
