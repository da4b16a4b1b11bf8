/** SEARCH.AGGREGATE. */
import { bytesOfText } from '../../../../kernel/index.js';
import {
  type AggregationResult,
  collectedStates,
  NamedResults,
  parseAggregations,
  resultsOf,
} from '../../../full-text/index.js';
import { AnswerSize } from '../../answer-size.js';
import type { Args } from '../../args.js';
import type { Reply } from '../../reply.js';
import type { SearchedIndex } from '../../search-registry.js';
import type { Steps } from '../../steps.js';
import { scalarReply } from './answers.js';
import { aboutIndex, jsonWord } from './index-access.js';
import { matchesOf } from './query.js';

/** SEARCH.AGGREGATE name filter aggregations → name, result, …; null without an index. */
export const aggregate = aboutIndex(null, function* (context, live): Steps<Reply> {
  const { wanted, states } = yield* statesOf(context.args, live);
  return aggregationReply(yield* resultsOf(wanted, states), new AnswerSize(context));
});

/** The aggregations in the fourth word, and their states over the documents of the filter. */
export function* statesOf(args: Args, live: SearchedIndex) {
  const wanted = yield* aggregationsIn(args, live);
  const { ordinals } = yield* matchesOf(args, live);
  return { wanted, states: yield* collectedStates(wanted, ordinals) };
}

export function* aggregationsIn(args: Args, { contents }: SearchedIndex) {
  return parseAggregations(yield* jsonWord(args.bytes(3), 'A list of aggregations'), contents);
}

/** Names with results are flat lists. */
export function aggregationReply(result: AggregationResult, size: AnswerSize): Reply {
  size.add();
  if (result instanceof NamedResults) {
    return result.pairs.flatMap(([name, value]) => [bytesOfText(name), aggregationReply(value, size)]);
  }
  if (result === null) return null;
  if (typeof result === 'object') return result.map((item) => aggregationReply(item, size));
  return scalarReply(result);
}
