/** Cases that exist only for a known difference. */
import { type KvCase, kvCase } from '../support/kv-case.js';

export const MORE_CASES: readonly KvCase[] = [
  kvCase('hexadecimal floats', [], 'INCRBYFLOAT k 0x10', null),
  kvCase('encoding after APPEND', ['SET k a', 'APPEND k b'], 'OBJECT ENCODING k', null),
  kvCase('another database', ['SET a 1'], 'COPY a b DB 1', null),
  kvCase('time left', ['SET k v PX 123456'], 'PTTL k', null),
  kvCase('DBSIZE after a key has expired', ['SET l v EXAT 1'], 'DBSIZE', null),
  kvCase('two conditions in SET', ['SET k v'], 'SET k w IFEQ v XX', null),
  kvCase('arguments of both kinds wrong', [], 'SET k v EX abc FOO', null),
  kvCase('an expiry and a condition wrong', ['SET k v'], 'SET k v EX 0 NX', null),
  ...[
    '[]a]',
    '[^]',
    '[a-',
    '[z-a]',
    '[a\\]]',
    'a\\',
    '**a**',
    '[!a]',
    '*[',
    '?*?',
    'h[e\\-x]llo',
    '[]',
    '[a]*',
    '*\\**',
  ].map((pattern) =>
    kvCase(
      `KEYS ${pattern}`,
      ['MSET a 1 b 1 ]a 1 a] 1 a\\ 1 - 1 hello 1 h-llo 1 [ 1 !  1 * 1 ^ 1'],
      ['KEYS', pattern],
      null,
    ),
  ),
];
