/** Shared parts of the SEARCH commands: access to an index, bounded work, and errors. */
import { type ByteString, bytesOfText } from '../../../../kernel/index.js';
import { type FilterJson, MAX_FILTER_BYTES, MAX_QUERY_MS, SearchProblem } from '../../../full-text/index.js';
import type { CommandContext, SlicedHandler } from '../../command-spec.js';
import { ErrorReply, type Reply } from '../../reply.js';
import { filterJsonOf } from '../../search-documents.js';
import type { SearchedIndex } from '../../search-registry.js';
import type { Steps } from '../../steps.js';
import { readJson } from '../../types/json/index.js';
import { WorkMeter } from '../../work-meter.js';

/** Work of a query on keys that have changed just before, in microseconds; the others are processed later. */
const CATCH_UP_MICROS = 10_000;
const MICROS = 1000;

/** The handler of a command about an index that may be missing, with the bounds of a query. */
export function aboutIndex(
  missing: Reply,
  run: (context: CommandContext, live: SearchedIndex) => Steps<Reply>,
): SlicedHandler {
  return function* (context) {
    const live = context.searches.find(context.args.bytes(1));
    if (live === undefined) return missing;
    try {
      return yield* bounded(context, answered(context, live, run));
    } catch (problem) {
      if (problem instanceof SearchProblem) throw new ErrorReply(`ERR ${bytesOfText(problem.message)}`);
      throw problem;
    }
  };
}

function* answered(
  context: CommandContext,
  live: SearchedIndex,
  run: (context: CommandContext, live: SearchedIndex) => Steps<Reply>,
): Steps<Reply> {
  yield* catchUp(context, live);
  if (!live.isBuilt) throw beingBuilt(context);
  return yield* run(context, live);
}

/**
 * Processes keys that have changed just before. Not in a transaction or script, whose changes may be undone.
 */
export function* catchUp({ server, isNested }: CommandContext, live: SearchedIndex): Steps<void> {
  if (isNested) return;
  const meter = new WorkMeter(server);
  for (let spentMicros = 0; live.hasWork && spentMicros < CATCH_UP_MICROS; ) {
    meter.start();
    live.step();
    spentMicros += meter.workedMicros();
    yield;
  }
}

export function beingBuilt({ args }: CommandContext): ErrorReply {
  return new ErrorReply(`ERR Index ${args.bytes(1)} is being built, try again`);
}

/** Ends the work with an error when it takes too long. */
function* bounded(context: CommandContext, steps: Steps<Reply>): Steps<Reply> {
  const meter = new WorkMeter(context.server);
  let spentMicros = 0;
  for (;;) {
    meter.start();
    const step = steps.next();
    if (step.done === true) return step.value;
    spentMicros += meter.workedMicros();
    if (spentMicros > MAX_QUERY_MS * MICROS) {
      throw new ErrorReply(`ERR The query took more than ${MAX_QUERY_MS} ms of work: make its filter narrower`);
    }
    yield;
  }
}

/** The JSON value of a word. @throws ErrorReply */
export function* jsonWord(word: ByteString, what: string): Steps<FilterJson> {
  if (word.length > MAX_FILTER_BYTES) throw new ErrorReply(`ERR ${what} has at most ${MAX_FILTER_BYTES} bytes`);
  try {
    const { value } = yield* readJson(word);
    return filterJsonOf(value);
  } catch (refusal) {
    if (refusal instanceof ErrorReply) throw new ErrorReply(`ERR ${what} is not valid JSON`);
    throw refusal;
  }
}
