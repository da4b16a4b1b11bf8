/** SEARCH.QUERY and SEARCH.COUNT. */
import { bestOf, FilterEvaluation, orderedBy, parseFilter, withFunction } from '../../../full-text/index.js';
import { AnswerSize } from '../../answer-size.js';
import type { CommandContext } from '../../command-spec.js';
import { ErrorReply, type Reply } from '../../reply.js';
import type { SearchedIndex } from '../../search-registry.js';
import type { Steps } from '../../steps.js';
import { DocumentAnswers } from './answers.js';
import { aboutIndex, jsonWord } from './index-access.js';
import { queryWordsOf } from './query-words.js';

const needsNoContent = new ErrorReply('ERR SEARCH.QUERY needs NOCONTENT in a transaction or script');

/** SEARCH.QUERY name filter [options] → [key, score, fields] for each document; null without an index. */
export const query = aboutIndex(null, function* (context, live): Steps<Reply> {
  const { args, isNested } = context;
  const { contents } = live;
  const words = queryWordsOf(args, contents);
  if (isNested && words.hasContent) throw needsNoContent;
  const { evaluation, filter } = yield* filterOf(context, live);
  let matches = yield* evaluation.matches(filter);
  if (words.score !== undefined) matches = yield* withFunction(matches, words.score);
  const most = words.offset + words.limit;
  const ranked =
    words.order === undefined ? yield* bestOf(matches, most) : yield* orderedBy(matches, words.order, most);
  const answers = new DocumentAnswers(context, live, words, evaluation.termsByField, new AnswerSize(context));
  const replies: Reply[] = [];
  for (const document of ranked.slice(words.offset)) {
    const reply = yield* answers.answerOf(document);
    if (reply !== undefined) replies.push(reply);
    yield;
  }
  return replies;
});

/** SEARCH.COUNT name filter → the number of documents; -1 without an index. */
export const count = aboutIndex(-1, function* (context, live): Steps<Reply> {
  const { evaluation, filter } = yield* filterOf(context, live);
  return (yield* evaluation.matches(filter)).ordinals.length;
});

/** The filter in the third word. */
export function* filterOf({ args }: CommandContext, { definition, contents }: SearchedIndex) {
  const filter = parseFilter(yield* jsonWord(args.bytes(2), 'A filter'), definition);
  return { filter, evaluation: new FilterEvaluation(contents) };
}
