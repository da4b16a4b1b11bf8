/** Adding members and changing their scores: ZADD, ZINCRBY. */
import type { ByteString } from '../../../../kernel/index.js';
import type { CommandContext, Handler, SlicedHandler } from '../../command-spec.js';
import { formatDouble } from '../../numbers.js';
import { DoubleReply, ERRORS, ErrorReply, type Reply } from '../../reply.js';
import { commandsOf } from '../../types/command-chunks.js';
import { parseScore } from '../../types/score-text.js';
import { SortedSet } from '../../types/sorted-set.js';
import { pushScores } from './effects.js';
import { LONG_SORTED_SET_ENTRIES, requireRoom, SLICE_ENTRIES } from './limits.js';

const bothConditions = new ErrorReply('ERR XX and NX options at the same time are not compatible');
const bothComparisons = new ErrorReply('ERR GT, LT, and/or NX options at the same time are not compatible');
const manyIncrements = new ErrorReply('ERR INCR option supports a single increment-element pair');
const notANumber = new ErrorReply('ERR resulting score is not a number (NaN)');

const OPTIONS = ['NX', 'XX', 'GT', 'LT', 'CH', 'INCR'] as const;
type Option = (typeof OPTIONS)[number];
const NAMES: ReadonlySet<string> = new Set(OPTIONS);

interface Addition {
  readonly key: ByteString;
  readonly options: ReadonlySet<Option>;
  readonly firstAt: number;
  /** One per member; filled by `readScores`. */
  readonly scores: number[];
}

const NO_OPTIONS: ReadonlySet<Option> = new Set();
const INCREMENT: ReadonlySet<Option> = new Set(['INCR']);

/** Parses and checks all words except the key and the scores. @throws ErrorReply */
function readAddition({ args }: CommandContext, given: ReadonlySet<Option>): Addition {
  let options = given;
  let firstAt = 2;
  for (; firstAt < args.length; firstAt += 1) {
    const word = args.bytes(firstAt);
    // Options have two or four letters; most scores are ruled out because they do not begin with a letter.
    if (word.length > 4 || word < 'A' || !NAMES.has(word.toUpperCase())) break;
    options = new Set(options).add(word.toUpperCase() as Option);
  }
  const count = (args.length - firstAt) / 2;
  if (count < 1 || !Number.isInteger(count)) throw ERRORS.syntax;
  if (options.size > 0) requireCompatible(options, count);
  return { key: args.bytes(1), options, firstAt, scores: new Array<number>(count) };
}

/** Parses the scores of the members from `from` to `to`. @throws ErrorReply */
function readScores({ args }: CommandContext, { firstAt, scores }: Addition, from: number, to: number): void {
  for (let i = from; i < to; i += 1) {
    const score = parseScore(args.bytes(firstAt + 2 * i));
    if (score === undefined) throw ERRORS.notAFloat;
    scores[i] = score;
  }
}

function requireCompatible(options: ReadonlySet<Option>, count: number): void {
  if (options.has('NX') && options.has('XX')) throw bothConditions;
  const comparisons = Number(options.has('GT')) + Number(options.has('LT'));
  if (comparisons === 2 || (comparisons === 1 && options.has('NX'))) throw bothComparisons;
  if (options.has('INCR') && count > 1) throw manyIncrements;
}

/** One addition in progress, so that it can be sliced. */
class Adding {
  readonly #set: SortedSet;
  readonly #isNew: boolean;
  readonly #before: number;
  readonly #entries: [ByteString, ByteString][] = [];
  #added = 0;
  #changed = 0;
  /** The score of the last member that was not skipped. */
  #last: number | undefined;

  constructor(
    private readonly context: CommandContext,
    private readonly addition: Addition,
    set: SortedSet | undefined,
  ) {
    this.#isNew = set === undefined;
    this.#set = set ?? new SortedSet();
    this.#before = this.#set.bytes;
    this.#set.expectMembers(addition.scores.length, context.settings);
  }

