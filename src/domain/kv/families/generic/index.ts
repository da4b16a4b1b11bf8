/** The Generic family: commands for keys of any type. */

import type { Args } from '../../args.js';
import { at, found, NO_KEYS, several, span } from '../../command-description.js';
import type { CommandSpec, Handler } from '../../command-spec.js';
import { parseInt64 } from '../../numbers.js';
import { ERRORS, ErrorReply } from '../../reply.js';
import { inSlices } from '../../slices.js';
import { family, GROWS, LOOKS_FAST, READS, READS_FAST, row, VARIES, WRITES, WRITES_FAST } from '../rows.js';
import { dump, isLongDump, isLongRestore, restore } from './dump.js';
import { expire, expiryInstant, persist, timeLeft } from './expiry.js';
import { copy, countExisting, remove, rename, type } from './keys.js';
import { encoding, frequency, help, idleTime, memoryUsage, referenceCount } from './object.js';
import { keys, randomKey, scan } from './scan.js';
import { isLongSort, SORT_KEYS, sort } from './sort.js';

const badTimeout = new ErrorReply('ERR timeout is not an integer or out of range');
const badLocal = new ErrorReply('ERR value is out of range, value must between 0 and 1');

/** WAIT numreplicas timeout → 0. Every reply waits until the journal has stored its changes; there are no replicas. */
const wait: Handler = ({ args }) => {
  args.int64(1);
  requireTimeout(args, 2);
  return 0;
};

/** WAITAOF numlocal numreplicas timeout → [1, 0]: this process is the one local copy. */
const waitAof: Handler = ({ args }) => {
  const local = args.int64(1);
  if (local < 0n || local > 1n) throw badLocal;
  if (args.int64(2) < 0n) throw ERRORS.notPositive;
  requireTimeout(args, 3);
  return [1, 0];
};

function requireTimeout(args: Args, index: number): void {
  const timeoutMs = parseInt64(args.bytes(index));
  if (timeoutMs === undefined) throw badTimeout;
  if (timeoutMs < 0) throw ERRORS.negativeTimeout;
}

const manyKeys = { tips: ['request_policy:multi_shard', 'response_policy:agg_sum'], keys: span(1, -1) };
const expiryEnds = 'Expiry instants end at 2^53 ms; later ones answer `invalid expire time`.';
const expiring = { ...WRITES_FAST, deviations: [expiryEnds] } as const;

const waiting = {
  tips: ['request_policy:all_shards', 'response_policy:agg_min'],
  flags: [],
  keys: NO_KEYS,
  categories: ['connection', 'blocking'],
};

