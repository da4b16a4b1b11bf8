import { type KvCase, kvCase } from '../../../support/kv-case.js';
import { NOT_AN_INTEGER, wrongArity } from './texts.js';

const ONE = 'e0e1f9fabfc9d4800c877a703b823ac0578ff8db';
const NO_SCRIPT = '-NOSCRIPT No matching script. Please use EVAL.';
const KILL = '-NOTBUSY No scripts in execution right now.';
/** An error of a script: a text, then the script and the line. */
const failed = (text: string) => (reply: unknown) =>
  new RegExp(`^-${text} script: [0-9a-f]{40}, on @user_script:[0-9]+\\.$`).test(String(reply));

function evaluated(title: string, script: string, then: KvCase['then'], effects?: readonly string[]): KvCase {
  return kvCase(title, [], ['EVAL', script, '0'], then, effects);
}

export const SCRIPTING_CASES: readonly KvCase[] = [
  kvCase(
    'EVAL passes keys and arguments to the script',
    [],
    ['EVAL', 'return {KEYS,ARGV}', '1', 'k', 'a'],
    [['k'], ['a']],
  ),
  kvCase(
    'EVAL records the effects of its commands',
    [],
    ['EVAL', "return redis.call('set',KEYS[1],'v')", '1', 'k'],
    '+OK',
    ['SET k v'],
  ),
  kvCase('EVAL needs a number of keys', [], 'EVAL x', wrongArity('eval')),
  kvCase('EVAL refuses an invalid number of keys', [], ['EVAL', 'return 1', 'x'], NOT_AN_INTEGER),
  kvCase(
    'EVAL refuses a negative number of keys',
    [],
    ['EVAL', 'return 1', '-1'],
    "-ERR Number of keys can't be negative",
  ),
  kvCase(
    'EVAL refuses more keys than words',
    [],
    ['EVAL', 'return 1', '2', 'a'],
    "-ERR Number of keys can't be greater than number of args",
  ),
  evaluated('a number is cut toward zero', 'return {3.99, -3.99}', [3, -3]),
  evaluated('true is 1 and false is null', 'return {true, false}', [1, null]),
  evaluated('a list ends at its first nil', 'return {1, 2, nil, 4}', [1, 2]),
  evaluated('ok and err are a status and an error', "return {{ok='fine'},{err='ERR bad'}}", ['+fine', '-ERR bad']),
  evaluated('strings are bytes', "return '\\0\\255' .. string.char(128)", '\x00\xff\x80'),
  evaluated('a status is a table in the script', "return redis.call('set','k','v').ok", 'OK'),
  evaluated('null is false in the script', "return redis.call('get','k') == false", 1),
  evaluated('in RESP3 null is nil in the script', "redis.setresp(3) return redis.call('get','k') == nil", 1),
  evaluated(
    'in RESP3 a map is a map in the script',
    "redis.setresp(3) redis.call('hset','h','f','v') return redis.call('hgetall','h').map.f",
    'v',
  ),
  evaluated(
    'an error of a command ends the script, with its text',
    "redis.call('rpush','l','a') redis.call('incr','l')",
    failed('WRONGTYPE Operation against a key holding the wrong kind of value'),
    ['RPUSH l a'],
  ),
  evaluated(
    'pcall catches an error of a command',
    "redis.call('rpush','l','a') return redis.pcall('incr','l').err",
    'WRONGTYPE Operation against a key holding the wrong kind of value',
  ),
  evaluated('an error has its line and script', "\nerror('boom')", failed('ERR user_script:2: boom')),
  evaluated(
    'an unknown command is an error',
    "redis.call('nosuch')",
    failed('ERR Unknown Redis command called from script'),
  ),
  evaluated(
    'a wrong number of words is an error',
    "redis.call('get')",
    failed('ERR Wrong number of args calling Redis command from script'),
  ),
  evaluated(
    'commands about scripts are refused in scripts',
    "redis.call('eval','return 1',0)",
    failed('ERR This Redis command is not allowed from script'),
  ),
  evaluated(
    'a missing global is an error',
    'return nosuch',
    failed("ERR user_script:1: Script attempted to access nonexistent global variable 'nosuch'"),
  ),
  evaluated('globals cannot be set', 'x = 1', failed('ERR user_script:1: Attempt to modify a readonly table')),
  evaluated(
    'a script that does not compile is refused',
    'x=',
    "-ERR Error compiling script (new function): user_script:1: unexpected symbol near '<eof>'",
  ),
  evaluated('bytecode is refused', '\x1bLua', (reply) => String(reply).startsWith('-ERR Error compiling script')),
  evaluated(
    'large integers are printed whole',
    "return string.format('%d|%x|%5d', 1e15, 2^40, 7)",
    '1000000000000000|10000000000|    7',
  ),
  evaluated('cjson writes and reads', `return cjson.encode(cjson.decode('{"a":[1,null,"x"]}'))`, '{"a":[1,null,"x"]}'),
  evaluated('cmsgpack writes and reads', 'return {cmsgpack.unpack(cmsgpack.pack(1,{2,3}))}', [1, [2, 3]]),
  evaluated('struct writes and reads', "return {struct.unpack('>I2', struct.pack('>I2', 513))}", [513, 3]),
  evaluated('bit works on 32 bits', 'return bit.bxor(bit.lshift(1, 31), 1)', -2147483647),
  evaluated(
    'a first line with no-writes forbids writing',
    "#!lua flags=no-writes\nreturn redis.call('set','k','v')",
    failed('ERR Write commands are not allowed from read-only scripts.'),
    [],
  ),
  evaluated(
    'an unknown flag in the first line is refused',
    '#!lua flags=foo\nreturn 1',
    '-ERR Unexpected flag in script shebang: foo',
  ),
  kvCase(
    'with allow-key-locking only declared keys may be named',
    [],
    ['EVAL', "#!lua flags=allow-key-locking\nreturn redis.call('get','other')", '1', 'k'],
    (reply) =>
      String(reply).startsWith(
        "-ERR Dynamic keys are not allowed in Lua scripts when 'allow-key-locking' flag is set. Key was: other",
      ),
  ),
  kvCase('EVALSHA runs a script that EVAL has run', ['EVAL return\\x201 0'], ['EVALSHA', ONE, '0'], 1),
  kvCase('EVALSHA refuses an unknown digest', ['SCRIPT FLUSH'], ['EVALSHA', ONE, '0'], NO_SCRIPT),
  kvCase('EVALSHA refuses an invalid digest', [], ['EVALSHA', 'x', 'y'], NO_SCRIPT),
  kvCase('EVALSHA needs a number of keys', [], 'EVALSHA x', wrongArity('evalsha')),
  kvCase('EVAL_RO reads', ['SET k v'], ['EVAL_RO', "return redis.call('get','k')", '0'], 'v', []),
  kvCase(
    'EVAL_RO does not write',
    [],
    ['EVAL_RO', "return redis.call('set','k','v')", '0'],
    failed('ERR Write commands are not allowed from read-only scripts.'),
    [],
  ),
  kvCase('EVAL_RO needs a number of keys', [], 'EVAL_RO x', wrongArity('eval_ro')),
  kvCase('EVALSHA_RO runs a known script', ['SCRIPT LOAD return\\x201'], ['EVALSHA_RO', ONE, '0'], 1),
  kvCase('EVALSHA_RO needs a number of keys', [], 'EVALSHA_RO x', wrongArity('evalsha_ro')),
  kvCase('SCRIPT LOAD answers the digest', [], ['SCRIPT', 'LOAD', 'return 1'], ONE, []),
  ...['-2, 2147483647', '0, 2147483647', '-2147483648, -2'].map((range) =>
    kvCase(
      `EVAL refuses to unpack more values than the stack holds: ${range}`,
      [],
      ['EVAL', `return {unpack({1}, ${range})}`, '0'],
      (reply) => String(reply).includes('too many results to unpack'),
    ),
  ),
  kvCase('EVAL unpacks missing values as nil', [], ['EVAL', "return select('#', unpack({1,2}, -1, 3))", '0'], 5),
  kvCase('SCRIPT LOAD takes one script', [], 'SCRIPT LOAD', wrongArity('script|load')),
  kvCase(
    'SCRIPT EXISTS answers 1 for known scripts',
    ['SCRIPT LOAD return\\x201'],
    ['SCRIPT', 'EXISTS', ONE, 'x'],
    [1, 0],
  ),
  kvCase('SCRIPT EXISTS needs a digest', [], 'SCRIPT EXISTS', wrongArity('script|exists')),
  kvCase(
    'SCRIPT FLUSH forgets all scripts',
    ['SCRIPT LOAD return\\x201', 'SCRIPT FLUSH SYNC'],
    ['SCRIPT', 'EXISTS', ONE],
    [0],
  ),
  kvCase(
    'SCRIPT FLUSH refuses an unknown mode',
    [],
    'SCRIPT FLUSH FOO',
    '-ERR SCRIPT FLUSH only support SYNC|ASYNC option',
  ),
  kvCase('SCRIPT KILL answers NOTBUSY without a running script', [], 'SCRIPT KILL', KILL),
  kvCase('SCRIPT KILL refuses further words', [], 'SCRIPT KILL x', wrongArity('script|kill')),
  kvCase('SCRIPT HELP lists the subcommands', [], 'SCRIPT HELP', (reply) => (reply as unknown[]).includes('+KILL')),
  kvCase('SCRIPT HELP refuses further words', [], 'SCRIPT HELP x', wrongArity('script|help')),
];
