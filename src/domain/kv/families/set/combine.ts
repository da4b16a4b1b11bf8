/** Several sets as one: intersection, union and difference, answered, counted or stored. */
import type { ByteString } from '../../../../kernel/index.js';
import type { CommandContext, SlicedHandler } from '../../command-spec.js';
import { requireRecordSize } from '../../limits.js';
import { parseInt64 } from '../../numbers.js';
import { ERRORS, ErrorReply, type Reply, SetReply } from '../../reply.js';
import { commandsOf } from '../../types/command-chunks.js';
import { asEntries, SetValue } from '../../types/set-value.js';
import { removeKey } from '../expire-time.js';
import { SLICE_STEPS } from '../random-draws.js';
import { encodingLimits } from './write.js';

export type Combination = 'intersection' | 'union' | 'difference';

const badKeyCount = new ErrorReply('ERR numkeys should be greater than 0');
const tooManyKeys = new ErrorReply("ERR Number of keys can't be greater than number of args");
const badLimit = new ErrorReply("ERR LIMIT can't be negative");

const EVENTS: Readonly<Record<Combination, string>> = {
  intersection: 'sinterstore',
  union: 'sunionstore',
  difference: 'sdiffstore',
};

/** SINTER, SUNION, SDIFF key [key …] → members, in no order. WRONGTYPE if any is no set. */
export function combine(combination: Combination): SlicedHandler {
  return function* (context): Generator<void, Reply> {
    const sets = setsAt(context, 1, context.args.length);
    const found: ByteString[] = [];
    let steps = 0;
    for (const member of membersOf(combination, sets)) {
      if (member !== undefined) found.push(member);
      steps += 1;
      if (steps % SLICE_STEPS === 0) yield;
    }
    return new SetReply(found);
  };
}

/** SINTERSTORE, SUNIONSTORE, SDIFFSTORE destination key [key …] → how many members were stored. */
export function combineAndStore(combination: Combination): SlicedHandler {
  return function* (context): Generator<void, Reply> {
    const { args, keyspace, effects } = context;
    const destination = args.bytes(1);
    const sets = setsAt(context, 2, args.length);
    const limits = encodingLimits(context);
    const result = new SetValue();
    let steps = 0;
    for (const member of membersOf(combination, sets)) {
      if (member !== undefined && result.add(member)) {
        requireRecordSize(context, result.contentBytes);
        if (result.size === 1) result.expectMembers(member, 1, limits);
        result.adaptEncoding(member, limits);
      }
      steps += 1;
      if (steps % SLICE_STEPS === 0) yield;
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

/** SINTERCARD n key … [LIMIT m] → how many members all have, at most m unless that is 0. */
export const countIntersection: SlicedHandler = function* (context): Generator<void, Reply> {
  const { args } = context;
  const keys = parseInt64(args.bytes(1));
  if (typeof keys !== 'number' || keys < 1) throw badKeyCount;
  if (keys > args.length - 2) throw tooManyKeys;
  let limit = 0;
  for (let i = 2 + keys; i < args.length; i += 1) {
    if (args.option(i) !== 'LIMIT' || i + 1 >= args.length) throw ERRORS.syntax;
    i += 1;
    const value = parseInt64(args.bytes(i));
    if (value === undefined || value < 0) throw badLimit;
    limit = Number(value);
  }
  let count = 0;
  let steps = 0;
  for (const member of membersOf('intersection', setsAt(context, 2, 2 + keys))) {
    if (member !== undefined) count += 1;
    if (limit > 0 && count >= limit) break;
    steps += 1;
    if (steps % SLICE_STEPS === 0) yield;
  }
  return count;
};

/** All of them are looked at, so that one of the wrong type is told of wherever it stands. */
function setsAt({ args, keyspace }: CommandContext, from: number, to: number): (SetValue | undefined)[] {
  const sets: (SetValue | undefined)[] = [];
  for (let i = from; i < to; i += 1) sets.push(keyspace.peekKind(args.bytes(i), SetValue));
  return sets;
}

/** The members; `undefined` for a step that found none, so that callers can pause. Each once. */
function* membersOf(
  combination: Combination,
  sets: readonly (SetValue | undefined)[],
): Iterable<ByteString | undefined> {
  if (combination === 'union') {
    const met = new SetValue();
    for (const set of sets) for (const member of set?.members() ?? []) yield met.add(member) ? member : undefined;
    return;
  }
  const others = sets.filter((set) => set !== undefined);
  if (combination === 'difference') {
    const first = sets[0];
    const rest = sets[0] === undefined ? [] : others.slice(1);
    for (const member of first?.members() ?? []) yield rest.some((set) => set.has(member)) ? undefined : member;
    return;
  }
  if (others.length < sets.length) return;
  others.sort((a, b) => a.size - b.size);
  const [smallest, ...larger] = others;
  for (const member of smallest?.members() ?? []) yield larger.every((set) => set.has(member)) ? member : undefined;
}
