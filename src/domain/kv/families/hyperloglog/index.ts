/** The HyperLogLog family: estimates the number of distinct elements in 12 KB. */
import type { ByteString } from '../../../../kernel/index.js';
import { at, several, span } from '../../command-description.js';
import type { CommandContext, CommandSpec, SlicedHandler } from '../../command-spec.js';
import { ErrorReply, OK, type Reply } from '../../reply.js';
import { inSlices } from '../../slices.js';
import { estimate, HyperLogLog } from '../../types/hyperloglog.js';
import { REGISTERS } from '../../types/hyperloglog-sparse.js';
import { isLongToHash, murmur64, murmur64InSlices } from '../../types/murmur64.js';
import { recordExpiry, replaceString } from '../expire-time.js';
import { family, GROWS, INSERTS_FAST, READS, row } from '../rows.js';

/** Elements added in one slice: about a millisecond. */
const SLICE_ELEMENTS = 500;
const LONG_WORDS = 5000;
/** Keys merged in one slice, 30 µs each. */
const SLICE_KEYS = 20;

const notOne = new ErrorReply('WRONGTYPE Key is not a valid HyperLogLog string value.');
const corrupt = new ErrorReply('INVALIDOBJ Corrupted HLL object detected');

function read(text: ByteString): HyperLogLog {
  const found = HyperLogLog.read(text);
  if (found === undefined) throw notOne;
  return found;
}

/** In replay a sparse value stays sparse: when a value outgrew the limit, its complete text was recorded. */
function maxSparseBytes({ isReplay, settings }: CommandContext): number {
  return isReplay ? Number.POSITIVE_INFINITY : settings.number('hll-sparse-max-bytes');
}

/** PFADD key [element …] → 1 if it changed, 0 otherwise. WRONGTYPE, corrupt. */
const add: SlicedHandler = function* (context): Generator<void, Reply> {
  const { args, keyspace, effects } = context;
  const key = args.bytes(1);
  const elements = args.from(2);
  const old = keyspace.fetchString(key);
  const counter = old === undefined ? HyperLogLog.empty() : read(old);
  const limit = maxSparseBytes(context);
  const raising: ByteString[] = [];
  for (let i = 0; i < elements.length; i += 1) {
    const element = elements[i] as ByteString;
    const hash = isLongToHash(element) ? yield* murmur64InSlices(element) : murmur64(element);
    const hasRaised = counter.add(hash, limit);
    if (hasRaised === undefined) throw corrupt;
    if (hasRaised) raising.push(element);
    if (i % SLICE_ELEMENTS === SLICE_ELEMENTS - 1) yield;
  }
  if (old !== undefined && raising.length === 0) return 0;
  counter.invalidate();
  if (counter.hasOutgrown) {
    replaceString(context, key, counter.text, 'pfadd');
  } else {
    keyspace.replace(key, counter.text);
    effects.pushList('PFADD', [key, ...raising]);
    recordExpiry(context, key);
    context.notify('$', 'pfadd', key);
  }
  return 1;
};

/** PFCOUNT key … → the approximate number of distinct elements added to any of them. WRONGTYPE, corrupt. */
const count: SlicedHandler = function* ({ args, keyspace }): Generator<void, Reply> {
  const registers = new Uint8Array(REGISTERS);
  for (let i = 1; i < args.length; i += 1) {
    const text = keyspace.peekString(args.bytes(i));
    if (text === undefined) continue;
    const counter = read(text);
    if (args.length === 2 && counter.cached !== undefined) return counter.cached;
    if (!counter.mergeInto(registers)) throw corrupt;
    if (i % SLICE_KEYS === 0) yield;
  }
  return estimate(registers);
};

/** PFMERGE destination [source …] → OK. WRONGTYPE, corrupt. */
const merge: SlicedHandler = function* (context): Generator<void, Reply> {
  const { args, keyspace } = context;
  const target = args.bytes(1);
  const registers = new Uint8Array(REGISTERS);
  let isDense = false;
  for (let i = 1; i < args.length; i += 1) {
    const text = keyspace.peekString(args.bytes(i));
    if (text === undefined) continue;
    const counter = read(text);
    isDense ||= counter.isDense;
    if (!counter.mergeInto(registers)) throw corrupt;
    if (i % SLICE_KEYS === 0) yield;
  }
  const old = keyspace.fetchString(target);
  const merged = old === undefined ? HyperLogLog.empty() : read(old);
  if (isDense) merged.makeDense();
  const limit = maxSparseBytes(context);
  for (let index = 0; index < REGISTERS; index += 1) {
    const value = registers[index] as number;
    if (value > 0) merged.raise(index, value, limit);
  }
  merged.invalidate();
  const text = merged.text;
  if (text !== old) replaceString(context, target, text, 'pfadd');
  else context.notify('$', 'pfadd', target);
  return OK;
};

const isLong = ({ args }: CommandContext): boolean => args.length > LONG_WORDS || hasLongWord(args);
function hasLongWord(args: CommandContext['args']): boolean {
  for (let i = 2; i < args.length; i += 1) if (isLongToHash(args.bytes(i))) return true;
  return false;
}

const isLongMerge = ({ args }: CommandContext): boolean => args.length > SLICE_KEYS;

export const HYPERLOGLOG: readonly CommandSpec[] = family('hyperloglog', [
  row('PFADD', -2, '2.8.9', 'Adds elements to a HyperLogLog, which is created if missing.', {
    ...INSERTS_FAST,
    ...inSlices(add, isLong),
  }),
  row('PFCOUNT', -2, '2.8.9', 'Estimates how many different elements were added to HyperLogLogs.', {
    ...READS,
    keyUse: ['RW access'],
    keys: span(1, -1),
    ...inSlices(count, isLongMerge),
    countsAsWrite: true,
    deviations: ['The estimate is not cached in the value: reading does not change the value.'],
  }),
  row('PFMERGE', -2, '2.8.9', 'Adds all that was added to some HyperLogLogs to another.', {
    ...GROWS,
    keyUse: ['RW access insert', 'RO access'],
    keys: several(at(1, 'both'), span(2, -1, 1, 'read')),
    ...inSlices(merge, isLongMerge),
  }),
]);
