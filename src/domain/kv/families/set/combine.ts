/** Intersection, union and difference of sets: returned, counted or stored. */
import type { ByteString } from '../../../../kernel/index.js';
import { AnswerSize } from '../../answer-size.js';
import type { CommandContext, SlicedHandler } from '../../command-spec.js';
import { requireRecordSize } from '../../limits.js';
import { parseInt64 } from '../../numbers.js';
import { ERRORS, ErrorReply, type Reply, SetReply } from '../../reply.js';
import { mapped, SlicePace } from '../../slices.js';
import { commandsOf } from '../../types/command-chunks.js';
import { asEntries, SetValue } from '../../types/set-value.js';
import { removeKey } from '../expire-time.js';
import { encodingLimits } from './write.js';

export type Combination = 'intersection' | 'union' | 'difference';

/** Yielded among the members when a pause is due. */
const PAUSE = Symbol('pause');

type Sources = readonly (SetValue | undefined)[];

const tooManyKeys = new ErrorReply("ERR Number of keys can't be greater than number of args");

const EVENTS: Readonly<Record<Combination, string>> = {
  intersection: 'sinterstore',
  union: 'sunionstore',
  difference: 'sdiffstore',
};

/** SINTER, SUNION, SDIFF key [key …] → members, in no order. WRONGTYPE if a value is not a set. */
export function combine(combination: Combination): SlicedHandler {
  return function* (context): Generator<void, Reply> {
    const sets = yield* setsAt(context, 1, context.args.length);
    const found: ByteString[] = [];
    const size = new AnswerSize(context);
    for (const member of membersOf(combination, sets)) {
      if (member === PAUSE) {
        yield;
        continue;
      }
      size.add(member.length);
      found.push(member);
    }
    return new SetReply(found);
  };
}

/** SINTERSTORE, SUNIONSTORE, SDIFFSTORE destination key [key …] → the number of stored members. */
export function combineAndStore(combination: Combination): SlicedHandler {
  return function* (context): Generator<void, Reply> {
    const { args, keyspace, effects } = context;
    const destination = args.bytes(1);
    const sets = yield* setsAt(context, 2, args.length);
    const limits = encodingLimits(context);
    const result = new SetValue();
    for (const member of membersOf(combination, sets)) {
      if (member === PAUSE) yield;
      else if (result.add(member)) {
        requireRecordSize(context, result.contentBytes);
        if (result.size === 1) result.expectMembers(member, 1, limits);
        result.adaptEncoding(member, limits);
      }
    }
    if (result.size === 0) {
      if (keyspace.fetch(destination) !== undefined) removeKey(context, destination);
      return 0;
    }
    if (keyspace.fetch(destination) !== undefined) effects.push('DEL', destination);
    keyspace.set(destination, result);
    for (const words of commandsOf([destination], asEntries(result.members()))) {
      effects.pushList('SADD', words);
      yield;
    }
    context.notify('s', EVENTS[combination], destination);
    return result.size;
  };
}

/** SINTERCARD, SUNIONCARD, SDIFFCARD n key … [APPROX] [LIMIT m] → the number of members, at most m unless it is 0. */
export function countMembers(combination: Combination): SlicedHandler {
  return function* (context): Generator<void, Reply> {
    const { args } = context;
    const keys = parseInt64(args.bytes(1));
    if (typeof keys !== 'number' || keys < 1) throw ERRORS.noKeysCounted;
    if (keys > args.length - 2) throw tooManyKeys;
    let limit = 0;
    for (let i = 2 + keys; i < args.length; i += 1) {
      const option = args.option(i);
      // An exact count is as close as an estimate may be.
      if (option === 'APPROX' && combination === 'union') continue;
      if (option !== 'LIMIT' || i + 1 >= args.length) throw ERRORS.syntax;
      i += 1;
      limit = args.count(i, 0, ERRORS.negativeLimit);
    }
    let count = 0;
    for (const member of membersOf(combination, yield* setsAt(context, 2, 2 + keys))) {
      if (member === PAUSE) yield;
      else count += 1;
      if (limit > 0 && count >= limit) break;
    }
    return count;
  };
}

/** All keys are looked up first, so that a wrong type is reported regardless of its position. */
function setsAt({ args, keyspace }: CommandContext, from: number, to: number): Generator<void, Sources> {
  return mapped(args.words.slice(from, to), (key) => keyspace.peekKind(key, SetValue));
}

/** The members, each once, and pauses. Each lookup in a set counts as work, regardless of the number of sets. */
function* membersOf(combination: Combination, sets: Sources): Iterable<ByteString | typeof PAUSE> {
  const pace = new SlicePace();
  if (combination === 'union') {
    const met = new SetValue();
    for (const set of sets) {
      if (pace.isDue()) yield PAUSE;
      for (const member of set?.members() ?? []) {
        if (met.add(member)) yield member;
        if (pace.isDue()) yield PAUSE;
      }
    }
    return;
  }
  const others = sets.filter((set) => set !== undefined);
  const isIntersection = combination === 'intersection';
  if (isIntersection && others.length < sets.length) return;
  if (isIntersection) others.sort((a, b) => a.size - b.size);
  if (sets[0] === undefined) return;
  const [first, ...rest] = others;
  for (const member of first?.members() ?? []) {
    let isWanted = true;
    for (const set of rest) {
      if (pace.isDue()) yield PAUSE;
      isWanted = set.has(member) === isIntersection;
      if (!isWanted) break;
    }
    if (isWanted) yield member;
    if (pace.isDue()) yield PAUSE;
  }
}
