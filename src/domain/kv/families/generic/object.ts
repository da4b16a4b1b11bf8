/** Facts about a value other than its contents: OBJECT and MEMORY USAGE. */
import type { ByteString } from '../../../../kernel/index.js';
import type { Handler } from '../../command-spec.js';
import { EMBEDDED_BYTES, KEY_OVERHEAD_BYTES } from '../../keyspace.js';
import { parseInt64 } from '../../numbers.js';
import { ERRORS, ErrorReply, SimpleString } from '../../reply.js';
import { FullTextIndex } from '../../types/full-text-index.js';
import type { Value } from '../../value.js';

const noFrequency = new ErrorReply(
  'ERR An LFU maxmemory policy is not selected, access frequency not tracked. ' +
    'Please note that when switching between policies at runtime LRU and LFU data will take some time to adjust.',
);

const noIdleTime = new ErrorReply(
  'ERR An LFU maxmemory policy is selected, idle time not tracked. ' +
    'Please note that when switching between policies at runtime LRU and LFU data will take some time to adjust.',
);

/** OBJECT ENCODING key → `int`, `embstr` or `raw` for a string, null if missing. */
export const encoding: Handler = ({ args, keyspace }) => {
  const key = args.bytes(2);
  const value = keyspace.peek(key);
  if (value === undefined) return null;
  return keyspace.isRaw(key) ? 'raw' : encodingOf(value);
};

function encodingOf(value: Value): ByteString {
  if (typeof value !== 'string') return value.encoding;
  if (parseInt64(value) !== undefined) return 'int';
  return value.length <= EMBEDDED_BYTES ? 'embstr' : 'raw';
}

/** OBJECT FREQ key → frequency of use on a logarithmic scale; an error without an LFU policy; null if missing. */
export const frequency: Handler = ({ args, keyspace, nowMs }) => {
  const key = args.bytes(2);
  if (!keyspace.isThere(key)) return null;
  const count = keyspace.access?.frequency(key, nowMs);
  if (count === undefined) throw noFrequency;
  return count;
};

/** OBJECT IDLETIME key → seconds since the last use, 0 if not recorded; null if missing. */
export const idleTime: Handler = ({ args, keyspace, nowMs }) => {
  const key = args.bytes(2);
  if (!keyspace.isThere(key)) return null;
  if (keyspace.access?.order === 'lfu') throw noIdleTime;
  return keyspace.access?.idleSeconds(key, nowMs) ?? 0;
};

/** OBJECT REFCOUNT key → 1, null if missing. */
export const referenceCount: Handler = ({ args, keyspace }) => (keyspace.isThere(args.bytes(2)) ? 1 : null);

/** OBJECT HELP → lines. */
export const help: Handler = () =>
  [
    'OBJECT <subcommand> [<arg> [value] [opt] ...]. Subcommands are:',
    'ENCODING <key>',
    '    How the value of a key would be represented in Redis.',
    'FREQ <key>',
    '    How often the key is used, with an LFU policy of eviction.',
    'HELP',
    '    Print this help.',
    'IDLETIME <key>',
    '    Seconds since the key was used, with an LRU policy of eviction.',
    'REFCOUNT <key>',
    '    Always 1.',
  ].map((line) => new SimpleString(line));

/** MEMORY USAGE key [SAMPLES n] → the approximate bytes of the key, null if missing. */
export const memoryUsage: Handler = ({ args, keyspace, searches }) => {
  for (let i = 3; i < args.length; i += 1) {
    if (args.option(i) !== 'SAMPLES') throw ERRORS.syntax;
    i += 1;
    args.bytes(i);
    if (args.offset(i) < 0) throw ERRORS.syntax;
  }
  const key = args.bytes(2);
  const value = keyspace.peek(key);
  if (value === undefined) return null;
  const ofIndex = value instanceof FullTextIndex ? searches.bytesOf(value) : 0;
  return KEY_OVERHEAD_BYTES + key.length + (typeof value === 'string' ? value.length : value.bytes) + ofIndex;
};