export const GENERIC: readonly CommandSpec[] = family('generic', [
  row('EXISTS', -2, '1.0.0', 'Counts how many of the keys are there.', {
    ...LOOKS_FAST,
    ...manyKeys,
    ...inSlices(countExisting),
  }),
  row('TOUCH', -2, '3.2.1', 'Counts how many of the keys are there; access times are not kept.', {
    ...LOOKS_FAST,
    ...manyKeys,
    ...inSlices(countExisting),
  }),
  row('TTL', 2, '1.0.0', 'Returns the seconds a key has left.', {
    ...READS_FAST,
    tips: VARIES,
    handler: timeLeft(1000),
  }),
  row('PTTL', 2, '2.6.0', 'Returns the milliseconds a key has left.', {
    ...READS_FAST,
    tips: VARIES,
    handler: timeLeft(1),
  }),
  row('EXPIRETIME', 2, '7.0.0', 'Returns the instant a key expires at, in seconds.', {
    ...READS_FAST,
    handler: expiryInstant(1000),
  }),
  row('PEXPIRETIME', 2, '7.0.0', 'Returns the instant a key expires at, in milliseconds.', {
    ...READS_FAST,
    handler: expiryInstant(1),
  }),
  row('TYPE', 2, '1.0.0', 'Returns the type of the value of a key.', { ...LOOKS_FAST, handler: type }),
  row('DUMP', 2, '2.6.0', 'Returns the value of a key as a payload that RESTORE reads.', {
    ...READS,
    tips: VARIES,
    ...inSlices(dump, isLongDump),
    deviations: [
      'Long strings are not compressed; the payload carries the version of Redis 7.0, which every later server reads.',
    ],
  }),
  row('MEMORY USAGE', -3, '4.0.0', 'Estimates the bytes a key takes.', {
    ...READS,
    keyUse: ['RO'],
    keys: at(2),
    handler: memoryUsage,
    categories: [],
    deviations: ['The number is of this implementation.'],
  }),
  row('OBJECT ENCODING', 3, '2.2.3', 'Names the representation Redis would choose for a value.', {
    ...READS,
    keyUse: ['RO'],
    tips: VARIES,
    keys: at(2),
    handler: encoding,
    deviations: ['Follows from the value alone; Redis also reports `raw` after APPEND and SETRANGE.'],
  }),
  row('OBJECT FREQ', 3, '4.0.0', 'Returns how often a key is used, with an LFU policy of eviction.', {
    ...READS,
    keyUse: ['RO'],
    tips: VARIES,
    keys: at(2),
    handler: frequency,
  }),
  row('OBJECT IDLETIME', 3, '2.2.3', 'Returns the seconds since a key was used.', {
    ...READS,
    keyUse: ['RO'],
    tips: VARIES,
    keys: at(2),
    handler: idleTime,
    deviations: ['Kept only with an LRU policy of eviction; 0 otherwise.'],
  }),
  row('OBJECT REFCOUNT', 3, '2.2.3', 'Answers 1.', {
    ...READS,
    keyUse: ['RO'],
    tips: VARIES,
    keys: at(2),
    handler: referenceCount,
    deviations: ['Always 1, also for small integers, which Redis shares.'],
  }),
  row('OBJECT HELP', 2, '6.2.0', 'Lists the subcommands of OBJECT.', {
    flags: ['fast'],
    keys: NO_KEYS,
    handler: help,
    allCategories: ['keyspace', 'slow'],
    deviations: ['The text is of this implementation.'],
  }),
  row('RANDOMKEY', 1, '1.0.0', 'Returns a key at random.', {
    tips: ['request_policy:all_shards', 'response_policy:special', 'nondeterministic_output'],
    flags: ['readonly', 'random'],
    keys: NO_KEYS,
    handler: randomKey,
    acrossPartitions: 'any',
  }),
  row('SCAN', -2, '2.8.0', 'Goes through the keys step by step.', {
    tips: ['nondeterministic_output', 'request_policy:special', 'response_policy:special'],
    flags: ['readonly', 'random'],
    readOnlyToken: false,
    keys: NO_KEYS,
    handler: scan,
    acrossPartitions: 'walk',
    deviations: [
      'WITHTYPE, which Redis lacks, adds the type after each key.',
      'A step visits at most 10,000 keys, even with a larger COUNT.',
    ],
  }),
  row('KEYS', 2, '1.0.0', 'Returns every key that matches a pattern.', {
    tips: ['request_policy:all_shards', 'nondeterministic_output_order'],
    flags: ['readonly', 'dangerous'],
    keys: NO_KEYS,
    ...inSlices(keys, () => true),
    acrossPartitions: 'items',
    deviations: [
      'Outside of transactions it has the guarantees of a complete SCAN: other clients may write while it runs.',
    ],
  }),
  row('COPY', -3, '6.2.0', 'Copies the value and the expiry of a key to another.', {
    ...GROWS,
    keys: several(at(1, 'read'), at(2, 'write')),
    ...inSlices(copy, isLongDump),
    deviations: ['Over REST equal source and destination answer 0; Redis gives an error.', 'The only database is 0.'],
  }),
  row('DEL', -2, '1.0.0', 'Deletes keys.', { ...WRITES, keyUse: ['RM delete'], ...manyKeys, ...inSlices(remove) }),
  row('UNLINK', -1, '4.0.0', 'Deletes keys.', {
    ...WRITES_FAST,
    keyUse: ['RM delete'],
    ...manyKeys,
    ...inSlices(remove),
    deviations: ['Without a key it answers 0; Redis gives an error.'],
  }),
  row('EXPIRE', -3, '1.0.0', 'Lets a key expire after seconds.', {
    ...expiring,
    handler: expire('expire', { unitMs: 1000, isAbsolute: false }),
  }),
  row('PEXPIRE', -3, '2.6.0', 'Lets a key expire after milliseconds.', {
    ...expiring,
    handler: expire('pexpire', { unitMs: 1, isAbsolute: false }),
  }),
  row('EXPIREAT', -3, '1.2.0', 'Lets a key expire at an instant in seconds.', {
    ...expiring,
    handler: expire('expireat', { unitMs: 1000, isAbsolute: true }),
  }),
  row('PEXPIREAT', -3, '2.6.0', 'Lets a key expire at an instant in milliseconds.', {
    ...expiring,
    handler: expire('pexpireat', { unitMs: 1, isAbsolute: true }),
  }),
  row('PERSIST', 2, '2.2.0', 'Removes the expiry of a key.', { ...WRITES_FAST, handler: persist }),
  row('RENAME', 3, '1.0.0', 'Renames a key and overwrites the new name.', {
    ...WRITES,
    keyUse: ['RW access delete', 'OW update'],
    keys: several(at(1, 'both'), at(2, 'write')),
    handler: rename(false),
  }),
  row('RENAMENX', 3, '1.0.0', 'Renames a key if the new name is free.', {
    ...WRITES_FAST,
    keyUse: ['RW access delete', 'OW insert'],
    keys: several(at(1, 'both'), at(2, 'write')),
    handler: rename(true),
  }),
  row('RESTORE', -4, '2.6.0', 'Makes a key from a payload of DUMP.', {
    keyUse: ['OW update'],
    flags: ['write', 'denyoom', 'dangerous'],
    keys: at(1),
    ...inSlices(restore, isLongRestore),
    deviations: [expiryEnds, 'IDLETIME and FREQ are checked and not kept.'],
  }),
  row('SORT', -2, '1.0.0', 'Sorts the elements of a list, a set or a sorted set.', {
    ...GROWS,
    categories: ['set', 'sortedset', 'list', 'dangerous'],
    keys: SORT_KEYS,
    ...inSlices(sort(true), isLongSort),
  }),
  row('SORT_RO', -2, '7.0.0', 'As SORT, without STORE.', {
    ...READS,
    categories: ['set', 'sortedset', 'list', 'dangerous'],
    // BY and GET read keys that depend on the elements, so clients cannot determine them.
    keys: several(
      at(1),
      found(() => [], { use: 'RO access' }),
    ),
    ...inSlices(sort(false), isLongSort),
  }),
  row('WAIT', 3, '3.0.0', 'Answers 0: there are no replicas, and every reply waits for the journal anyway.', {
    ...waiting,
    handler: wait,
  }),
  row('WAITAOF', 4, '7.2.0', 'Answers 1 and 0: every acknowledged write is in the journal.', {
    ...waiting,
    handler: waitAof,
    deviations: ['The local copy always counts as stored.'],
  }),
]);
