import { ERRORS } from '../../../../src/domain/kv/index.js';
import { encodeStringDump } from '../../../../src/domain/kv/types/rdb/encode-dump.js';
import { type KvCase, kvCase, NOW } from '../../../support/kv-case.js';
import { badExpiry, NOT_AN_INTEGER, SYNTAX, wrongArity } from './texts.js';

const NO_SUCH_KEY = '-ERR no such key';
const BAD_DATABASE = `-${ERRORS.noSuchDatabase.text}`;
const BAD_FOOTER = '-ERR DUMP payload version or checksum are wrong';
const NX_ALONE = '-ERR NX and XX, GT or LT options at the same time are not compatible';
const PAYLOAD = encodeStringDump('restored');
const INTEGER_PAYLOAD = encodeStringDump('-70000');

const sorted =
  (...keys: string[]) =>
  (reply: unknown): boolean =>
    JSON.stringify([...(reply as string[])].sort()) === JSON.stringify(keys.sort());

const scanned =
  (...keys: string[]) =>
  (reply: unknown): boolean => {
    const [cursor, found] = reply as [string, string[]];
    return cursor === '0' && sorted(...keys)(found);
  };

const isPositive = (reply: unknown): boolean => typeof reply === 'number' && reply > 0;

/** A payload as a word of a line: bytes that a word cannot contain are escaped. */
const restoring = (options: string): string =>
  `RESTORE k 0 ${PAYLOAD.replace(/[^a-z]/g, (byte) => `\\x${byte.charCodeAt(0).toString(16).padStart(2, '0')}`)} ${options}`;

