/** Shared parts of the SEARCH commands: access to an index, bounded work, and errors. */
import { type ByteString, bytesOfText } from '../../../../kernel/index.js';
import { type FilterJson, MAX_FILTER_BYTES, SearchProblem } from '../../../full-text/index.js';
import { boundedQuery } from '../../bounded-query.js';
import type { CommandContext, SlicedHandler } from '../../command-spec.js';
import { ErrorReply, type Reply } from '../../reply.js';
import { filterJsonOf } from '../../search-documents.js';
import type { SearchedIndex } from '../../search-registry.js';
import type { Steps } from '../../steps.js';
import { readJson } from '../../types/json/index.js';
import { WorkMeter } from '../../work-meter.js';

/** Work of a query on keys that have changed just before, in microseconds; the others are processed later. */
const CATCH_UP_MICROS = 10_000;

type AboutIndex = (context: CommandContext, live: SearchedIndex) => Steps<Reply>;

/** The handler of a client's command about an index that may be missing, with the bounds of a query. */
export function aboutIndex(missing: Reply, run: AboutIndex): SlicedHandler {
  return function* (context) {
    requireWhole(context);
    const live = context.searches.find(context.args.bytes(1));
    return live === undefined ? missing : yield* bounded(context, answered(context, live, run, context.args.bytes(1)));
  };
}

/** As `aboutIndex`, for a command about this partition's part of an index, which names it by its definition and its name. */
export function aboutPart(run: AboutIndex): SlicedHandler {
  return function* (context) {
    const live = context.searches.partOf(context.args.bytes(1));
    return live === undefined
      ? partMissing
      : yield* bounded(context, answered(context, live, run, context.args.bytes(2)));
  };
}

/** Refuses scripts and transactions in a database of several partitions: they run in one of them. */
export function requireWhole({ slots, args }: CommandContext): void {
  if (slots === undefined || slots.partitions === 1) return;
  throw new ErrorReply(`ERR ${args.bytes(0)} needs a database of one partition in a transaction or script`);
}

/** The partition has forgotten the index since the request before. */
const partMissing = new ErrorReply('ERR The index was deleted or changed, try again');

function* answered(context: CommandContext, live: SearchedIndex, run: AboutIndex, name: ByteString): Steps<Reply> {
  yield* catchUp(context, live);
  requireBuilt(live, name);
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

/** @throws ErrorReply */
export function requireBuilt({ isBuilt, isOutOfRoom }: SearchedIndex, name: ByteString): void {
  if (isBuilt) return;
  if (!isOutOfRoom) throw new ErrorReply(`ERR Index ${name} is being built, try again`);
  throw new ErrorReply(
    `ERR Index ${name} does not fit into the database: delete keys or the index, or use a larger plan`,
  );
}

/** Ends the work with an error when it takes too long. */
export function bounded({ server }: CommandContext, steps: Steps<Reply>): Steps<Reply> {
  return boundedQuery(server, withReasons(steps), 'make its filter narrower');
}

/** Errors of the search engine become replies. */
function* withReasons(steps: Steps<Reply>): Steps<Reply> {
  try {
    return yield* steps;
  } catch (problem) {
    if (problem instanceof SearchProblem) throw new ErrorReply(`ERR ${bytesOfText(problem.message)}`);
    throw problem;
  }
}

/** The JSON value of a word. @throws ErrorReply */
export function* jsonWord(word: ByteString, subject: string, mostBytes = MAX_FILTER_BYTES): Steps<FilterJson> {
  if (word.length > mostBytes) throw new ErrorReply(`ERR ${subject} has at most ${mostBytes} bytes`);
  try {
    const { value } = yield* readJson(word);
    return filterJsonOf(value);
  } catch (refusal) {
    if (refusal instanceof ErrorReply) throw new ErrorReply(`ERR ${subject} is not valid JSON`);
    throw refusal;
  }
}

/** The word that `jsonWord` reads as this value. */
export function jsonText(value: FilterJson): ByteString {
  if (value instanceof Map) {
    const members = [...value].map(([name, member]) => `${jsonText(name)}:${jsonText(member)}`);
    return `{${members.join()}}`;
  }
  if (Array.isArray(value)) return `[${(value as readonly FilterJson[]).map(jsonText).join()}]`;
  if (typeof value === 'bigint') return String(value);
  // With an exponent it is read as a number, not as an integer of 64 bits.
  if (typeof value === 'number' && !Number.isSafeInteger(value)) return value.toExponential();
  return bytesOfText(JSON.stringify(value));
}
