import { type KvCase, kvCase } from '../../../support/kv-case.js';
import { SYNTAX, WRONG_TYPE, wrongArity } from './texts.js';

const STRING = ['SET k x'];
const PLANE = ['VECTOR.CREATE k DIM 2 METRIC COSINE'];
const TWO = [...PLANE, 'VECTOR.ADD k right VALUES 2 1 0', 'VECTOR.ADD k up VALUES 2 0 1'];
const BAD_DIM = '-ERR DIM must be an integer from 1 to 32768';
const BAD_TOPK = '-ERR TOPK must be an integer from 1 to 1000';
/** 1 and 0 as little-endian floats. */
const RIGHT_BYTES = '\\x00\\x00\\x80\\x3f\\x00\\x00\\x00\\x00';

export const VECTOR_CASES: readonly KvCase[] = [
  kvCase('VECTOR.CREATE makes an index', [], 'VECTOR.CREATE k METRIC euclidean DIM 3', 1, [
    'VECTOR.CREATE k DIM 3 METRIC EUCLIDEAN',
  ]),
  kvCase(
    'VECTOR.CREATE refuses an existing index',
    PLANE,
    'VECTOR.CREATE k DIM 2 METRIC COSINE',
    '-ERR vector index already exists',
    [],
  ),
  kvCase('VECTOR.CREATE EXISTSOK of an equal index is 0', PLANE, 'VECTOR.CREATE k DIM 2 METRIC COSINE EXISTSOK', 0, []),
  kvCase(
    'VECTOR.CREATE EXISTSOK refuses another dimension',
    PLANE,
    'VECTOR.CREATE k DIM 3 METRIC COSINE EXISTSOK',
    '-ERR vector index already exists with a different dimension or metric',
    [],
  ),
  kvCase('VECTOR.CREATE refuses a dimension of 0', [], 'VECTOR.CREATE k DIM 0 METRIC DOT', BAD_DIM, []),
  kvCase(
    'VECTOR.CREATE refuses a dimension above the largest',
    [],
    'VECTOR.CREATE k DIM 32769 METRIC DOT',
    BAD_DIM,
    [],
  ),
  kvCase(
    'VECTOR.CREATE refuses another metric',
    [],
    'VECTOR.CREATE k DIM 2 METRIC HAMMING',
    '-ERR METRIC must be COSINE, EUCLIDEAN or DOT',
    [],
  ),
  kvCase('VECTOR.CREATE refuses another option', [], 'VECTOR.CREATE k DIM 2 METRIC DOT NX', SYNTAX, []),
  kvCase('VECTOR.CREATE refuses another type', STRING, 'VECTOR.CREATE k DIM 2 METRIC DOT', WRONG_TYPE, []),
  kvCase('VECTOR.CREATE needs dimension and metric', [], 'VECTOR.CREATE k DIM 2', wrongArity('vector.create')),
  kvCase('VECTOR.ADD adds a vector of decimal numbers', PLANE, 'VECTOR.ADD k right VALUES 2 1 0', 1, [
    `VECTOR.ADD k right FP32 ${RIGHT_BYTES}`,
  ]),
  kvCase('VECTOR.ADD adds a vector of bytes', PLANE, `VECTOR.ADD k right FP32 ${RIGHT_BYTES}`, 1),
  kvCase('VECTOR.ADD adds a vector of base64', PLANE, 'VECTOR.ADD k right BASE64-FP32 AACAPwAAAAA=', 1, [
    `VECTOR.ADD k right FP32 ${RIGHT_BYTES}`,
  ]),
  kvCase('VECTOR.ADD replaces a vector', TWO, 'VECTOR.ADD k up VALUES 2 1 0', 0),
  kvCase(
    'VECTOR.ADD refuses another dimension',
    PLANE,
    'VECTOR.ADD k a VALUES 3 1 0 0',
    '-ERR vector dimension mismatch: the index has 2, the vector 3',
    [],
  ),
  kvCase('VECTOR.ADD needs an index', [], 'VECTOR.ADD k a VALUES 1 1', '-ERR vector index does not exist', []),
  kvCase(
    'VECTOR.ADD refuses an element that is no number',
    PLANE,
    'VECTOR.ADD k a VALUES 2 1 x',
    '-ERR a vector element is not a finite number of 32 bits',
    [],
  ),
  kvCase(
    'VECTOR.ADD refuses an element beyond 32 bits',
    PLANE,
    'VECTOR.ADD k a VALUES 2 1 1e39',
    '-ERR a vector element is not a finite number of 32 bits',
    [],
  ),
  kvCase(
    'VECTOR.ADD refuses other base64',
    PLANE,
    'VECTOR.ADD k a BASE64-FP32 AACA-wAAAAA=',
    '-ERR the vector is not valid base64',
    [],
  ),
  kvCase(
    'VECTOR.ADD refuses half an element',
    PLANE,
    'VECTOR.ADD k a FP32 abcdef',
    '-ERR the bytes of a vector must be a multiple of 4',
    [],
  ),
  kvCase(
    'VECTOR.ADD refuses an empty id',
    PLANE,
    "VECTOR.ADD k '' VALUES 2 1 0",
    '-ERR the id of a vector must not be empty',
    [],
  ),
  kvCase('VECTOR.ADD refuses fewer elements than counted', PLANE, 'VECTOR.ADD k a VALUES 3 1 0', SYNTAX, []),
  kvCase('VECTOR.ADD refuses more words', PLANE, 'VECTOR.ADD k a VALUES 2 1 0 NX', SYNTAX, []),
  kvCase('VECTOR.ADD refuses another type', STRING, 'VECTOR.ADD k a VALUES 2 1 0', WRONG_TYPE, []),
  kvCase('VECTOR.ADD needs a vector', PLANE, 'VECTOR.ADD k a VALUES', wrongArity('vector.add')),
  kvCase('VECTOR.GET answers the elements', TWO, 'VECTOR.GET k right', ['1', '0'], []),
  kvCase('VECTOR.GET of a missing id is null', TWO, 'VECTOR.GET k x', null),
  kvCase('VECTOR.GET of a missing key is null', [], 'VECTOR.GET k x', null),
  kvCase('VECTOR.GET refuses another type', STRING, 'VECTOR.GET k x', WRONG_TYPE),
  kvCase('VECTOR.GET takes an id', [], 'VECTOR.GET k', wrongArity('vector.get')),
  kvCase('VECTOR.DEL removes a vector', TWO, 'VECTOR.DEL k up', 1, ['VECTOR.DEL k up']),
  kvCase('VECTOR.DEL of a missing id is 0', TWO, 'VECTOR.DEL k x', 0, []),
  kvCase('VECTOR.DEL of a missing key is 0', [], 'VECTOR.DEL k x', 0, []),
  kvCase('VECTOR.DEL takes an id', [], 'VECTOR.DEL k', wrongArity('vector.del')),
  kvCase('an index stays without vectors', [...TWO, 'VECTOR.DEL k up', 'VECTOR.DEL k right'], 'VECTOR.INFO k', [
    'dimension',
    2,
    'metric',
    'COSINE',
  ]),
  kvCase('VECTOR.COUNT counts', TWO, 'VECTOR.COUNT k', 2),
  kvCase('VECTOR.COUNT of a missing key is 0', [], 'VECTOR.COUNT k', 0),
  kvCase('VECTOR.COUNT takes one key', [], 'VECTOR.COUNT', wrongArity('vector.count')),
  kvCase('VECTOR.INFO answers dimension and metric', TWO, 'VECTOR.INFO k', ['dimension', 2, 'metric', 'COSINE'], []),
  kvCase('VECTOR.INFO of a missing key is null', [], 'VECTOR.INFO k', null),
  kvCase('VECTOR.INFO takes one key', [], 'VECTOR.INFO', wrongArity('vector.info')),
  kvCase('VECTOR.QUERY answers the nearest first, by the cosine', TWO, 'VECTOR.QUERY k TOPK 5 VALUES 2 5 0', [
    ['right', '1'],
    ['up', '0.5'],
  ]),
  kvCase('VECTOR.QUERY TOPK bounds the answer', TWO, 'VECTOR.QUERY k TOPK 1 PROFILE FAST VALUES 2 0 3', [['up', '1']]),
  kvCase('VECTOR.QUERY takes the profile last, too', TWO, `VECTOR.QUERY k TOPK 1 FP32 ${RIGHT_BYTES} PROFILE precise`, [
    ['right', '1'],
  ]),
  kvCase(
    'VECTOR.QUERY EUCLIDEAN scores by the squared distance',
    ['VECTOR.CREATE k DIM 2 METRIC EUCLIDEAN', 'VECTOR.ADD k a VALUES 2 0 0', 'VECTOR.ADD k b VALUES 2 2 0'],
    'VECTOR.QUERY k TOPK 2 VALUES 2 1 0',
    [
      ['a', '0.5'],
      ['b', '0.5'],
    ],
  ),
  kvCase(
    'VECTOR.QUERY DOT orders by the product and scores from 0 to 1',
    [
      'VECTOR.CREATE k DIM 2 METRIC DOT',
      'VECTOR.ADD k a VALUES 2 0.5 0',
      'VECTOR.ADD k b VALUES 2 9 0',
      'VECTOR.ADD k c VALUES 2 -9 0',
    ],
    'VECTOR.QUERY k TOPK 3 VALUES 2 1 0',
    [
      ['b', '1'],
      ['a', '0.75'],
      ['c', '0'],
    ],
  ),
  kvCase('VECTOR.QUERY of a missing key is empty', [], 'VECTOR.QUERY k TOPK 1 VALUES 1 1', []),
  kvCase(
    'VECTOR.QUERY refuses another dimension',
    TWO,
    'VECTOR.QUERY k TOPK 1 VALUES 1 1',
    '-ERR vector dimension mismatch: the index has 2, the vector 1',
  ),
  kvCase('VECTOR.QUERY refuses TOPK 0', TWO, 'VECTOR.QUERY k TOPK 0 VALUES 2 1 0', BAD_TOPK),
  kvCase('VECTOR.QUERY refuses TOPK 1001', TWO, 'VECTOR.QUERY k TOPK 1001 VALUES 2 1 0', BAD_TOPK),
  kvCase(
    'VECTOR.QUERY refuses another profile',
    TWO,
    'VECTOR.QUERY k TOPK 1 PROFILE X VALUES 2 1 0',
    '-ERR PROFILE must be FAST, BALANCED or PRECISE',
  ),
  kvCase('VECTOR.QUERY needs TOPK', TWO, 'VECTOR.QUERY k VALUES 2 1 0', SYNTAX),
  kvCase('VECTOR.QUERY refuses another type', STRING, 'VECTOR.QUERY k TOPK 1 VALUES 1 1', WRONG_TYPE),
  kvCase('VECTOR.QUERY needs a vector', TWO, 'VECTOR.QUERY k TOPK 1', wrongArity('vector.query')),
  kvCase('VECTOR.DROP removes the index', TWO, 'VECTOR.DROP k', 1, ['DEL k']),
  kvCase('VECTOR.DROP of a missing key is 0', [], 'VECTOR.DROP k', 0, []),
  kvCase('VECTOR.DROP refuses another type', STRING, 'VECTOR.DROP k', WRONG_TYPE, []),
  kvCase('VECTOR.DROP takes one key', [], 'VECTOR.DROP', wrongArity('vector.drop')),
];
