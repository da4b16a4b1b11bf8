/**
 * SORT: sorts the elements of a list, set or sorted set, optionally by the values of other keys, and can return those
 * values.
 */
import type { ByteString } from '../../../../kernel/index.js';
import { AnswerSize } from '../../answer-size.js';
import { type FoundKey, found, type KeySpec } from '../../command-description.js';
import type { CommandContext, SlicedHandler } from '../../command-spec.js';
import { parseFloatStrict } from '../../numbers.js';
import { ERRORS, ErrorReply, flatten, type Reply } from '../../reply.js';
import { mapped, mergeSorted, SlicePace } from '../../slices.js';

const notDoubles = new ErrorReply("ERR One or more scores can't be converted into double");
const byDenied = new ErrorReply('ERR BY option of SORT denied due to insufficient ACL permissions');
const getDenied = new ErrorReply('ERR GET option of SORT denied due to insufficient ACL permissions');
/** Elements looked up, compared or copied in one slice. */
const SLICE = 250;
/** The most words of one effect. */
const CHUNK_WORDS = 256;
const CHUNK_BYTES = 64 * 1024;
const LONG_SORT = 2000;

interface Options {
  by: ByteString | undefined;
  offset: number;
  count: number;
  gets: ByteString[];
  isDescending: boolean;
  isAlpha: boolean;
  store: ByteString | undefined;
}

interface Element {
  readonly value: ByteString;
  /** The text to compare by. */
  readonly weight: ByteString | null;
  readonly score: number;
}

/** SORT key [BY p] [LIMIT o n] [GET p …] [ASC | DESC] [ALPHA] [STORE k] → the elements, or how many were stored. */
export function sort(mayStore: boolean): SlicedHandler {
  return function* (context) {
    const options = readOptions(context, mayStore);
    const key = context.args.bytes(1);
    const value = mayStore ? context.keyspace.fetch(key) : context.keyspace.peek(key);
    const kind = value === undefined ? undefined : typeof value === 'string' ? 'string' : value.kind;
    if (kind !== undefined && kind !== 'list' && kind !== 'set' && kind !== 'zset') throw ERRORS.wrongType;
    const elements = yield* sortedElements(context, key, kind, options);
    const answer = yield* answerOf(context, elements, options.gets);
    if (options.store === undefined) return answer;
    return yield* store(context, options.store, answer);
  };
}

export function isLongSort({ args, keyspace }: CommandContext): boolean {
  const value = keyspace.peek(args.bytes(1));
  if (value === undefined || typeof value === 'string') return false;
  // Further words are mostly GETs, each a lookup per element.
  return value.size > LONG_SORT || value.size * args.length > 2 * LONG_SORT;
}

/** The key, and the destination of the last STORE. */
export const SORT_KEYS: KeySpec = found(
  (words) => {
    const keys: FoundKey[] = [{ position: 1, access: 'read' }];
    let storeAt = 0;
    for (let i = 2; i < words.length; i += 1) {
      const option = (words[i] as ByteString).toUpperCase();
      if (option === 'LIMIT') i += 2;
      else if (option === 'BY' || option === 'GET') i += 1;
      else if (option === 'STORE') {
        i += 1;
        storeAt = i;
      }
    }
    if (storeAt > 0) keys.push({ position: storeAt, access: 'write' });
    return keys;
  },
  { use: 'RO access', at: 1 },
  { use: 'RO access' },
  { use: 'OW update' },
);

function readOptions(context: CommandContext, mayStore: boolean): Options {
  const { args, permissions } = context;
  const options: Options = {
    by: undefined,
    offset: 0,
    count: -1,
    gets: [],
    isDescending: false,
    isAlpha: false,
    store: undefined,
  };
  for (let i = 2; i < args.length; i += 1) {
    const option = args.option(i);
    const left = args.length - i - 1;
    if (option === 'ASC') options.isDescending = false;
    else if (option === 'DESC') options.isDescending = true;
    else if (option === 'ALPHA') options.isAlpha = true;
    else if (option === 'LIMIT' && left >= 2) {
      options.offset = args.offset(i + 1);
      options.count = args.offset(i + 2);
      i += 2;
    } else if (option === 'STORE' && left >= 1 && mayStore) {
      i += 1;
      options.store = args.bytes(i);
    } else if (option === 'BY' && left >= 1) {
      i += 1;
      options.by = args.bytes(i);
      if (options.by.includes('*') && !mayReadAll(context)) throw byDenied;
    } else if (option === 'GET' && left >= 1) {
      i += 1;
      options.gets.push(args.bytes(i));
      if (permissions !== undefined && !mayReadAll(context)) throw getDenied;
    } else throw ERRORS.syntax;
  }
  return options;
}

/** Keys read through a pattern are not named in the command, so patterns require permission to read all keys. */
function mayReadAll({ permissions, commands }: CommandContext): boolean {
  if (permissions === undefined) return true;
  const words = ['GET', '*'];
  const spec = commands.find(words);
  return spec !== undefined && permissions.refusal(spec, words) === undefined;
}

function* sortedElements(
  context: CommandContext,
  key: ByteString,
  kind: 'list' | 'set' | 'zset' | undefined,
  options: Options,
): Generator<void, ByteString[]> {
  if (kind === undefined) return [];
  const isUnsorted = options.by !== undefined && !options.by.includes('*');
  // The stored order of a set's members must not depend on their internal order.
  const isForced = isUnsorted && kind === 'set' && (options.store !== undefined || context.isNested);
  const values = yield* elementsOf(context, key, kind, isUnsorted && options.isDescending);
  if (isUnsorted && !isForced) return slice(values, options);
  const by = isForced ? undefined : options.by;
  const isAlpha = options.isAlpha || isForced;
  const elements: Element[] = [];
  for (const [index, value] of values.entries()) {
    elements.push(weighed(context, value, by, isAlpha));
    if (index % SLICE === SLICE - 1) yield;
  }
  const sorted = yield* mergeSorted(elements, comparator(by !== undefined, isAlpha, options.isDescending));
  return yield* mapped(slice(sorted, options), ({ value }) => value);
}

