/** The Hash family. */
import { at } from '../../command-description.js';
import type { CommandSpec } from '../../command-spec.js';
import { ErrorReply } from '../../reply.js';
import { inSlices } from '../../slices.js';
import { connectionRow } from '../connection-row.js';
import {
  DELETES_FAST,
  family,
  GROWS,
  GROWS_FAST,
  INSERTS_FAST,
  LOOKS_FAST,
  NOT_IN_REDIS,
  READS,
  READS_FAST,
  row,
  TAKES_FAST,
  UNORDERED,
  UPDATES_FAST,
  VARIES,
  WRITES_FAST,
} from '../rows.js';
import { expireFields, fieldTimes, persistFields } from './field-expiry.js';
import { getAndDeleteFields, getAndExpireFields, setAndExpireFields } from './get-and-set.js';
import {
  exists,
  get,
  getAll,
  getMany,
  getManyInSlices,
  isLongHash,
  length,
  randomFields,
  scan,
  valueLength,
} from './read.js';
import {
  deleteFields,
  incrementField,
  incrementFieldByFloat,
  REPLACE_HASH,
  replaceHash,
  setFieldIfMissing,
  setFields,
} from './write.js';

const latestField = 'The grammar and the errors are those of Redis 8.6.';
const latestInstant =
  'Over REST an instant has the range of `EXPIREAT`, up to 2^53 ms or in the past, and a missing key answers before the instant is checked. `DUMP` writes an instant beyond 2^46 ms, the limit of Redis, as 2^46 ms.';
const expiring = { ...WRITES_FAST, deviations: [latestField, latestInstant] } as const;
const drawsEnd = 'A negative count ends at a million: beyond it `value is out of range`.';
const hashesEnd = 'All names and values of a hash end at 100 MB: beyond it `max single record size exceeded`.';

/** A script has no connection, so it has no lists of fields. */
const noFieldSet = new ErrorReply('ERR no such fieldset');
const ofFieldSets = { tips: ['request_policy:all_shards'], allCategories: ['hash', 'slow'] } as const;

function listing(parts: 'fields' | 'values' | 'both') {
  return { ...READS, tips: UNORDERED, ...inSlices(getAll(parts), isLongHash) };
}

