/** The String family. */

import { type KeySpec, span } from '../../command-description.js';
import type { CommandSpec } from '../../command-spec.js';
import { hasOption } from '../../key-use.js';
import { inSlices } from '../../slices.js';
import {
  DELETES_FAST,
  family,
  GROWS,
  GROWS_FAST,
  INSERTS_FAST,
  LOOKS_FAST,
  READS,
  READS_FAST,
  row,
  TAKES_FAST,
  UPDATES_FAST,
  WRITES_FAST,
} from '../rows.js';
import { append, decrementBy, incrementBy, incrementByFloat, setRange, step } from './change.js';
import { deleteIf, digest, get, getAndDelete, getAndExpire, length, range } from './get.js';
import { incrementWithin } from './increment.js';
import { longestCommonSubsequence } from './lcs.js';
import { getMany, setMany, setManyExpiring, setManyIfMissing } from './many.js';
import { getAndSet, set, setExpiring, setIfMissing } from './set.js';

const pairs: KeySpec = span(1, -1, 2);
/** MSETEX: a count, then alternating keys and values. */
const countedPairs: KeySpec = { kind: 'counted', at: 1, before: [], step: 2 };

const grownEnds =
  'A string grows to the longest command of its database, 10 MiB unless set otherwise: beyond it `string exceeds maximum allowed size`.';
const expiryEnds = 'Expiry instants end at 2^53 ms; later ones answer `invalid expire time`.';

export const STRING: readonly CommandSpec[] = family('string', [
  row('GET', 2, '1.0.0', 'Returns the string value of a key.', { ...READS_FAST, handler: get }),
  row('SET', -3, '1.0.0', 'Sets a key to a string, replacing any value; optionally with an expiry and a condition.', {
    ...GROWS,
    keyUse: ['RW access update'],
    keyNeeds: (words) => (hasOption(words, 3, 'GET') ? 'both' : 'write'),
    handler: set,
    // Not flagged `fast` in Redis, because storing a large value takes time. Also true of SETEX and PSETEX.
    isQuick: true,
    deviations: [
      'Of NX, XX, IFEQ, IFNE, IFDEQ and IFDNE only one may be given; Redis 8 accepts some pairs.',
      expiryEnds,
    ],
  }),
  row('DIGEST', 2, '8.4.0', 'Returns the XXH3 hash of a string value as 16 hex digits.', {
    ...READS_FAST,
    handler: digest,
  }),
  row('DELEX', -2, '8.4.0', 'Deletes a key if its value or its digest compares as asked.', {
    ...DELETES_FAST,
    handler: deleteIf,
  }),
  row('GETRANGE', 4, '2.4.0', 'Returns part of a string value.', { ...READS, handler: range }),
  row('SUBSTR', 4, '1.0.0', 'Returns part of a string value; the old name of GETRANGE.', { ...READS, handler: range }),
  row('MGET', -2, '1.0.0', 'Returns the string values of several keys.', {
    ...READS_FAST,
    tips: ['request_policy:multi_shard'],
    keys: span(1, -1),
    ...inSlices(getMany),
  }),
  row('STRLEN', 2, '2.2.0', 'Returns the length of a string value in bytes.', { ...LOOKS_FAST, handler: length }),
  row('LCS', -3, '7.0.0', 'Finds the longest common subsequence of two strings.', {
    ...READS,
    keys: span(1, 2),
    handler: longestCommonSubsequence,
    deviations: ['Refused when the product of the lengths exceeds 2 million, with the text Redis has for 128 million.'],
  }),
  row('APPEND', 3, '2.0.0', 'Appends to a string value, which is created if missing.', {
    ...INSERTS_FAST,
    handler: append,
    deviations: [grownEnds],
  }),
  row('DECR', 2, '1.0.0', 'Lowers the integer value of a key by one; 0 is assumed if it is missing.', {
    ...UPDATES_FAST,
    handler: step(-1),
  }),
  row('DECRBY', 3, '1.0.0', 'Lowers the integer value of a key by a number.', {
    ...UPDATES_FAST,
    handler: decrementBy,
  }),
  row('GETDEL', 2, '6.2.0', 'Returns the string value of a key and deletes it.', {
    ...TAKES_FAST,
    handler: getAndDelete,
  }),
  row('GETEX', -2, '6.2.0', 'Returns the string value of a key and sets or removes its expiry.', {
    ...WRITES_FAST,
    keyUse: ['RW access update'],
    handler: getAndExpire,
    deviations: [expiryEnds],
  }),
  row('GETSET', 3, '1.0.0', 'Sets a string value and returns the one before.', { ...UPDATES_FAST, handler: getAndSet }),
  row('INCR', 2, '1.0.0', 'Raises the integer value of a key by one; 0 is assumed if it is missing.', {
    ...UPDATES_FAST,
    handler: step(1),
  }),
  row('INCRBY', 3, '1.0.0', 'Raises the integer value of a key by a number.', {
    ...UPDATES_FAST,
    handler: incrementBy,
  }),
  row('INCRBYFLOAT', 3, '2.6.0', 'Raises the number in a key by a decimal number.', {
    ...UPDATES_FAST,
    handler: incrementByFloat,
    deviations: ['Hexadecimal numbers are not read.'],
  }),
  row('INCREX', -2, '8.8.0', 'Raises the number in a key within bounds, and sets its expiry.', {
    ...UPDATES_FAST,
    handler: incrementWithin,
    deviations: [
      'The errors of options that contradict each other are of the same kind, not of the same words.',
      'BYFLOAT refuses a sum beyond a long double, with SATURATE too.',
    ],
  }),
  row('MSET', -3, '1.0.1', 'Sets several string values in one step.', {
    ...GROWS,
    keyUse: ['OW update'],
    tips: ['request_policy:multi_shard', 'response_policy:all_succeeded'],
    keys: pairs,
    ...inSlices(setMany),
  }),
  row('MSETNX', -3, '1.0.1', 'Sets several string values if none of the keys is there.', {
    ...GROWS,
    keyUse: ['OW insert'],
    keys: pairs,
    ...inSlices(setManyIfMissing),
  }),
  row('MSETEX', -4, '8.4.0', 'Sets several string values with one expiry, if all or none of the keys are there.', {
    ...GROWS,
    keyUse: ['OW update'],
    tips: ['request_policy:multi_shard', 'response_policy:all_succeeded'],
    keys: countedPairs,
    ...inSlices(setManyExpiring),
    deviations: [expiryEnds],
  }),
  row('PSETEX', 4, '2.6.0', 'Sets a string value that expires after milliseconds.', {
    ...GROWS,
    keyUse: ['OW update'],
    handler: setExpiring('psetex', 1),
    isQuick: true,
    deviations: [expiryEnds],
  }),
  row('SETEX', 4, '2.0.0', 'Sets a string value that expires after seconds.', {
    ...GROWS,
    keyUse: ['OW update'],
    handler: setExpiring('setex', 1000),
    isQuick: true,
    deviations: [expiryEnds],
  }),
  row('SETNX', 3, '1.0.0', 'Sets a string value if the key is not there.', {
    ...GROWS_FAST,
    keyUse: ['OW insert'],
    handler: setIfMissing,
  }),
  row('SETRANGE', 4, '2.2.0', 'Overwrites part of a string value from an offset on.', {
    ...GROWS,
    handler: setRange,
    deviations: [grownEnds],
  }),
]);
