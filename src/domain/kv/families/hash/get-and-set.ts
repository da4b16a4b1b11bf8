/** Reading or setting fields together with their expiry: HGETDEL, HGETEX, HSETEX. */
import type { ByteString } from '../../../../kernel/index.js';
import type { CommandContext, SlicedHandler } from '../../command-spec.js';
import { ErrorReply, type Reply } from '../../reply.js';
import { mapped, SlicePace } from '../../slices.js';
import type { HashValue } from '../../types/hash-value.js';
import { recordExpiry } from '../expire-time.js';
import { type FreeGrammar, readFixedFields, readFreeArguments } from './field-arguments.js';
import { noteExpiry, notePersisted } from './field-expiry.js';
import {
  adaptEncoding,
  hashOrNew,
  hashToChange,
  noteDeleted,
  putField,
  recordFieldExpiry,
  requireHashSize,
} from './open-hash.js';

const badCount = new ErrorReply('ERR invalid number of fields');
const tooFewWords = new ErrorReply('ERR wrong number of arguments');
const oneCondition = new ErrorReply('ERR Only one of FXX or FNX arguments can be specified');

const sharedWords: FreeGrammar['words'] = new Map([
  ['PERSIST', 'expiry'],
  ['KEEPTTL', 'expiry'],
  ['FNX', 'condition'],
  ['FXX', 'condition'],
]);

const getexGrammar: FreeGrammar = {
  name: 'hgetex',
  words: sharedWords,
  foreign: new Set(['KEEPTTL', 'FNX', 'FXX']),
  takesTimes: true,
  wordsAnEntry: 1,
  onSecondExpiry: new ErrorReply('ERR Only one of EX, PX, EXAT, PXAT or PERSIST arguments can be specified'),
  onSecondCondition: oneCondition,
  checksConditionsLast: false,
  onBadCount: badCount,
  onShortFields: tooFewWords,
};

const setexGrammar: FreeGrammar = {
  name: 'hsetex',
  words: sharedWords,
  foreign: new Set(['PERSIST']),
  takesTimes: true,
  wordsAnEntry: 2,
  onSecondExpiry: new ErrorReply('ERR Only one of EX, PX, EXAT, PXAT or KEEPTTL arguments can be specified'),
  onSecondCondition: oneCondition,
  checksConditionsLast: false,
  onBadCount: badCount,
  onShortFields: tooFewWords,
};

/** HGETDEL key FIELDS n field … → a value or null for each; the fields are deleted. */
export const getAndDeleteFields: SlicedHandler = function* (context): Generator<void, Reply> {
  const key = context.args.bytes(1);
  const hash = hashToChange(context, key);
  const fields = readFixedFields(context, 2);
  if (hash === undefined) return yield* mapped(fields, () => null);
  const before = hash.bytes;
  const removed: ByteString[] = [];
  const values = yield* mapped(fields, (field) => {
    const value = hash.get(field, context.nowMs);
    if (value === undefined) return null;
    hash.delete(field);
    removed.push(field);
    return value;
  });
  if (removed.length > 0) {
    yield* context.effects.pushLong('HDEL', [key].concat(removed));
    noteDeleted(context, key, hash, before);
  }
  return values;
};

/** HGETEX key [EX s | PX ms | EXAT s | PXAT ms | PERSIST] FIELDS n field … → a value or null for each. */
export const getAndExpireFields: SlicedHandler = function* (context): Generator<void, Reply> {
  const { args, nowMs } = context;
  const key = args.bytes(1);
  const hash = hashToChange(context, key);
  const { expiryWord, readExpiry, first, words } = readFreeArguments(context, 2, getexGrammar);
  const fields = args.words.slice(first, first + words);
  if (hash === undefined) return yield* mapped(fields, () => null);
  const expireAtMs = readExpiry?.();
  const before = hash.bytes;
  const hasPassed = expireAtMs !== undefined && expireAtMs <= nowMs;
  if (expireAtMs !== undefined) hash.adaptEncodingForExpiries();
  const changed: ByteString[] = [];
  const values = yield* mapped(fields, (field) => {
    const value = hash.get(field, nowMs);
    if (value === undefined) return null;
    if (expireAtMs === undefined) {
      if (expiryWord === 'PERSIST' && hash.persist(field)) changed.push(field);
    } else {
      if (hasPassed) hash.delete(field);
      else hash.expireAt(field, expireAtMs);
      changed.push(field);
    }
    return value;
  });
  if (expireAtMs === undefined) yield* notePersisted(context, key, hash, before, changed);
  else yield* noteExpiry(context, hash, before, changed, hasPassed ? undefined : expireAtMs);
  return values;
};

