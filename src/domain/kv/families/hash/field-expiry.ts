/**
 * Expiry of hash fields: HEXPIRE, HPEXPIRE, HEXPIREAT, HPEXPIREAT, HPERSIST, HTTL, HPTTL, HEXPIRETIME, HPEXPIRETIME.
 */
import type { ByteString } from '../../../../kernel/index.js';
import type { CommandContext, SlicedHandler } from '../../command-spec.js';
import { ErrorReply, type Reply } from '../../reply.js';
import { mapped } from '../../slices.js';
import { HashValue } from '../../types/hash-value.js';
import type { ExpiryUnit } from '../expire-time.js';
import { type FreeGrammar, readFieldInstant, readFixedFields, readFreeArguments } from './field-arguments.js';
import { hashToChange, noteDeleted } from './open-hash.js';

/** The result codes for a field. */
const NO_FIELD = -2;
const NO_EXPIRY = -1;
const CONDITION_FAILED = 0;
const EXPIRY_SET = 1;
const DELETED = 2;

const severalConditions = new ErrorReply('ERR Multiple condition flags specified');
const grammar: FreeGrammar = {
  name: 'hexpire',
  words: new Map([
    ['NX', 'condition'],
    ['XX', 'condition'],
    ['GT', 'condition'],
    ['LT', 'condition'],
  ]),
  foreign: new Set(),
  takesTimes: false,
  wordsAnEntry: 1,
  onSecondExpiry: severalConditions,
  onSecondCondition: severalConditions,
  checksConditionsLast: true,
  onBadCount: new ErrorReply('ERR Parameter `numFields` should be greater than 0'),
  onShortFields: new ErrorReply('ERR FIELDS requires at least numfields and one field argument'),
};

/**
 * HEXPIRE key seconds [NX | XX | GT | LT] FIELDS n field …, HPEXPIRE, HEXPIREAT, HPEXPIREAT → a code for each field: 1
 * set, 0 condition not met, 2 deleted because the instant is in the past, −2 no such field.
 */
export function expireFields(name: string, unit: ExpiryUnit): SlicedHandler {
  return function* (context): Generator<void, Reply> {
    const { args } = context;
    const key = args.bytes(1);
    const hash = hashToChange(context, key);
    // Redis validates the time first, even if the key is missing.
    if (context.endpoint === 'resp') readFieldInstant(context, 2, unit, name);
    const { condition, first, words } = readFreeArguments(context, 3, grammar);
    const fields = args.words.slice(first, first + words);
    if (hash === undefined) return yield* mapped(fields, () => NO_FIELD);
    const expireAtMs = readFieldInstant(context, 2, unit, name);
    hash.adaptEncodingForExpiries();
    return yield* applyExpiry(context, hash, fields, expireAtMs, condition);
  };
}

function* applyExpiry(
  context: CommandContext,
  hash: HashValue,
  fields: readonly ByteString[],
  expireAtMs: number,
  condition: string | undefined,
): Generator<void, Reply> {
  const { nowMs } = context;
  const before = hash.bytes;
  const changed: ByteString[] = [];
  const hasPassed = expireAtMs <= nowMs;
  const codes = yield* mapped(fields, (field) => {
    if (!hash.has(field, nowMs)) return NO_FIELD;
    if (!allows(condition, hash.expiryOf(field), expireAtMs)) return CONDITION_FAILED;
    changed.push(field);
    if (hasPassed) hash.delete(field);
    else hash.expireAt(field, expireAtMs);
    return hasPassed ? DELETED : EXPIRY_SET;
  });
  yield* noteExpiry(context, hash, before, changed, hasPassed ? undefined : expireAtMs);
  return codes;
}

/**
 * Records and announces that fields of the command's hash got an expiry, or were deleted because it is in the past
 * (undefined).
 */
export function* noteExpiry(
  context: CommandContext,
  hash: HashValue,
  bytesBefore: number,
  fields: readonly ByteString[],
  expireAtMs: number | undefined,
): Generator<void, void> {
  if (fields.length === 0) return;
  const key = context.args.bytes(1);
  if (expireAtMs === undefined) {
    yield* context.effects.pushLong('HDEL', [key].concat(fields));
    noteDeleted(context, key, hash, bytesBefore);
  } else {
    context.keyspace.changed(key, hash, bytesBefore);
    const words = [key, String(expireAtMs), 'FIELDS', String(fields.length)];
    yield* context.effects.pushLong('HPEXPIREAT', words.concat(fields));
    context.notify('h', 'hexpire', key);
  }
}

/** A field without an expiry counts as expiring after every instant. */
function allows(condition: string | undefined, present: number | undefined, wantedMs: number): boolean {
  switch (condition) {
    case 'NX':
      return present === undefined;
    case 'XX':
      return present !== undefined;
    case 'GT':
      return present !== undefined && wantedMs > present;
    case 'LT':
      return present === undefined || wantedMs < present;
    default:
      return true;
  }
}

/** HPERSIST key FIELDS n field … → 1 removed, −1 no expiry, −2 no such field, for each. */
export const persistFields: SlicedHandler = function* (context): Generator<void, Reply> {
  const key = context.args.bytes(1);
  const hash = hashToChange(context, key);
  const fields = readFixedFields(context, 2);
  if (hash === undefined) return yield* mapped(fields, () => NO_FIELD);
  const before = hash.bytes;
  const persisted: ByteString[] = [];
  const codes = yield* mapped(fields, (field) => {
    if (!hash.has(field, context.nowMs)) return NO_FIELD;
    if (!hash.persist(field)) return NO_EXPIRY;
    persisted.push(field);
    return EXPIRY_SET;
  });
  yield* notePersisted(context, key, hash, before, persisted);
  return codes;
};

/** Records and announces that fields lost their expiry. */
export function* notePersisted(
  context: CommandContext,
  key: ByteString,
  hash: HashValue,
  bytesBefore: number,
  fields: readonly ByteString[],
): Generator<void, void> {
  if (fields.length === 0) return;
  context.keyspace.changed(key, hash, bytesBefore);
  yield* context.effects.pushLong('HPERSIST', [key, 'FIELDS', String(fields.length)].concat(fields));
  context.notify('h', 'hpersist', key);
}

/** HTTL, HPTTL (`isAbsolute` false), HEXPIRETIME, HPEXPIRETIME → time left or instant, −1 or −2, for each field. */
export function fieldTimes(unit: ExpiryUnit): SlicedHandler {
  return (context) => {
    const hash = context.keyspace.peekKind(context.args.bytes(1), HashValue);
    const fields = readFixedFields(context, 2);
    return mapped(fields, (field) => {
      if (hash === undefined || !hash.has(field, context.nowMs)) return NO_FIELD;
      const atMs = hash.expiryOf(field);
      if (atMs === undefined) return NO_EXPIRY;
      return Math.ceil((unit.isAbsolute ? atMs : atMs - context.nowMs) / unit.unitMs);
    });
  };
}
