/** What is known about a value beside its contents: OBJECT and MEMORY USAGE. */
import type { ByteString } from '../../../../kernel/index.js';
import type { Handler } from '../../command-spec.js';
import { KEY_OVERHEAD_BYTES, type Value } from '../../keyspace.js';
import { parseInt64 } from '../../numbers.js';
import { ERRORS, ErrorReply, SimpleString } from '../../reply.js';

/** Redis keeps strings up to here in one piece with their header. */
const EMBEDDED_BYTES = 44;

const noFrequency = new ErrorReply(
  'ERR An LFU maxmemory policy is not selected, access frequency not tracked. ' +
    'Please note that when switching between policies at runtime LRU and LFU data will take some time to adjust.',
);

/** OBJECT ENCODING key → `int`, `embstr` or `raw` for a string, null if missing. */
export const encoding: Handler = ({ args, keyspace }) => {
  const value = keyspace.peek(args.bytes(2));
  return value === undefined ? null : encodingOf(value);
};

function encodingOf(value: Value): ByteString {
  if (typeof value !== 'string') return value.kind;
  if (parseInt64(value) !== undefined) return 'int';
  return value.length <= EMBEDDED_BYTES ? 'embstr' : 'raw';
}

/** OBJECT FREQ key → always an error, as in Redis without an LFU policy; null if missing. */
export const frequency: Handler = ({ args, keyspace }) => {
  if (!keyspace.exists(args.bytes(2))) return null;
  throw noFrequency;
};

/** OBJECT IDLETIME key, OBJECT REFCOUNT key → a constant, null if missing: neither is tracked. */
export function constant(answer: number): Handler {
  return ({ args, keyspace }) => (keyspace.exists(args.bytes(2)) ? answer : null);
}

/** OBJECT HELP → lines. */
export const help: Handler = () =>
  [
    'OBJECT <subcommand> [<arg> [value] [opt] ...]. Subcommands are:',
    'ENCODING <key>',
    '    How the value of a key would be represented in Redis.',
    'FREQ <key>',
    '    Not tracked: an error.',
    'HELP',
    '    Print this help.',
    'IDLETIME <key>',
    '    Not tracked: 0.',
    'REFCOUNT <key>',
    '    Always 1.',
  ].map((line) => new SimpleString(line));

/** MEMORY USAGE key [SAMPLES n] → about how many bytes the key costs, null if missing. */
export const memoryUsage: Handler = ({ args, keyspace }) => {
  for (let i = 3; i < args.length; i += 1) {
    if (args.option(i) !== 'SAMPLES') throw ERRORS.syntax;
    i += 1;
    args.bytes(i);
    if (args.offset(i) < 0) throw ERRORS.syntax;
  }
  const key = args.bytes(2);
  const value = keyspace.peek(key);
  if (value === undefined) return null;
  return KEY_OVERHEAD_BYTES + key.length + (typeof value === 'string' ? value.length : value.bytes);
};