export const HASH: readonly CommandSpec[] = family('hash', [
  row('HDEL', -3, '2.0.0', 'Deletes fields of a hash.', { ...DELETES_FAST, ...inSlices(deleteFields) }),
  row('HEXISTS', 3, '2.0.0', 'Tells whether a hash has a field.', { ...LOOKS_FAST, handler: exists }),
  row('HEXPIRE', -6, '7.4.0', 'Lets fields expire after seconds.', {
    ...expiring,
    ...inSlices(expireFields('hexpire', { unitMs: 1000, isAbsolute: false })),
  }),
  row('HEXPIREAT', -6, '7.4.0', 'Lets fields expire at an instant in seconds.', {
    ...expiring,
    ...inSlices(expireFields('hexpireat', { unitMs: 1000, isAbsolute: true })),
  }),
  row('HEXPIRETIME', -5, '7.4.0', 'Returns the instants at which fields expire, in seconds.', {
    ...READS_FAST,
    ...inSlices(fieldTimes({ unitMs: 1000, isAbsolute: true })),
  }),
  row('HGET', 3, '2.0.0', 'Returns the value of a field.', { ...READS_FAST, handler: get }),
  row('HGETALL', 2, '2.0.0', 'Returns all fields and values of a hash.', listing('both')),
  row('HGETDEL', -5, '8.0.0', 'Returns the values of fields and deletes them.', {
    ...TAKES_FAST,
    ...inSlices(getAndDeleteFields),
  }),
  row('HGETEX', -5, '8.0.0', 'Returns the values of fields and sets or removes their expiry.', {
    ...expiring,
    keyUse: ['RW access update'],
    ...inSlices(getAndExpireFields),
  }),
  connectionRow('HIMPORT DISCARD', 3, '8.10.0', 'Removes a list of fields from the connection.', {
    ...ofFieldSets,
    flags: [],
  }),
  connectionRow('HIMPORT DISCARDALL', 2, '8.10.0', 'Removes all lists of fields from the connection.', {
    ...ofFieldSets,
    flags: [],
  }),
  connectionRow('HIMPORT PREPARE', -4, '8.10.0', 'Names a list of fields on the connection, for HIMPORT SET.', {
    ...ofFieldSets,
    flags: ['denyoom'],
  }),
  row('HIMPORT SET', -5, '8.10.0', 'Replaces a hash by the values of a list of fields.', {
    flags: ['write', 'denyoom'],
    keys: at(2),
    keyUse: ['OW update'],
    rest: 'refused',
    takesFieldSet: true,
    handler: () => noFieldSet,
    deviations: [
      'Scripts have no lists of fields. The hash is stored as any other, and its fields keep the order of the list.',
    ],
  }),
  row('HINCRBY', 4, '2.0.0', 'Raises the integer value of a field by a number.', {
    ...UPDATES_FAST,
    handler: incrementField,
  }),
  row('HINCRBYFLOAT', 4, '2.6.0', 'Raises the number in a field by a decimal number.', {
    ...UPDATES_FAST,
    handler: incrementFieldByFloat,
    deviations: ['Hexadecimal numbers are not read.'],
  }),
  row('HKEYS', 2, '2.0.0', 'Returns all fields of a hash.', listing('fields')),
  row('HLEN', 2, '2.0.0', 'Returns the number of fields.', {
    ...LOOKS_FAST,
    handler: length,
    deviations: ['Fields that have expired are never counted; Redis counts them until they are removed.'],
  }),
  row('HMGET', -3, '2.0.0', 'Returns the values of several fields.', {
    ...READS_FAST,
    ...inSlices(getManyInSlices),
    handler: getMany,
  }),
  row('HMSET', -4, '2.0.0', 'Sets fields of a hash; the old name of HSET.', {
    ...GROWS_FAST,
    ...inSlices(setFields('hmset')),
  }),
  row('HPERSIST', -5, '7.4.0', 'Removes the expiry of fields.', { ...WRITES_FAST, ...inSlices(persistFields) }),
  row('HPEXPIRE', -6, '7.4.0', 'Lets fields expire after milliseconds.', {
    ...expiring,
    ...inSlices(expireFields('hpexpire', { unitMs: 1, isAbsolute: false })),
  }),
  row('HPEXPIREAT', -6, '7.4.0', 'Lets fields expire at an instant in milliseconds.', {
    ...expiring,
    ...inSlices(expireFields('hpexpireat', { unitMs: 1, isAbsolute: true })),
  }),
  row('HPEXPIRETIME', -5, '7.4.0', 'Returns the instants at which fields expire, in milliseconds.', {
    ...READS_FAST,
    ...inSlices(fieldTimes({ unitMs: 1, isAbsolute: true })),
  }),
  row('HPTTL', -5, '7.4.0', 'Returns the time left to fields, in milliseconds.', {
    ...READS_FAST,
    tips: VARIES,
    ...inSlices(fieldTimes({ unitMs: 1, isAbsolute: false })),
  }),
  row('HRANDFIELD', -2, '6.2.0', 'Returns fields at random.', {
    ...READS,
    tips: VARIES,
    ...inSlices(randomFields, isLongHash),
    deviations: [drawsEnd],
  }),
  row('HSCAN', -3, '2.8.0', 'Goes through the fields and values of a hash step by step.', {
    ...READS,
    tips: VARIES,
    handler: scan,
    deviations: ['A cursor is a 32-bit hash; a step returns at most 10,000 fields.'],
  }),
  row('HSET', -4, '2.0.0', 'Sets fields of a hash, which is created if missing.', {
    ...GROWS_FAST,
    ...inSlices(setFields('hset')),
    deviations: [hashesEnd],
  }),
  row('HSETEX', -6, '8.0.0', 'Sets fields of a hash and their expiry, if all or none of them are there.', {
    ...GROWS_FAST,
    ...inSlices(setAndExpireFields),
    deviations: [latestField, latestInstant],
  }),
  row('HSETNX', 4, '2.0.0', 'Sets a field if it is not there.', { ...INSERTS_FAST, handler: setFieldIfMissing }),
  row('HSTRLEN', 3, '3.2.0', 'Returns the length of a value in bytes.', { ...LOOKS_FAST, handler: valueLength }),
  row('HTTL', -5, '7.4.0', 'Returns the time left to fields, in seconds.', {
    ...READS_FAST,
    tips: VARIES,
    ...inSlices(fieldTimes({ unitMs: 1000, isAbsolute: false })),
  }),
  row('HVALS', 2, '2.0.0', 'Returns all values of a hash.', listing('values')),
]);

/** Clients cannot send it. */
export const HASH_PARTS: readonly CommandSpec[] = family('hash', [
  row(REPLACE_HASH, -4, NOT_IN_REDIS, 'Replaces a hash.', {
    ...GROWS,
    keyUse: ['OW update'],
    ...inSlices(replaceHash),
  }),
]);
