/**
 * Converts an expiry in seconds or milliseconds, relative or absolute, to an instant. Redis allows instants up to 2^63
 * ms; here later ones become 2^53 ms, the last that a number holds exactly (the year 287396).
 */
import type { ByteString } from '../../../kernel/index.js';
import type { CommandContext } from '../command-spec.js';
import { MAX_EXPIRE_AT_MS } from '../limits.js';
import { INT64_MAX, INT64_MIN } from '../numbers.js';
import { invalidExpireTime } from '../reply.js';

export interface ExpiryUnit {
  readonly unitMs: 1 | 1000;
  readonly isAbsolute: boolean;
}

const UNITS: ReadonlyMap<string, ExpiryUnit> = new Map([
  ['EX', { unitMs: 1000, isAbsolute: false }],
  ['PX', { unitMs: 1, isAbsolute: false }],
  ['EXAT', { unitMs: 1000, isAbsolute: true }],
  ['PXAT', { unitMs: 1, isAbsolute: true }],
]);

export function expiryUnit(option: string): ExpiryUnit | undefined {
  return UNITS.get(option);
}

/**
 * The instant given by the word at `index`; it may be in the past. @throws ErrorReply for a word that is not an integer
 * or overflows
 */
export function readInstant(context: CommandContext, index: number, unit: ExpiryUnit, commandName: string): number {
  const { args, nowMs } = context;
  const givenMs = args.int64(index) * BigInt(unit.unitMs);
  const atMs = givenMs + BigInt(unit.isAbsolute ? 0 : nowMs);
  if (givenMs < INT64_MIN || atMs > INT64_MAX) throw invalidExpireTime(commandName);
  const latest = BigInt(MAX_EXPIRE_AT_MS);
  if (atMs > latest) return MAX_EXPIRE_AT_MS;
  return Number(atMs < -latest ? -latest : atMs);
}

/** As `readInstant`, but zero and negative values are errors. */
export function readPositiveInstant(
  context: CommandContext,
  index: number,
  unit: ExpiryUnit,
  commandName: string,
): number {
  const instant = readInstant(context, index, unit, commandName);
  if (context.args.bytes(index).startsWith('-') || context.args.bytes(index) === '0')
    throw invalidExpireTime(commandName);
  return instant;
}

/** Stores a string and records the effect. As in Redis, an instant in the past deletes the key. */
export function storeString(
  context: CommandContext,
  key: ByteString,
  value: ByteString,
  expireAtMs?: number,
  event = 'set',
): void {
  const { keyspace, effects, nowMs } = context;
  if (expireAtMs === undefined) {
    keyspace.set(key, value);
    effects.pushSet(key, value);
    context.notify('$', event, key);
  } else if (expireAtMs <= nowMs) {
    removeKey(context, key);
  } else {
    keyspace.set(key, value, expireAtMs);
    effects.push('SET', key, value, 'PXAT', String(expireAtMs));
    context.notify('$', event, key);
    if (event === 'set') context.notify('g', 'expire', key);
  }
}

/** Changes a string and keeps its expiry. */
export function replaceString(context: CommandContext, key: ByteString, value: ByteString, event: string): void {
  storeString(context, key, value, context.keyspace.expiryOf(key), event);
}

/** Deletes a key, expired or not, and records the effect. */
export function removeKey({ keyspace, effects, notify }: CommandContext, key: ByteString): void {
  if (!keyspace.delete(key)) return;
  effects.push('DEL', key);
  notify('g', 'del', key);
}

/**
 * Records a changed key's expiry again after the effect. If the journal is later imported into another server where the
 * key has already expired, the effect would otherwise recreate it without an expiry.
 */
export function recordExpiry({ keyspace, effects }: CommandContext, key: ByteString): void {
  const expireAtMs = keyspace.expiryOf(key);
  if (expireAtMs !== undefined) effects.push('PEXPIREAT', key, String(expireAtMs));
}
