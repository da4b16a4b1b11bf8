/** DUMP and RESTORE: a value in Redis's exchange format. */
import { type ByteString, SKETCHES_FORMAT_LEVEL } from '../../../../kernel/index.js';
import type { CommandContext, SlicedHandler } from '../../command-spec.js';
import { requireFormat } from '../../command-table.js';
import { MAX_RECORD_BYTES } from '../../limits.js';
import { rebuildingInSlices } from '../../rebuild.js';
import { ERRORS, ErrorReply, OK, type Reply } from '../../reply.js';
import { SlicePace } from '../../slices.js';
import { workOf } from '../../steps.js';
import { JsonDocument } from '../../types/json/index.js';
import { decodeDump, intactBody } from '../../types/rdb/decode-dump.js';
import { encodeDump, encodeLongString } from '../../types/rdb/encode-dump.js';
import { BadFormat } from '../../types/rdb/rdb-reader.js';
import { Sketch } from '../../types/sketch/sketch.js';
import type { Value } from '../../value.js';
import { readInstant, removeKey } from '../expire-time.js';

const badTtl = new ErrorReply('ERR Invalid TTL value, must be >= 0');
const badIdleTime = new ErrorReply('ERR Invalid IDLETIME value, must be >= 0');
const badFrequency = new ErrorReply('ERR Invalid FREQ value, must be >= 0 and <= 255');
const busyKey = new ErrorReply('BUSYKEY Target key name already exists.');
const badFooter = new ErrorReply('ERR DUMP payload version or checksum are wrong');
const badFormat = new ErrorReply('ERR Bad data format');
const MAX_FREQUENCY = 255;
/** Above this size a value is processed in slices: about 2 ms of work. */
const LONG_BYTES = 256 * 1024;
/** As above, for a payload, which may contain a member every one or two bytes. */
const LONG_PAYLOAD_BYTES = 32 * 1024;

/** DUMP key → payload or null. */
export const dump: SlicedHandler = function* (context) {
  const key = context.args.bytes(1);
  const value = context.keyspace.peek(key);
  if (value === undefined) return null;
  if (typeof value === 'string') return yield* encodeLongString(value);
  return yield* encodeDump(value, value.kind === 'json' ? yield* documentOf(context, key) : '');
};

export function isLongDump({ args, keyspace }: CommandContext): boolean {
  const value = keyspace.peek(args.bytes(1));
  return value !== undefined && (typeof value === 'string' ? value.length : value.bytes) > LONG_BYTES;
}

function* documentOf(context: CommandContext, key: ByteString): Generator<void, ByteString> {
  const words = ['JSON.GET', key];
  const spec = context.commands.find(words);
  const text: Reply = spec === undefined ? null : yield* context.callInSlices(spec, words);
  if (typeof text !== 'string') throw badFormat;
  // Building the text took a while, and copying it will too.
  yield;
  return text;
}

/**
 * RESTORE key ttl payload [REPLACE] [ABSTTL] [IDLETIME s] [FREQ n] → OK. Errors: BUSYKEY, wrong footer, bad format. A
 * TTL of 0 means no expiry. Idle time and frequency are kept if the eviction policy uses them. Journaled as the
 * commands that rebuild the value, so that any server can replay them.
 */
export const restore: SlicedHandler = function* (context) {
  const { args, keyspace, effects } = context;
  const { replaces, isAbsolute, idleSeconds, frequency } = readOptions(context);
  const key = args.bytes(1);
  if (!replaces && keyspace.fetch(key) !== undefined) throw busyKey;
  const ttl = args.int64(2);
  if (ttl < 0n) throw badTtl;
  const expireAtMs = ttl === 0n ? undefined : readInstant(context, 2, { unitMs: 1, isAbsolute }, 'restore');
  const body = yield* intactBody(args.bytes(3));
  if (body === undefined) throw badFooter;
  const value = yield* valueIn(context, key, body);
  if (value instanceof Sketch) requireFormat(context, `a value of type ${value.kind}`, SKETCHES_FORMAT_LEVEL);
  if (expireAtMs !== undefined && expireAtMs <= context.nowMs) {
    removeKey(context, key);
    return OK;
  }
  if (typeof value !== 'string' && keyspace.delete(key)) effects.push('DEL', key);
  keyspace.set(key, value, expireAtMs);
  keyspace.access?.restore(key, context.nowMs, idleSeconds, frequency);
  const pace = new SlicePace();
  for (const words of yield* rebuildingInSlices(key, value, expireAtMs)) {
    effects.pushList(words[0] as ByteString, words.slice(1));
    if (pace.isDue(workOf(words))) yield;
  }
  context.notify('g', 'restore', key);
  return OK;
};

export function isLongRestore({ args }: CommandContext): boolean {
  return args.bytes(3).length > LONG_PAYLOAD_BYTES;
}

interface RestoreOptions {
  replaces: boolean;
  isAbsolute: boolean;
  idleSeconds: number | undefined;
  frequency: number | undefined;
}

function readOptions({ args }: CommandContext): RestoreOptions {
  const options: RestoreOptions = { replaces: false, isAbsolute: false, idleSeconds: undefined, frequency: undefined };
  for (let i = 4; i < args.length; i += 1) {
    const option = args.option(i);
    const hasNext = i + 1 < args.length;
    if (option === 'REPLACE') options.replaces = true;
    else if (option === 'ABSTTL') options.isAbsolute = true;
    else if (option === 'IDLETIME' && hasNext && options.frequency === undefined) {
      i += 1;
      options.idleSeconds = args.offset(i);
      if (options.idleSeconds < 0) throw badIdleTime;
    } else if (option === 'FREQ' && hasNext && options.idleSeconds === undefined) {
      i += 1;
      options.frequency = args.offset(i);
      if (options.frequency < 0 || options.frequency > MAX_FREQUENCY) throw badFrequency;
    } else throw ERRORS.syntax;
  }
  return options;
}

/** Builds the payload's value in a separate keyspace, so that a damaged payload changes no data. */
function* valueIn(context: CommandContext, key: ByteString, body: Buffer): Generator<void, Value> {
  const aside = context.aside();
  const pace = new SlicePace();
  try {
    for (const words of decodeDump(body, key, MAX_RECORD_BYTES)) {
      const name = words[0] as ByteString;
      requireFormat(context, `a value of ${name}`, context.commands.rowOf(name)?.formatLevel);
      // Reading the words may have taken long already.
      if (pace.isDue(workOf(words))) yield;
      yield* aside.replayInSlices(words);
      // A short payload may expand to much data: compressed strings, field names shared by all entries.
      if (aside.keyspace.bytes > MAX_RECORD_BYTES) throw ERRORS.recordTooLarge;
    }
  } catch (error) {
    // An intact payload may still contain a value that no command can create.
    if (error instanceof BadFormat || (error instanceof Error && error.message.startsWith('an effect')))
      throw badFormat;
    throw error;
  }
  const value = aside.keyspace.peek(key);
  if (value === undefined) throw badFormat;
  return value;
}

export function* copyInSlices(context: CommandContext, key: ByteString, value: Value): Generator<void, Value> {
  if (typeof value === 'string') return value;
  if (value.bytes <= LONG_BYTES) return value.clone();
  if (value instanceof JsonDocument) return yield* value.copy();
  const aside = context.aside();
  const pace = new SlicePace();
  for (const words of yield* rebuildingInSlices(key, value, undefined)) {
    aside.replay(words);
    if (pace.isDue(workOf(words))) yield;
  }
  return aside.keyspace.peek(key) as Value;
}
