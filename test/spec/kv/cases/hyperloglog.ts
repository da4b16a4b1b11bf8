import { type KvCase, kvCase } from '../../../support/kv-case.js';
import { WRONG_TYPE, wrongArity } from './texts.js';

const NOT_ONE = '-WRONGTYPE Key is not a valid HyperLogLog string value.';

export const HYPERLOGLOG_CASES: readonly KvCase[] = [
  kvCase('PFADD creates a HyperLogLog', [], 'PFADD h a b', 1, ['PFADD h a b']),
  kvCase('PFADD without elements creates an empty one', [], 'PFADD h', 1, ['PFADD h']),
  kvCase('PFADD records only elements that changed it', ['PFADD h a b'], 'PFADD h a c', 1, ['PFADD h c']),
  kvCase('PFADD of existing elements changes no data', ['PFADD h a b'], 'PFADD h a', 0, []),
  kvCase('PFADD refuses another string', ['SET s v'], 'PFADD s a', NOT_ONE, []),
  kvCase('PFADD refuses another type', ['RPUSH l a'], 'PFADD l a', WRONG_TYPE, []),
  kvCase('PFADD needs a key', [], 'PFADD', wrongArity('pfadd')),
  kvCase('PFCOUNT counts few elements exactly', ['PFADD h a b c a'], 'PFCOUNT h', 3, []),
  kvCase('PFCOUNT counts the union of several keys', ['PFADD h a b', 'PFADD i b c'], 'PFCOUNT h i none', 3, []),
  kvCase('PFCOUNT of a missing key is 0', [], 'PFCOUNT h', 0, []),
  kvCase('PFCOUNT needs a key', [], 'PFCOUNT', wrongArity('pfcount')),
  kvCase('PFMERGE joins several keys', ['PFADD h a b', 'PFADD i b c'], 'PFMERGE d h i', '+OK'),
  kvCase('PFMERGE needs a destination', [], 'PFMERGE', wrongArity('pfmerge')),
];
