/**
 * Commands about one partition's part of an index, in databases of several partitions. The edge sends them for a
 * client's command (`across.ts`); clients cannot call them. Their first words are the text of the definition, by which
 * the part is found, and the name of the index; the words of the client's command are the last ones.
 */
import type { ByteString } from '../../../../kernel/index.js';
import {
  decodedStates,
  dependsOnStatistics,
  encodedStates,
  type FilterJson,
  joinedStates,
  resultsOf,
  statisticsFor,
} from '../../../full-text/index.js';
import { AnswerSize } from '../../answer-size.js';
import { Args } from '../../args.js';
import { NO_KEYS } from '../../command-description.js';
import type { CommandContext, CommandSpec, Handler, SlicedHandler } from '../../command-spec.js';
import { OK, type Reply } from '../../reply.js';
import type { SearchedIndex } from '../../search-registry.js';
import { inSlices } from '../../slices.js';
import type { Steps } from '../../steps.js';
import { FullTextIndex } from '../../types/full-text-index.js';
import { family, NOT_IN_REDIS, row } from '../rows.js';
import { aggregationReply, aggregationsIn, statesOf } from './aggregate.js';
import { indexOfText } from './create.js';
import { aboutPart, bounded, catchUp, jsonText, jsonWord, requireBuilt } from './index-access.js';
import { documents, evaluationOf, filterIn, matchesOf } from './query.js';
import { queryWordsOf } from './query-words.js';

/** The words before those of the client's command. */
const BEFORE_CLIENT = 3;
const BEFORE_QUERY = 7;

/**
 * `SEARCH.PLAN` and a client's command → how it is to be carried out, from the partition of the index's key: `missing`;
 * `alias`, index; or `index`, definition, whether scores depend on other documents, offset, limit, whether contents are
 * wanted, the direction of the order (empty: by score). Refuses the errors of the client's command.
 */
const plan: SlicedHandler = function* (context) {
  const words = new Args(context.args.from(1));
  const name = words.bytes(1);
  const { keyspace, searches } = context;
  const live = keyspace.isThere(name) ? searches.find(name) : undefined;
  const value = keyspace.isThere(name) ? keyspace.stored(name) : undefined;
  if (live === undefined || !(value instanceof FullTextIndex)) {
    const index = searches.aliases.get(name);
    return index === undefined ? ['missing'] : ['alias', index];
  }
  return yield* bounded(context, planOf(words, live, value.text));
};

function* planOf(words: Args, live: SearchedIndex, text: ByteString): Steps<Reply> {
  switch (words.option(0)) {
    case 'SEARCH.QUERY': {
      const { offset, limit, hasContent, order } = queryWordsOf(words, live.contents);
      const isScored = order === undefined && dependsOnStatistics(yield* filterIn(words, live), live.contents);
      const direction = order === undefined ? '' : order.isDescending ? 'DESC' : 'ASC';
      return ['index', text, Number(isScored), offset, limit, Number(hasContent), direction];
    }
    case 'SEARCH.AGGREGATE':
      yield* aggregationsIn(words, live);
      yield* filterIn(words, live);
      return ['index', text];
    case 'SEARCH.COUNT':
      yield* filterIn(words, live);
      return ['index', text];
    default:
      return ['index', text];
  }
}

/** definition, name, whether the index is new, whether present keys are left out. */
const follow: Handler = ({ args, searches }) => {
  const [text, name] = [args.bytes(1), args.bytes(2)];
  searches.follow(name, indexOfText(name, text), args.bytes(3) === '1', args.bytes(4) === '1');
  return OK;
};

const unfollow: Handler = ({ args, searches }) => {
  searches.unfollow(args.bytes(1));
  return OK;
};

const statistics = aboutPart(function* (context, live): Steps<Reply> {
  return yield* statisticsFor(yield* filterIn(clientWordsOf(context), live), live.contents);
});

/** definition, name, statistics of all partitions, offset, limit, whether contents are wanted, client's command. */
const query = aboutPart(function* (context, live): Steps<Reply> {
  const { args } = context;
  const client = clientWordsOf(context, BEFORE_QUERY);
  const given = args.bytes(3);
  const totals = given === '' ? undefined : given.split(',').map(Number);
  const words = queryWordsOf(client, live.contents);
  const page = { offset: args.integer(4), limit: args.integer(5), hasContent: args.bytes(6) === '1' };
  return yield* documents(context, live, { ...words, ...page }, yield* evaluationOf(client, live, totals));
});

