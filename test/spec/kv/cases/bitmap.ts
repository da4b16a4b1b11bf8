import { type KvCase, kvCase } from '../../../support/kv-case.js';
import { SYNTAX, WRONG_TYPE, wrongArity } from './texts.js';

const BAD_OFFSET = '-ERR bit offset is not an integer or out of range';
const FOOBAR = ['SET s foobar'];

export const BITMAP_CASES: readonly KvCase[] = [
  kvCase('SETBIT creates a string', [], 'SETBIT b 7 1', 0, ['SETBIT b 7 1']),
  kvCase('SETBIT answers the previous bit', ['SETBIT b 7 1'], 'SETBIT b 7 0', 1, ['SETBIT b 7 0']),
  kvCase('SETBIT of the same bit records no effect', ['SETBIT b 7 1'], 'SETBIT b 7 1', 1, []),
  kvCase('SETBIT refuses an offset beyond the longest string', [], 'SETBIT b 4294967296 1', BAD_OFFSET, []),
  kvCase('SETBIT refuses other bits', [], 'SETBIT b 0 2', '-ERR bit is not an integer or out of range', []),
  kvCase('SETBIT needs a bit', [], 'SETBIT b 0', wrongArity('setbit')),
  kvCase('GETBIT reads zeros after the end of a string', FOOBAR, 'GETBIT s 1000', 0, []),
  kvCase('GETBIT refuses another type', ['RPUSH l a'], 'GETBIT l 0', WRONG_TYPE, []),
  kvCase('GETBIT needs an offset', [], 'GETBIT s', wrongArity('getbit')),
  kvCase('BITCOUNT counts all bits', FOOBAR, 'BITCOUNT s', 26, []),
  kvCase('BITCOUNT counts the bits of a range of bytes', FOOBAR, 'BITCOUNT s 1 1', 6, []),
  kvCase('BITCOUNT counts the bits of a range of bits', FOOBAR, 'BITCOUNT s 5 30 BIT', 17, []),
  kvCase('BITCOUNT refuses another unit', FOOBAR, 'BITCOUNT s 0 1 WORD', SYNTAX, []),
  kvCase('BITCOUNT needs a key', [], 'BITCOUNT', wrongArity('bitcount')),
  kvCase('BITPOS finds the first set bit', ['SET s \\x00\\xff\\xf0'], 'BITPOS s 1 0', 8, []),
  kvCase('BITPOS finds a zero after the end of the string', ['SET s \\xff\\xff'], 'BITPOS s 0', 16, []),
  kvCase('BITPOS finds no zero before a given end', ['SET s \\xff\\xff'], 'BITPOS s 0 0 -1', -1, []),
  kvCase('BITPOS reads a range of bits', ['SET s \\x00\\xff\\xf0'], 'BITPOS s 1 10 15 BIT', 10, []),
  kvCase('BITPOS of a missing key is 0', [], 'BITPOS s 0', 0, []),
  kvCase('BITPOS needs a bit', [], 'BITPOS s', wrongArity('bitpos')),
  kvCase('BITOP AND stores the bits that all keys have', ['SET a abc', 'SET b ab'], 'BITOP AND d a b', 3, [
    'SET d ab\\x00',
  ]),
  kvCase('BITOP NOT inverts the bits', ['SET a \\x0f'], 'BITOP NOT d a', 1, ['SET d \\xf0']),
  kvCase(
    'BITOP DIFF stores the bits that only the first key has',
    ['SET a \\x0f', 'SET b \\x03'],
    'BITOP DIFF d a b',
    1,
    ['SET d \\x0c'],
  ),
  kvCase('BITOP of missing keys deletes the destination', ['SET d x'], 'BITOP OR d a b', 0, ['DEL d']),
  kvCase(
    'BITOP NOT takes one source',
    [],
    'BITOP NOT d a b',
    '-ERR BITOP NOT must be called with a single source key.',
    [],
  ),
  kvCase('BITOP needs a source', [], 'BITOP AND d', wrongArity('bitop')),
  kvCase(
    'BITFIELD reads and changes integers',
    [],
    'BITFIELD b SET u8 0 255 GET i8 0 INCRBY u8 #1 3',
    [0, -1, 3],
    ['BITFIELD b SET u8 0 255 GET i8 0 INCRBY u8 #1 3'],
  ),
  kvCase('BITFIELD keeps all 64 bits', [], 'BITFIELD b SET i64 0 -9223372036854775808 GET i64 0', [
    0,
    -9223372036854775808n,
  ]),
  kvCase(
    'BITFIELD OVERFLOW SAT stops at the largest value',
    ['BITFIELD b SET u8 0 250'],
    'BITFIELD b OVERFLOW SAT INCRBY u8 0 10',
    [255],
  ),
  kvCase('BITFIELD OVERFLOW FAIL keeps a value that would overflow', [], 'BITFIELD b OVERFLOW FAIL INCRBY u2 0 4', [
    null,
  ]),
  kvCase('BITFIELD accepts OVERFLOW without an operation', [], 'BITFIELD b OVERFLOW SAT', [], []),
  kvCase('BITFIELD that only reads records no effect', [], 'BITFIELD b GET u8 0', [0], []),
  kvCase('BITFIELD needs a key', [], 'BITFIELD', wrongArity('bitfield')),
  kvCase('BITFIELD_RO reads', FOOBAR, 'BITFIELD_RO s GET u8 0', [102], []),
  kvCase(
    'BITFIELD_RO refuses to write',
    [],
    'BITFIELD_RO s SET u8 0 1',
    '-ERR BITFIELD_RO only supports the GET subcommand',
    [],
  ),
  kvCase('BITFIELD_RO needs a key', [], 'BITFIELD_RO', wrongArity('bitfield_ro')),
  kvCase(
    'BITFIELD OVERFLOW SAT sets the largest value for a far too small one, like Redis',
    [],
    'BITFIELD b OVERFLOW SAT SET i8 0 -9223372036854775808 GET i8 0',
    [0, 127],
  ),
  kvCase('BITPOS moves two ends before the first byte to the first byte', ['SET b a'], 'BITPOS b 0 -2 -5', 0, []),
  kvCase('BITCOUNT of a start after the end is 0', ['SET b a'], 'BITCOUNT b -2 -5', 0, []),
];