  /** @throws ErrorReply before any change, because only a single INCR can give NaN */
  apply(index: number): void {
    const { options, scores, firstAt } = this.addition;
    const member = this.context.args.bytes(firstAt + 2 * index + 1);
    const current = this.#set.scoreOf(member);
    let score = scores[index] as number;
    if (current === undefined) {
      if (options.has('XX')) return;
      this.#set.add(member, score);
      this.#added += 1;
    } else {
      if (options.has('NX')) return;
      if (options.has('INCR')) score += current;
      if (Number.isNaN(score)) throw notANumber;
      if ((options.has('GT') && score <= current) || (options.has('LT') && score >= current)) return;
      this.#last = score;
      if (score === current) return;
      this.#set.move(member, current, score);
      this.#changed += 1;
    }
    this.#last = score;
    this.#entries.push([formatDouble(score), member]);
  }

  finish(): Reply {
    this.#keep();
    if (this.#entries.length > 0) pushScores(this.context, this.addition.key, this.#entries);
    return this.#answer();
  }

  *finishInSlices(): Generator<void, Reply> {
    this.#keep();
    yield* this.context.effects.pushEach(commandsOf(['ZADD', this.addition.key], this.#entries));
    return this.#answer();
  }

  #keep(): void {
    const { settings, keyspace } = this.context;
    const { key } = this.addition;
    if (this.#entries.length === 0) return;
    this.#set.settle(settings);
    if (this.#isNew) keyspace.set(key, this.#set);
    else keyspace.changed(key, this.#set, this.#before);
  }

  #answer(): Reply {
    const { key, options } = this.addition;
    if (this.#entries.length > 0) this.context.notify('z', options.has('INCR') ? 'zincr' : 'zadd', key);
    if (options.has('INCR')) return this.#last === undefined ? null : new DoubleReply(this.#last);
    return options.has('CH') ? this.#added + this.#changed : this.#added;
  }
}

function begin(context: CommandContext, addition: Addition): { adding: Adding; count: number } {
  const set = context.keyspace.fetchKind(addition.key, SortedSet);
  const adding = new Adding(context, addition, set);
  if (set === undefined && addition.options.has('XX')) return { adding, count: 0 };
  let addedBytes = 0;
  for (let i = addition.firstAt + 1; i < context.args.length; i += 2) addedBytes += context.args.bytes(i).length;
  requireRoom(context, set, addedBytes);
  return { adding, count: addition.scores.length };
}

function addingWith(given: ReadonlySet<Option>): Handler {
  return (context) => {
    const addition = readAddition(context, given);
    readScores(context, addition, 0, addition.scores.length);
    const { adding, count } = begin(context, addition);
    for (let i = 0; i < count; i += 1) adding.apply(i);
    return adding.finish();
  };
}

/** ZADD key [NX | XX] [GT | LT] [CH] [INCR] score member … → the number of added members; with INCR the score. */
export const add: Handler = addingWith(NO_OPTIONS);

/** ZINCRBY key increment member → the new score. */
export const increment: Handler = addingWith(INCREMENT);

/** ZADD of many members. */
export const addInSlices: SlicedHandler = function* (context) {
  const addition = readAddition(context, NO_OPTIONS);
  for (let i = 0; i < addition.scores.length; i += SLICE_ENTRIES) {
    readScores(context, addition, i, Math.min(i + SLICE_ENTRIES, addition.scores.length));
    yield;
  }
  const { adding, count } = begin(context, addition);
  for (let i = 0; i < count; i += 1) {
    adding.apply(i);
    if (i % SLICE_ENTRIES === SLICE_ENTRIES - 1) yield;
  }
  return yield* adding.finishInSlices();
};

export function isLongAddition({ args }: CommandContext): boolean {
  return args.length > 2 * LONG_SORTED_SET_ENTRIES;
}