function* elementsOf(
  context: CommandContext,
  key: ByteString,
  kind: 'list' | 'set' | 'zset',
  isBackwards: boolean,
): Generator<void, ByteString[]> {
  const words =
    kind === 'list'
      ? ['LRANGE', key, '0', '-1']
      : kind === 'set'
        ? ['SMEMBERS', key]
        : ['ZRANGE', key, '0', '-1', ...(isBackwards ? ['REV'] : [])];
  const spec = context.commands.find(words);
  if (spec === undefined) throw ERRORS.wrongType;
  const reply = yield* context.callInSlices(spec, words);
  if (reply instanceof ErrorReply) throw reply;
  // The list was created for this call and may be changed.
  const elements = flatten(reply) as ByteString[];
  return kind === 'list' && isBackwards ? elements.reverse() : elements;
}

function callOf(context: CommandContext, words: readonly ByteString[], isQuiet = false): Reply {
  const spec = context.commands.find(words);
  if (spec === undefined) throw ERRORS.wrongType;
  const reply = context.call(spec, words, isQuiet);
  if (reply instanceof ErrorReply) throw reply;
  return reply;
}

function weighed(context: CommandContext, value: ByteString, by: ByteString | undefined, isAlpha: boolean): Element {
  const weight = by === undefined ? value : lookUp(context, by, value);
  if (isAlpha) return { value, weight, score: 0 };
  // A missing or empty weight counts as 0.
  if (weight === null || weight === '') return { value, weight, score: 0 };
  const score = parseFloatStrict(weight.trimStart());
  if (score === undefined || Number.isNaN(score)) throw notDoubles;
  return { value, weight, score };
}

/** The value of the key or hash field that the pattern gives for an element. */
function lookUp(
  { keyspace, commands, call }: CommandContext,
  pattern: ByteString,
  element: ByteString,
): ByteString | null {
  if (pattern === '#') return element;
  const star = pattern.indexOf('*');
  if (star < 0) return null;
  const arrow = pattern.indexOf('->', star + 1);
  const hasField = arrow >= 0 && arrow + 2 < pattern.length;
  const end = hasField ? arrow : pattern.length;
  const key = pattern.slice(0, star) + element + pattern.slice(star + 1, end);
  const value = keyspace.peek(key);
  if (value === undefined) return null;
  if (!hasField) return typeof value === 'string' ? value : null;
  if (typeof value === 'string' || value.kind !== 'hash') return null;
  const words = ['HGET', key, pattern.slice(arrow + 2)];
  const spec = commands.find(words);
  const reply = spec === undefined ? null : call(spec, words);
  return typeof reply === 'string' ? reply : null;
}

type Comparator = (a: Element, b: Element) => number;

function comparator(hasWeights: boolean, isAlpha: boolean, isDescending: boolean): Comparator {
  const sign = isDescending ? -1 : 1;
  if (!isAlpha) return (a, b) => sign * (a.score - b.score || order(a.value, b.value));
  if (!hasWeights) return (a, b) => sign * order(a.value, b.value);
  return (a, b) => {
    if (a.weight === null || b.weight === null) return sign * (Number(a.weight !== null) - Number(b.weight !== null));
    return sign * order(a.weight, b.weight);
  };
}

function order(a: ByteString, b: ByteString): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function slice<T>(values: T[], { offset, count }: Options): T[] {
  const start = Math.min(Math.max(offset, 0), values.length);
  if (start === 0 && count < 0) return values;
  return count < 0 ? values.slice(start) : values.slice(start, start + count);
}

function* answerOf(
  context: CommandContext,
  values: ByteString[],
  gets: readonly ByteString[],
): Generator<void, (ByteString | null)[]> {
  if (gets.length === 0) return values;
  const answer: (ByteString | null)[] = [];
  const size = new AnswerSize(context);
  size.requireItems(values.length * gets.length);
  const pace = new SlicePace();
  for (const value of values) {
    for (const pattern of gets) {
      const found = lookUp(context, pattern, value);
      size.add(found?.length);
      answer.push(found);
      if (pace.isDue()) yield;
    }
  }
  return answer;
}

/** Stores the elements as a list; a missing value becomes an empty element. */
function* store(
  context: CommandContext,
  key: ByteString,
  values: readonly (ByteString | null)[],
): Generator<void, number> {
  const { keyspace, effects, notify } = context;
  const wasThere = keyspace.fetch(key) !== undefined;
  if (wasThere) {
    keyspace.delete(key);
    effects.push('DEL', key);
  }
  if (values.length === 0) {
    if (wasThere) notify('g', 'del', key);
    return 0;
  }
  let words: ByteString[] = ['RPUSH', key];
  let bytes = 0;
  for (const [index, value] of values.entries()) {
    words.push(value ?? '');
    bytes += value?.length ?? 0;
    if (words.length < CHUNK_WORDS && bytes < CHUNK_BYTES && index < values.length - 1) continue;
    callOf(context, words, true);
    words = ['RPUSH', key];
    bytes = 0;
    yield;
  }
  notify('l', 'sortstore', key);
  return values.length;
}