export const GENERIC_CASES: readonly KvCase[] = [
  ...['EXISTS', 'TOUCH'].flatMap((name) => [
    kvCase(`${name} counts keys, one named twice counts twice`, ['SET a 1', 'RPUSH l a'], `${name} a l a b`, 3, []),
    kvCase(`${name} of a missing key is 0`, [], `${name} a`, 0, []),
    kvCase(`${name} needs a key`, [], name, wrongArity(name.toLowerCase())),
  ]),
  ...['DEL', 'UNLINK'].flatMap((name) => [
    kvCase(`${name} counts the deleted keys`, ['SET a 1', 'SET b 2'], `${name} a c b a`, 2, ['DEL a b']),
    kvCase(`${name} deletes any type`, ['RPUSH l a'], `${name} l`, 1, ['DEL l']),
    kvCase(`${name} of a missing key records no effect`, [], `${name} a`, 0, []),
  ]),
  kvCase('DEL needs a key', [], 'DEL', wrongArity('del')),
  kvCase('UNLINK without a key is 0', [], 'UNLINK', 0, []),
  kvCase('TYPE of a string', ['SET k v'], 'TYPE k', '+string', []),
  kvCase('TYPE of another type', ['RPUSH l a'], 'TYPE l', '+list', []),
  kvCase('TYPE of a missing key', [], 'TYPE k', '+none', []),
  kvCase('TYPE needs a key', [], 'TYPE', wrongArity('type')),
  kvCase('TTL rounds to the nearest second', ['SET k v PX 1600'], 'TTL k', 2, []),
  kvCase('PTTL is exact', ['SET k v PX 100000'], 'PTTL k', 100000, []),
  kvCase('EXPIRETIME is the instant', ['SET k v EX 100'], 'EXPIRETIME k', NOW / 1000 + 100, []),
  kvCase('PEXPIRETIME is the instant', ['SET k v PXAT @+100000'], 'PEXPIRETIME k', NOW + 100000, []),
  ...['TTL', 'PTTL', 'EXPIRETIME', 'PEXPIRETIME'].flatMap((name) => [
    kvCase(`${name} without an expiry is -1`, ['SET k v'], `${name} k`, -1, []),
    kvCase(`${name} of a missing key is -2`, [], `${name} k`, -2, []),
    kvCase(`${name} works on any type`, ['RPUSH l a'], `${name} l`, -1, []),
    kvCase(`${name} needs a key`, [], name, wrongArity(name.toLowerCase())),
  ]),
  kvCase('EXPIRE sets an instant', ['SET k v'], 'EXPIRE k 100', 1, ['PEXPIREAT k @+100000']),
  kvCase('PEXPIRE sets an instant', ['SET k v'], 'PEXPIRE k 100', 1, ['PEXPIREAT k @+100']),
  kvCase('EXPIREAT sets an instant', ['SET k v'], 'EXPIREAT k @s+100', 1, ['PEXPIREAT k @+100000']),
  kvCase('PEXPIREAT sets an instant', ['SET k v'], 'PEXPIREAT k @+100', 1, ['PEXPIREAT k @+100']),
  kvCase('PEXPIREAT with the current expiry records no effect', ['SET k v PXAT @+9000'], 'PEXPIREAT k @+9000', 1, []),
  ...['EXPIRE', 'PEXPIRE', 'EXPIREAT', 'PEXPIREAT'].flatMap((name) => {
    const absolute = name.endsWith('AT');
    const seconds = !name.startsWith('P');
    const instant = (s: number): string =>
      absolute ? `@${seconds ? `s+${s}` : `+${s * 1000}`}` : String(seconds ? s : s * 1000);
    return [
      kvCase(`${name} of a missing key is 0`, [], `${name} k ${instant(9)}`, 0, []),
      kvCase(`${name} works on any type`, ['RPUSH l a'], `${name} l ${instant(9)}`, 1, ['PEXPIREAT l @+9000']),
      kvCase(`${name} in the past deletes`, ['SET k v'], `${name} k ${absolute ? '1' : '-1'}`, 1, ['DEL k']),
      kvCase(`${name} at zero deletes`, ['SET k v'], `${name} k 0`, 1, ['DEL k']),
      kvCase(`${name} NX sets an expiry where there is none`, ['SET k v'], `${name} k ${instant(9)} NX`, 1, [
        'PEXPIREAT k @+9000',
      ]),
      kvCase(`${name} NX keeps an existing expiry`, ['SET k v EX 50'], `${name} k ${instant(9)} nx`, 0, []),
      kvCase(`${name} XX changes an existing expiry`, ['SET k v EX 50'], `${name} k ${instant(9)} XX`, 1, [
        'PEXPIREAT k @+9000',
      ]),
      kvCase(`${name} XX sets no expiry where there is none`, ['SET k v'], `${name} k ${instant(9)} XX`, 0, []),
      kvCase(`${name} GT moves the expiry later`, ['SET k v EX 5'], `${name} k ${instant(9)} GT`, 1, [
        'PEXPIREAT k @+9000',
      ]),
      kvCase(`${name} GT does not move the expiry earlier`, ['SET k v EX 50'], `${name} k ${instant(9)} GT`, 0, []),
      kvCase(`${name} GT leaves a key without expiry`, ['SET k v'], `${name} k ${instant(9)} GT`, 0, []),
      kvCase(`${name} LT moves the expiry earlier`, ['SET k v EX 50'], `${name} k ${instant(9)} LT`, 1, [
        'PEXPIREAT k @+9000',
      ]),
      kvCase(`${name} LT does not move the expiry later`, ['SET k v EX 5'], `${name} k ${instant(9)} LT`, 0, []),
      kvCase(`${name} LT sets an expiry where there is none`, ['SET k v'], `${name} k ${instant(9)} LT`, 1, [
        'PEXPIREAT k @+9000',
      ]),
      kvCase(`${name} XX LT needs an existing expiry`, ['SET k v'], `${name} k ${instant(9)} XX LT`, 0, []),
      kvCase(`${name} refuses NX with XX`, ['SET k v'], `${name} k ${instant(9)} NX XX`, NX_ALONE, []),
      kvCase(`${name} refuses NX with GT`, ['SET k v'], `${name} k ${instant(9)} GT NX`, NX_ALONE, []),
      kvCase(
        `${name} refuses GT with LT`,
        ['SET k v'],
        `${name} k ${instant(9)} GT LT`,
        '-ERR GT and LT options at the same time are not compatible',
        [],
      ),
      kvCase(
        `${name} refuses an unknown option`,
        ['SET k v'],
        `${name} k ${instant(9)} Foo`,
        '-ERR Unsupported option Foo',
        [],
      ),
      kvCase(`${name} refuses an argument that is no integer`, [], `${name} k 1.5`, NOT_AN_INTEGER, []),
      kvCase(`${name} needs a time`, [], `${name} k`, wrongArity(name.toLowerCase())),
    ];
  }),
  kvCase('EXPIRE refuses a time that overflows', ['SET k v'], 'EXPIRE k 9223372036854775807', badExpiry('expire'), []),
  kvCase(
    'EXPIRE refuses a negative time that overflows',
    ['SET k v'],
    'EXPIRE k -9223372036854775808',
    badExpiry('expire'),
    [],
  ),
  kvCase(
    'EXPIREAT refuses a time that overflows',
    ['SET k v'],
    'EXPIREAT k 9223372036854775807',
    badExpiry('expireat'),
    [],
  ),
  kvCase(
    'PEXPIRE refuses a time that overflows',
    ['SET k v'],
    'PEXPIRE k 9223372036854775807',
    badExpiry('pexpire'),
    [],
  ),
  kvCase('PEXPIREAT treats a very negative instant as past', ['SET k v'], 'PEXPIREAT k -9223372036854770000', 1, [
    'DEL k',
  ]),
  kvCase('PERSIST removes the expiry', ['SET k v EX 10'], 'PERSIST k', 1, ['PERSIST k']),
  kvCase('PERSIST without an expiry is 0', ['SET k v'], 'PERSIST k', 0, []),
  kvCase('PERSIST of a missing key is 0', [], 'PERSIST k', 0, []),
  kvCase('PERSIST works on any type', ['RPUSH l a', 'EXPIRE l 10'], 'PERSIST l', 1, ['PERSIST l']),
  kvCase('PERSIST needs a key', [], 'PERSIST', wrongArity('persist')),
  kvCase('RENAME moves value and expiry', ['SET a 1 PX 5000', 'SET b 2'], 'RENAME a b', '+OK', ['DEL b', 'RENAME a b']),
  kvCase(
    'RENAME of a key without expiry removes the expiry of the target',
    ['SET a 1', 'SET b 2 EX 10'],
    'RENAME a b',
    '+OK',
    ['RENAME a b'],
  ),
  kvCase('RENAME works on any type', ['RPUSH l a'], 'RENAME l m', '+OK', ['RENAME l m']),
  kvCase('RENAME to the same name changes no data', ['SET a 1'], 'RENAME a a', '+OK', []),
  kvCase('RENAME refuses a missing key', [], 'RENAME a a', NO_SUCH_KEY, []),
  kvCase('RENAME needs two names', [], 'RENAME a', wrongArity('rename')),
  kvCase('RENAMENX moves to a free name', ['SET a 1'], 'RENAMENX a b', 1, ['RENAME a b']),
  kvCase('RENAMENX does not replace an existing key', ['SET a 1', 'SET b 2'], 'RENAMENX a b', 0, []),
  kvCase('RENAMENX to the same name is 0', ['SET a 1'], 'RENAMENX a a', 0, []),
  kvCase('RENAMENX works on any type', ['RPUSH l a'], 'RENAMENX l m', 1, ['RENAME l m']),
  kvCase('RENAMENX refuses a missing key', [], 'RENAMENX a b', NO_SUCH_KEY, []),
  kvCase('RENAMENX needs two names', [], 'RENAMENX a', wrongArity('renamenx')),
  kvCase('COPY copies value and expiry', ['SET a 1 PX 5000'], 'COPY a b', 1, ['COPY a b REPLACE']),
  kvCase('COPY does not replace an existing key', ['SET a 1', 'SET b 2'], 'COPY a b', 0, []),
  kvCase('COPY REPLACE replaces an existing key', ['SET a 1', 'SET b 2 EX 9'], 'COPY a b REPLACE', 1, [
    'COPY a b REPLACE',
  ]),
  kvCase(
    'COPY REPLACE of an expiring key clears the target first',
    ['SET a 1 EX 9', 'SET b 2'],
    'COPY a b replace',
    1,
    ['DEL b', 'COPY a b REPLACE'],
  ),
  kvCase('COPY REPLACE replaces another type', ['SET a 1', 'RPUSH l a'], 'COPY a l REPLACE', 1, ['COPY a l REPLACE']),
  kvCase('COPY of a missing key is 0', ['SET b 2'], 'COPY a b REPLACE', 0, []),
  kvCase('COPY onto itself is 0', ['SET a 1'], 'COPY a a', 0, []),
  kvCase('COPY takes DB 0', ['SET a 1'], 'COPY a b DB 0', 1, ['COPY a b REPLACE']),
  kvCase('COPY refuses another database', ['SET a 1'], 'COPY a b DB 99', BAD_DATABASE, []),
  kvCase('COPY refuses a negative database', ['SET a 1'], 'COPY a b DB -1', BAD_DATABASE, []),
  kvCase('COPY refuses a database that is no integer', ['SET a 1'], 'COPY a b DB x', NOT_AN_INTEGER, []),
  kvCase('COPY refuses DB without a number', ['SET a 1'], 'COPY a b DB', SYNTAX, []),
  kvCase('COPY refuses an unknown option', ['SET a 1'], 'COPY a b FOO', SYNTAX, []),
  kvCase('COPY needs two keys', [], 'COPY a', wrongArity('copy')),
  kvCase(
    'KEYS answers the matching keys',
    ['SET a1 x', 'SET a2 x', 'SET b1 x', 'RPUSH al x'],
    'KEYS a[0-9]',
    sorted('a1', 'a2'),
    [],
  ),
  kvCase('KEYS * answers every key', ['SET a x', 'RPUSH l x'], 'KEYS *', sorted('a', 'l'), []),
  kvCase('KEYS without keys is empty', [], 'KEYS *', [], []),
  kvCase('KEYS needs a pattern', [], 'KEYS', wrongArity('keys')),
  kvCase('SCAN answers every key', ['SET a x', 'RPUSH l x'], 'SCAN 0', scanned('a', 'l'), []),
  kvCase('SCAN MATCH filters', ['SET a x', 'SET b x'], 'SCAN 0 MATCH b* COUNT 100', scanned('b'), []),
  kvCase('SCAN TYPE filters', ['SET a x', 'RPUSH l x'], 'SCAN 0 TYPE LIST', scanned('l'), []),
  kvCase('SCAN TYPE of an unknown type is empty', ['SET a x'], 'SCAN 0 TYPE foo', ['0', []], []),
  kvCase('SCAN WITHTYPE answers the type after each key', ['SET a x'], 'SCAN 0 WITHTYPE', ['0', ['a', 'string']], []),
  kvCase('SCAN without keys ends with cursor 0', [], 'SCAN 0', ['0', []], []),
  kvCase('SCAN refuses a cursor that is no number', [], 'SCAN x', '-ERR invalid cursor', []),
  kvCase('SCAN refuses a cursor beyond 64 bits', [], 'SCAN 18446744073709551616', '-ERR invalid cursor', []),
  kvCase('SCAN with a cursor after all keys ends', ['SET a x'], 'SCAN 18446744073709551615', ['0', []], []),
  kvCase('SCAN refuses a count of zero', [], 'SCAN 0 COUNT 0', SYNTAX, []),
  kvCase('SCAN refuses a count that is no integer', [], 'SCAN 0 COUNT x', NOT_AN_INTEGER, []),
  kvCase('SCAN refuses an option without its value', [], 'SCAN 0 MATCH', SYNTAX, []),
  kvCase('SCAN refuses an unknown option', [], 'SCAN 0 FOO x', SYNTAX, []),
  kvCase('SCAN needs a cursor', [], 'SCAN', wrongArity('scan')),
  kvCase('RANDOMKEY answers a key', ['SET a x'], 'RANDOMKEY', 'a', []),
  kvCase('RANDOMKEY without keys is null', [], 'RANDOMKEY', null, []),
  kvCase('RANDOMKEY refuses an argument', [], 'RANDOMKEY a', wrongArity('randomkey')),
  kvCase('DUMP of a missing key is null', [], 'DUMP k', null, []),
  kvCase('DUMP answers a payload', ['SET k restored'], 'DUMP k', PAYLOAD, []),
  kvCase('DUMP packs integers', ['SET k -70000'], 'DUMP k', INTEGER_PAYLOAD, []),
  kvCase('DUMP needs a key', [], 'DUMP', wrongArity('dump')),
  kvCase('RESTORE creates a key', [], ['RESTORE', 'k', '0', PAYLOAD], '+OK', ['SET k restored']),
  kvCase('RESTORE reads packed integers', [], ['RESTORE', 'k', '0', INTEGER_PAYLOAD], '+OK', ['SET k -70000']),
  kvCase('RESTORE sets an expiry from now', [], ['RESTORE', 'k', '5000', PAYLOAD], '+OK', [
    'SET k restored PXAT @+5000',
  ]),
  kvCase('RESTORE ABSTTL sets an instant', [], ['RESTORE', 'k', '@+5000', PAYLOAD, 'ABSTTL'], '+OK', [
    'SET k restored PXAT @+5000',
  ]),
  kvCase(
    'RESTORE with an instant in the past creates no key',
    ['SET k v'],
    ['RESTORE', 'k', '1', PAYLOAD, 'ABSTTL', 'REPLACE'],
    '+OK',
    ['DEL k'],
  ),
  kvCase(
    'RESTORE refuses to replace an existing key',
    ['SET k v'],
    ['RESTORE', 'k', '0', PAYLOAD],
    '-BUSYKEY Target key name already exists.',
    [],
  ),
  kvCase(
    'RESTORE REPLACE replaces an existing key',
    ['SET k v EX 10'],
    ['RESTORE', 'k', '0', PAYLOAD, 'replace'],
    '+OK',
    ['SET k restored'],
  ),
  kvCase('RESTORE REPLACE replaces another type', ['RPUSH k a'], ['RESTORE', 'k', '0', PAYLOAD, 'REPLACE'], '+OK', [
    'SET k restored',
  ]),
  kvCase('RESTORE takes IDLETIME', [], ['RESTORE', 'k', '0', PAYLOAD, 'IDLETIME', '10'], '+OK', ['SET k restored']),
  kvCase('RESTORE takes FREQ', [], ['RESTORE', 'k', '0', PAYLOAD, 'FREQ', '10'], '+OK', ['SET k restored']),
  kvCase(
    'RESTORE refuses IDLETIME with FREQ',
    [],
    ['RESTORE', 'k', '0', PAYLOAD, 'FREQ', '1', 'IDLETIME', '1'],
    SYNTAX,
    [],
  ),
  kvCase(
    'RESTORE refuses a negative IDLETIME',
    [],
    ['RESTORE', 'k', '0', PAYLOAD, 'IDLETIME', '-1'],
    '-ERR Invalid IDLETIME value, must be >= 0',
    [],
  ),
  kvCase(
    'RESTORE refuses a FREQ above 255',
    [],
    ['RESTORE', 'k', '0', PAYLOAD, 'FREQ', '256'],
    '-ERR Invalid FREQ value, must be >= 0 and <= 255',
    [],
  ),
  kvCase('RESTORE refuses an unknown option', [], ['RESTORE', 'k', '0', PAYLOAD, 'FOO'], SYNTAX, []),
  kvCase(
    'RESTORE refuses a negative TTL',
    [],
    ['RESTORE', 'k', '-1', PAYLOAD],
    '-ERR Invalid TTL value, must be >= 0',
    [],
  ),
  kvCase('RESTORE refuses a TTL that is no integer', [], ['RESTORE', 'k', 'x', PAYLOAD], NOT_AN_INTEGER, []),
  kvCase('RESTORE refuses a wrong checksum', [], ['RESTORE', 'k', '0', `${PAYLOAD.slice(0, -1)}\\x00`], BAD_FOOTER, []),
  kvCase('RESTORE refuses a short payload', [], ['RESTORE', 'k', '0', 'foo'], BAD_FOOTER, []),
  kvCase('RESTORE needs a payload', [], 'RESTORE k 0', wrongArity('restore')),
  kvCase('MEMORY USAGE is a positive number', ['SET k v'], 'MEMORY USAGE k', isPositive, []),
  kvCase('MEMORY USAGE takes SAMPLES', ['SET k v'], 'memory usage k samples 0', isPositive, []),
  kvCase('MEMORY USAGE of a missing key is null', [], 'MEMORY USAGE k', null, []),
  kvCase('MEMORY USAGE refuses a negative SAMPLES', [], 'MEMORY USAGE k SAMPLES -1', SYNTAX, []),
  kvCase('MEMORY USAGE refuses SAMPLES without a number', [], 'MEMORY USAGE k SAMPLES', SYNTAX, []),
  kvCase('MEMORY USAGE refuses an unknown option', [], 'MEMORY USAGE k FOO 1', SYNTAX, []),
  kvCase('MEMORY USAGE needs a key', [], 'MEMORY USAGE', wrongArity('memory|usage')),
  kvCase('MEMORY needs a subcommand', [], 'MEMORY', wrongArity('memory')),
  kvCase('OBJECT ENCODING of an integer', ['SET k 123'], 'OBJECT ENCODING k', 'int', []),
  kvCase('OBJECT ENCODING of a string that was appended to', ['SET k 1', 'APPEND k 2'], 'OBJECT ENCODING k', 'raw', []),
  kvCase(
    'OBJECT ENCODING of a string with a new middle',
    ['SET k 12', 'SETRANGE k 0 3'],
    'OBJECT ENCODING k',
    'raw',
    [],
  ),
  kvCase('OBJECT ENCODING of a string with a new bit', ['SET k 1', 'SETBIT k 6 1'], 'OBJECT ENCODING k', 'raw', []),
  kvCase('OBJECT ENCODING of a string that APPEND created', ['APPEND k 12'], 'OBJECT ENCODING k', 'int', []),
  kvCase(
    'OBJECT ENCODING of a number that was incremented after APPEND',
    ['SET k 1', 'APPEND k 2', 'INCR k'],
    'OBJECT ENCODING k',
    'int',
    [],
  ),
  kvCase('OBJECT ENCODING of a short string', ['SET k abc'], 'OBJECT ENCODING k', 'embstr', []),
  kvCase('OBJECT ENCODING of 44 bytes', [`SET k ${'x'.repeat(44)}`], 'OBJECT ENCODING k', 'embstr', []),
  kvCase('OBJECT ENCODING of 45 bytes', [`SET k ${'x'.repeat(45)}`], 'OBJECT ENCODING k', 'raw', []),
  kvCase('OBJECT IDLETIME is 0', ['SET k abc'], 'OBJECT IDLETIME k', 0, []),
  kvCase('OBJECT REFCOUNT is 1', ['SET k abc'], 'OBJECT REFCOUNT k', 1, []),
  kvCase(
    'OBJECT FREQ is an error',
    ['SET k abc'],
    'OBJECT FREQ k',
    (reply) => String(reply).startsWith('-ERR An LFU maxmemory policy is not selected'),
    [],
  ),
  ...['ENCODING', 'IDLETIME', 'REFCOUNT', 'FREQ'].flatMap((name) => [
    kvCase(`OBJECT ${name} of a missing key is null`, [], `OBJECT ${name} k`, null, []),
    kvCase(`OBJECT ${name} takes one key`, [], `OBJECT ${name} a b`, wrongArity(`object|${name.toLowerCase()}`)),
  ]),
  kvCase(
    'OBJECT HELP lists the subcommands',
    [],
    'OBJECT HELP',
    (reply) => Array.isArray(reply) && reply.includes('+HELP'),
    [],
  ),
  kvCase('OBJECT needs a subcommand', [], 'OBJECT', wrongArity('object')),
  kvCase('OBJECT HELP refuses further words', [], 'OBJECT HELP x', wrongArity('object|help')),
  kvCase('OBJECT FOO is unknown', [], 'OBJECT FOO', "-ERR unknown subcommand 'FOO'. Try OBJECT HELP."),
  kvCase('WAIT has no replicas to wait for', [], 'WAIT 1 1', 0, []),
  kvCase('WAIT refuses an argument that is no integer', [], 'WAIT x 1', NOT_AN_INTEGER, []),
  kvCase(
    'WAIT refuses a timeout that is no integer',
    [],
    'WAIT 0 x',
    '-ERR timeout is not an integer or out of range',
    [],
  ),
  kvCase('WAIT refuses a negative timeout', [], 'WAIT 0 -1', '-ERR timeout is negative', []),
  kvCase('WAIT needs two numbers', [], 'WAIT 0', wrongArity('wait')),
  kvCase('WAITAOF counts the journal as one copy', [], 'WAITAOF 0 0 1', [1, 0], []),
  kvCase(
    'WAITAOF refuses two local copies',
    [],
    'WAITAOF 2 0 1',
    '-ERR value is out of range, value must between 0 and 1',
    [],
  ),
  kvCase(
    'WAITAOF refuses a negative number of replicas',
    [],
    'WAITAOF 0 -1 1',
    '-ERR value is out of range, must be positive',
    [],
  ),
  kvCase('WAITAOF refuses a negative timeout', [], 'WAITAOF 0 0 -1', '-ERR timeout is negative', []),
  kvCase('WAITAOF needs three numbers', [], 'WAITAOF 0 0', wrongArity('waitaof')),
  kvCase(
    'OBJECT FREQ is the value of RESTORE',
    ['CONFIG SET maxmemory-policy allkeys-lfu', restoring('FREQ 100')],
    'OBJECT FREQ k',
    (reply) => reply === 100 || reply === 99,
    [],
  ),
  kvCase(
    'OBJECT IDLETIME is the value of RESTORE',
    ['CONFIG SET maxmemory-policy allkeys-lru', restoring('IDLETIME 1000')],
    'OBJECT IDLETIME k',
    (reply) => Number(reply) >= 1000 && Number(reply) <= 1010,
    [],
  ),
];