const count = aboutPart(function* (context, live): Steps<Reply> {
  return (yield* matchesOf(clientWordsOf(context), live)).ordinals.length;
});

/** The states of the aggregations, as JSON. */
const states = aboutPart(function* (context, live): Steps<Reply> {
  const collected = yield* statesOf(clientWordsOf(context), live);
  return jsonText(yield* encodedStates(collected.states));
});

/** definition, name, number of partitions, their states, client's command → the answer to the client. */
const join = aboutPart(function* (context, live): Steps<Reply> {
  const { args } = context;
  const last = BEFORE_CLIENT + args.integer(BEFORE_CLIENT);
  const wanted = yield* aggregationsIn(clientWordsOf(context, last + 1), live);
  const parts = [];
  for (let at = BEFORE_CLIENT + 1; at <= last; at += 1) {
    const given: FilterJson = yield* jsonWord(args.bytes(at), 'A state', Number.POSITIVE_INFINITY);
    parts.push(decodedStates(wanted, given));
    yield;
  }
  const results = yield* resultsOf(wanted, yield* joinedStates(wanted, parts));
  return aggregationReply(results, new AnswerSize(context));
});

/** → documents, pending changes. */
const sizes: Handler = ({ args, searches }) => {
  const live = searches.partOf(args.bytes(1));
  return [live?.contents.size ?? 0, live?.pending ?? 0];
};

const awaitChanges: SlicedHandler = function* (context) {
  const live = context.searches.partOf(context.args.bytes(1));
  if (live === undefined) return 0;
  yield* catchUp(context, live);
  requireBuilt(live, context.args.bytes(2));
  return 1;
};

const rebuild: Handler = ({ args, searches }) => {
  searches.partOf(args.bytes(1))?.rebuild(false);
  return 1;
};

function clientWordsOf({ args }: CommandContext, from = BEFORE_CLIENT): Args {
  return new Args(args.from(from));
}

const INTERNAL = { flags: ['readonly', 'noscript', 'skip-monitor', 'skip-slowlog'], keys: NO_KEYS } as const;
/** Its answer shows keys that it does not name, so it waits for changes that are not stored. */
const ASKS = { ...INTERNAL, acrossPartitions: 'first', readsUnnamedKeys: true, waitsForIndex: 'built' } as const;
const ALWAYS = () => true;

export const SEARCH_PARTS: readonly CommandSpec[] = family('search', [
  row('SEARCH.PLAN', -3, NOT_IN_REDIS, 'Explains how a command about an index is carried out.', {
    ...INTERNAL,
    ...inSlices(plan, ALWAYS),
  }),
  row('SEARCH.FOLLOW', 5, NOT_IN_REDIS, 'Makes a part of an index.', { ...INTERNAL, handler: follow }),
  row('SEARCH.UNFOLLOW', 3, NOT_IN_REDIS, 'Drops a part of an index.', { ...INTERNAL, handler: unfollow }),
  row('SEARCH.STATISTICS', -5, NOT_IN_REDIS, 'Counts documents and words.', {
    ...ASKS,
    ...inSlices(statistics, ALWAYS),
  }),
  row('SEARCH.PART', -9, NOT_IN_REDIS, 'Answers SEARCH.QUERY for a part.', { ...ASKS, ...inSlices(query, ALWAYS) }),
  row('SEARCH.COUNTED', -5, NOT_IN_REDIS, 'Answers SEARCH.COUNT for a part.', { ...ASKS, ...inSlices(count, ALWAYS) }),
  row('SEARCH.STATES', -6, NOT_IN_REDIS, 'Collects aggregations of a part.', { ...ASKS, ...inSlices(states, ALWAYS) }),
  row('SEARCH.JOIN', -7, NOT_IN_REDIS, 'Joins the aggregations of all parts.', { ...ASKS, ...inSlices(join, ALWAYS) }),
  row('SEARCH.SIZES', 3, NOT_IN_REDIS, 'Counts the documents of a part.', { ...INTERNAL, handler: sizes }),
  row('SEARCH.AWAIT', 3, NOT_IN_REDIS, 'Waits until all earlier changes are in a part.', {
    ...INTERNAL,
    waitsForIndex: 'changes',
    ...inSlices(awaitChanges, ALWAYS),
  }),
  row('SEARCH.REBUILD', 3, NOT_IN_REDIS, 'Builds a part again from the keys.', { ...INTERNAL, handler: rebuild }),
]);
