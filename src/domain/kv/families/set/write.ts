/** Changing sets: SADD, SREM, SPOP, SMOVE. */
import type { ByteString } from '../../../../kernel/index.js';
import type { CommandContext, Handler, SlicedHandler } from '../../command-spec.js';
import { requireRecordSize } from '../../limits.js';
import { ERRORS, type Reply, SetReply } from '../../reply.js';
import { filtered, MANY_WORDS } from '../../slices.js';
import { textBytes } from '../../steps.js';
import { commandsOf } from '../../types/command-chunks.js';
import { asEntries, type SetEncodingLimits, SetValue } from '../../types/set-value.js';
import { recordExpiry, removeKey } from '../expire-time.js';
import { drawDistinct, listed, SLICE_STEPS } from '../random-draws.js';
import { drawsOf } from './read.js';

export function encodingLimits({ settings }: CommandContext): SetEncodingLimits {
  return {
    maxIntegers: settings.number('set-max-intset-entries'),
    maxEntries: settings.number('set-max-listpack-entries'),
    maxValueBytes: settings.number('set-max-listpack-value'),
  };
}

/** SADD key member [member …] → how many are new. WRONGTYPE. */
export const addMembers: SlicedHandler = function* (context) {
  const { args, keyspace } = context;
  const key = args.bytes(1);
  const { words } = args;
  const present = keyspace.fetchKind(key, SetValue);
  let bytes = present?.contentBytes ?? 0;
  // Creating a generator costs as much as adding a few members.
  if (words.length > MANY_WORDS) bytes += yield* textBytes(words, 2);
  else for (let i = 2; i < words.length; i += 1) bytes += (words[i] as ByteString).length;
  requireRecordSize(context, bytes);
  const limits = encodingLimits(context);
  const set = setOrNew(context, key, present);
  const before = set.bytes;
  set.expectMembers(words[2] as ByteString, words.length - 2, limits);
  // The words of the effect.
  const added: ByteString[] = [key];
  for (let i = 2; i < words.length; i += 1) {
    const member = words[i] as ByteString;
    if (set.add(member)) {
      set.adaptEncoding(member, limits);
      added.push(member);
    }
    if (i % SLICE_STEPS === SLICE_STEPS - 1) yield;
  }
  if (added.length === 1) return 0;
  keyspace.changed(key, set, before);
  yield* context.effects.pushLong('SADD', added);
  recordExpiry(context, key);
  context.notify('s', 'sadd', key);
  return added.length - 1;
};

/** SREM key member [member …] → how many were removed. WRONGTYPE. */
export const removeMembers: SlicedHandler = function* (context) {
  const { args, keyspace } = context;
  const key = args.bytes(1);
  const set = keyspace.fetchKind(key, SetValue);
  if (set === undefined) return 0;
  const before = set.bytes;
  const removed = yield* filtered(args.words, (member) => set.delete(member), 2);
  if (removed.length > 0) yield* noteRemoved(context, set, before, removed, 'srem');
  return removed.length;
};

/** SPOP key [count] → a removed member or null; with a count a list of them. WRONGTYPE. */
export const pop: SlicedHandler = function* (context): Generator<void, Reply> {
  const { args, keyspace } = context;
  if (args.length > 3) throw ERRORS.syntax;
  const key = args.bytes(1);
  const float = (): number => context.random.float();
  const wanted = args.length === 2 ? undefined : args.count(2, 0, ERRORS.notPositive);
  const set = keyspace.fetchKind(key, SetValue);
  if (set === undefined) return wanted === undefined ? null : new SetReply([]);
  if (wanted === 0) return new SetReply([]);
  if (wanted !== undefined && wanted >= set.size) {
    const all = yield* listed({ all: () => set.members() });
    context.notify('s', 'spop', key);
    removeKey(context, key);
    return new SetReply(all);
  }
  const popped =
    wanted === undefined ? [set.draw(float) as ByteString] : yield* drawDistinct(drawsOf(set), wanted, float);
  const before = set.bytes;
  for (let i = 0; i < popped.length; i += 1) {
    set.delete(popped[i] as ByteString);
    if (i % SLICE_STEPS === SLICE_STEPS - 1) yield;
  }
  yield* noteRemoved(context, set, before, popped, 'spop');
  return wanted === undefined ? (popped[0] as ByteString) : new SetReply(popped);
};

/** SMOVE source destination member → 1, or 0 when the source has no such member. WRONGTYPE. */
export const move: Handler = (context) => {
  const { args, keyspace, effects } = context;
  const from = args.bytes(1);
  const to = args.bytes(2);
  const member = args.bytes(3);
  const held = keyspace.fetch(from);
  const aimed = keyspace.fetch(to);
  if (held === undefined) return 0;
  if (!(held instanceof SetValue) || !(aimed === undefined || aimed instanceof SetValue)) throw ERRORS.wrongType;
  if (from === to) return held.has(member) ? 1 : 0;
  if (!held.has(member)) return 0;
  requireRecordSize(context, (aimed?.contentBytes ?? 0) + member.length);
  const before = held.bytes;
  held.delete(member);
  const wasLast = keyspace.changed(from, held, before);
  effects.push('SREM', from, member);
  context.notify('s', 'srem', from);
  if (wasLast) context.notify('g', 'del', from);
  const limits = encodingLimits(context);
  const target = setOrNew(context, to, aimed);
  const targetBefore = target.bytes;
  if (aimed === undefined) target.expectMembers(member, 1, limits);
  if (target.add(member)) {
    target.adaptEncoding(member, limits);
    keyspace.changed(to, target, targetBefore);
    effects.push('SADD', to, member);
    recordExpiry(context, to);
    context.notify('s', 'sadd', to);
  }
  return 1;
};

function setOrNew({ keyspace }: CommandContext, key: ByteString, present: SetValue | undefined): SetValue {
  if (present !== undefined) return present;
  const created = new SetValue();
  keyspace.set(key, created);
  return created;
}

/** Records and announces members removed from the command's set, in several effects and slices if there are many. */
function* noteRemoved(
  context: CommandContext,
  set: SetValue,
  bytesBefore: number,
  removed: readonly ByteString[],
  event: string,
): Generator<void, void> {
  const key = context.args.bytes(1);
  const wasLast = context.keyspace.changed(key, set, bytesBefore);
  for (const words of commandsOf([key], asEntries(removed))) {
    context.effects.pushList('SREM', words);
    yield;
  }
  context.notify('s', event, key);
  if (wasLast) context.notify('g', 'del', key);
}
