/** Commands of the Generic family on values that are not strings: SORT, COPY, DUMP and RESTORE, RENAME, OBJECT. */
import { type KvCase, kvCase } from '../../../support/kv-case.js';
import { SYNTAX, WRONG_TYPE, wrongArity } from './texts.js';

const NUMBERS = ['RPUSH l 3 1 2'];
const WEIGHTS = [...NUMBERS, 'MSET w1 30 w2 20 w3 10', 'HSET h1 f c', 'HSET h2 f b', 'HSET h3 f a'];

export const GENERIC_COLLECTION_CASES: readonly KvCase[] = [
  kvCase('SORT needs a key', [], 'SORT', wrongArity('sort')),
  kvCase('SORT_RO needs a key', [], 'SORT_RO', wrongArity('sort_ro')),
  kvCase('SORT orders numbers', NUMBERS, 'SORT l', ['1', '2', '3'], []),
  kvCase('SORT orders downwards', NUMBERS, 'SORT l desc', ['3', '2', '1'], []),
  kvCase('SORT_RO orders numbers', NUMBERS, 'SORT_RO l LIMIT 1 5', ['2', '3'], []),
  kvCase('SORT of a missing key is empty', [], 'SORT none', [], []),
  kvCase('SORT LIMIT answers a part', NUMBERS, 'SORT l LIMIT 1 1', ['2'], []),
  kvCase('SORT LIMIT beyond the end is empty', NUMBERS, 'SORT l LIMIT 5 1', [], []),
  kvCase('SORT orders texts', ['SADD s b a c'], 'SORT s ALPHA', ['a', 'b', 'c'], []),
  kvCase(
    'SORT refuses texts as numbers',
    ['SADD s b a c'],
    'SORT s',
    "-ERR One or more scores can't be converted into double",
  ),
  kvCase('SORT orders by weights of other keys', WEIGHTS, 'SORT l BY w*', ['3', '2', '1'], []),
  kvCase('SORT orders by fields of hashes', WEIGHTS, 'SORT l BY h*->f ALPHA', ['3', '2', '1'], []),
  kvCase('SORT GET reads other keys', WEIGHTS, 'SORT l GET # GET w* GET h*->f GET none*', [
    ...['1', '30', 'c', null],
    ...['2', '20', 'b', null],
    ...['3', '10', 'a', null],
  ]),
  kvCase('SORT BY a pattern without a star keeps the order', NUMBERS, 'SORT l BY nosort', ['3', '1', '2'], []),
  kvCase(
    'SORT BY a pattern without a star reverses a sorted set with DESC',
    ['ZADD z 1 a 2 b'],
    'SORT z BY x DESC',
    ['b', 'a'],
    [],
  ),
  kvCase('SORT counts a missing weight as zero', ['RPUSH l 2 1', 'SET w2 -1'], 'SORT l BY w*', ['2', '1'], []),
  kvCase('SORT STORE stores a list', [...NUMBERS, 'SET d x'], 'SORT l STORE d', 3, ['DEL d', 'RPUSH d 1 2 3']),
  kvCase('SORT STORE of an empty result deletes the destination', ['SET d x'], 'SORT none STORE d', 0, ['DEL d']),
  kvCase('SORT_RO refuses STORE', NUMBERS, 'SORT_RO l STORE d', SYNTAX, []),
  kvCase('SORT refuses a hash', ['HSET h f v'], 'SORT h', WRONG_TYPE),
  kvCase('SORT refuses a string', ['SET s v'], 'SORT s', WRONG_TYPE),
  kvCase('SORT refuses half a LIMIT', NUMBERS, 'SORT l LIMIT 1', SYNTAX),

  kvCase('COPY copies a list', NUMBERS, 'COPY l m', 1, ['COPY l m REPLACE']),
  kvCase('COPY makes an independent copy', [...NUMBERS, 'COPY l m', 'RPUSH l 9'], 'LRANGE m 0 -1', ['3', '1', '2'], []),
  kvCase('COPY copies a hash', ['HSET h f v', 'COPY h i', 'HSET h f w'], 'HGET i f', 'v', []),
  kvCase('COPY copies a sorted set', ['ZADD z 1 a', 'COPY z y', 'ZADD z 5 a'], 'ZSCORE y a', '1', []),
  kvCase('COPY copies a stream', ['XADD x 1-1 f v', 'COPY x y', 'XADD x 2-1 f v'], 'XLEN y', 1, []),
  kvCase('RENAME moves a set', ['SADD s a b', 'RENAME s t'], 'SCARD t', 2, []),
  kvCase('TYPE names a hash', ['HSET h f v'], 'TYPE h', '+hash', []),
  kvCase('TYPE names a sorted set', ['ZADD z 1 a'], 'TYPE z', '+zset', []),
  kvCase('TYPE names a stream', ['XADD x 1-1 f v'], 'TYPE x', '+stream', []),
  kvCase('SCAN finds keys of a type', ['SET a 1', 'SADD s a'], 'SCAN 0 TYPE set', ['0', ['s']], []),
  kvCase('SCAN WITHTYPE pairs keys with types', ['ZADD z 1 a'], 'SCAN 0 WITHTYPE', ['0', ['z', 'zset']], []),
  kvCase('DUMP of a missing key is null', [], 'DUMP none', null, []),
  kvCase('OBJECT ENCODING of a short list', NUMBERS, 'OBJECT ENCODING l', 'listpack', []),
  kvCase('OBJECT ENCODING of a set of integers', ['SADD s 1 2'], 'OBJECT ENCODING s', 'intset', []),
  kvCase(
    'OBJECT FREQ counts with an LFU policy',
    ['CONFIG SET maxmemory-policy allkeys-lfu', 'SET a 1'],
    'OBJECT FREQ a',
    5,
  ),
  kvCase(
    'OBJECT IDLETIME counts with an LRU policy',
    ['CONFIG SET maxmemory-policy allkeys-lru', 'SET a 1'],
    'OBJECT IDLETIME a',
    0,
  ),
  kvCase('MEMORY USAGE of a list', NUMBERS, 'MEMORY USAGE l', (reply) => Number(reply) > 80),
];
