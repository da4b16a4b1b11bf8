/** SEARCH.AGGREGATE. */
import { bytesOfText } from '../../../../kernel/index.js';
import { type AggregationResult, Aggregations, NamedResults, parseAggregations } from '../../../full-text/index.js';
import { AnswerSize } from '../../answer-size.js';
import type { Reply } from '../../reply.js';
import type { Steps } from '../../steps.js';
import { scalarReply } from './answers.js';
import { aboutIndex, jsonWord } from './index-access.js';
import { filterOf } from './query.js';

/** SEARCH.AGGREGATE name filter aggregations → name, result, …; null without an index. */
export const aggregate = aboutIndex(null, function* (context, live): Steps<Reply> {
  const { evaluation, filter } = yield* filterOf(context, live);
  const wanted = parseAggregations(yield* jsonWord(context.args.bytes(3), 'A list of aggregations'), live.contents);
  const matches = yield* evaluation.matches(filter);
  const results = yield* new Aggregations().results(wanted, matches.ordinals);
  const size = new AnswerSize(context);
  return replyOf(results, size);
});

/** Names with results are flat lists. */
function replyOf(result: AggregationResult, size: AnswerSize): Reply {
  size.add();
  if (result instanceof NamedResults) {
    return result.pairs.flatMap(([name, value]) => [bytesOfText(name), replyOf(value, size)]);
  }
  if (result === null) return null;
  if (typeof result === 'object') return result.map((item) => replyOf(item, size));
  return scalarReply(result);
}