/**
 * HSETEX key [FNX | FXX] [EX s | PX ms | EXAT s | PXAT ms | KEEPTTL] FIELDS n field value … → 1, or 0 when
 * the condition does not hold for all of the fields.
 */
export const setAndExpireFields: SlicedHandler = function* (context): Generator<void, Reply> {
  const { args, nowMs } = context;
  const key = args.bytes(1);
  const { condition, expiryWord, readExpiry, first, words } = readFreeArguments(context, 2, setexGrammar);
  const expireAtMs = readExpiry?.();
  const pace = new SlicePace();
  const present = hashToChange(context, key);
  if (condition !== undefined) {
    for (let i = first; i < first + words; i += 2) {
      if ((present?.has(args.bytes(i), nowMs) ?? false) !== (condition === 'FXX')) return 0;
      if (pace.isDue()) yield;
    }
  }
  requireHashSize(context, present, first, first + words);
  const hash = hashOrNew(context, key, present);
  const entries = args.words.slice(first, first + words);
  if (expireAtMs !== undefined) hash.adaptEncodingForExpiries();
  if (expireAtMs !== undefined && expireAtMs <= nowMs) yield* setAndDelete(context, hash, entries);
  else yield* setAndKeep(context, hash, entries, expiryWord === 'KEEPTTL', expireAtMs);
  return 1;
};

function* setAndKeep(
  context: CommandContext,
  hash: HashValue,
  entries: readonly ByteString[],
  keepsExpiries: boolean,
  expireAtMs: number | undefined,
): Generator<void, void> {
  const { args, effects } = context;
  const key = args.bytes(1);
  const pace = new SlicePace();
  const before = hash.bytes;
  const fields: ByteString[] = [];
  adaptEncoding(context, hash, entries.length / 2, 0);
  for (let i = 0; i < entries.length; i += 2) {
    const field = entries[i] as ByteString;
    putField(context, hash, field, entries[i + 1] as ByteString);
    fields.push(field);
    if (expireAtMs !== undefined) hash.expireAt(field, expireAtMs);
    else if (!keepsExpiries) hash.persist(field);
    if (pace.isDue()) yield;
  }
  context.keyspace.changed(key, hash, before);
  yield* effects.pushLong('HSET', [key].concat(entries));
  context.notify('h', 'hset', key);
  if (expireAtMs !== undefined) {
    yield* effects.pushLong('HPEXPIREAT', [key, String(expireAtMs), 'FIELDS', String(fields.length)].concat(fields));
    context.notify('h', 'hexpire', key);
  } else if (keepsExpiries) {
    for (const field of new Set(fields)) {
      recordFieldExpiry(context, key, hash, field);
      if (pace.isDue()) yield;
    }
  }
  recordExpiry(context, key);
}

/** The instant is in the past: the fields are deleted, and as in Redis both events are published. */
function* setAndDelete(
  context: CommandContext,
  hash: HashValue,
  entries: readonly ByteString[],
): Generator<void, void> {
  const key = context.args.bytes(1);
  const pace = new SlicePace();
  const before = hash.bytes;
  const removed: ByteString[] = [];
  for (let i = 0; i < entries.length; i += 2) {
    const field = entries[i] as ByteString;
    if (hash.delete(field)) removed.push(field);
    if (pace.isDue()) yield;
  }
  if (removed.length > 0) yield* context.effects.pushLong('HDEL', [key].concat(removed));
  context.notify('h', 'hset', key);
  noteDeleted(context, key, hash, before);
}
