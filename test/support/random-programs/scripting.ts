/** Random scripts: conversions in both directions, errors, and every library of scripts. */
import type { Dice, Program } from './dice.js';

const STRINGS = ["''", "'a'", "'10'", "'a b'", "'\\0\\255'", "'x=1, y=22'", "'(hello) world'", "'1e3'", "'k/\"q\\\\'"];
const NUMBERS = ['0', '1', '-1', '3.5', '-3.5', '1e15', '2^31', '2^53', '-2^31', '100', '0.25', '255'];
const KEYS = ['k1', 'k2', 'k3'];
const JSON_TEXTS = [
  '[1,2,3]',
  '{"a":1}',
  '{"a":{"b":[null,true]}}',
  '[1,]',
  '[1 2]',
  '{"a" 1}',
  '{1:2}',
  '"\\u00e9\\ud83d\\ude00"',
  '"\\ud83d"',
  '"\\x"',
  '"abc',
  'nul',
  'true',
  ' 12 ',
  '-',
  '0x1f',
  '1e2.5',
  '[[[]]]',
  '{"a":1}x',
  '',
  'inf',
  '01',
];
const PATTERNS = [
  'l+',
  '(%w+)=(%d+)',
  '^%((.-)%)',
  '%s*',
  '[%a_][%w_]*',
  '[^,]+',
  '.-o',
  '%b()',
  '%f[%w]%w+',
  '()%w()',
  '[a-c]',
  '[]x]',
  '(%w)%1',
  'o$',
  '^',
  '$',
  '%',
  '[a',
  '(',
  ')',
  '%b',
  '(()',
  '.',
  'x*',
  '%d-%s',
];
const FORMATS = ['<i4', '>I2', 'bB', '!4 bi', 'd', 'f', 's', 'c3', 'hH', 'i3', 'xB', '>l', 'q', 'i33', '!3 i', 'Bc0'];
const PRINTED = ['%d', '%5.2f', '%s', '%q', '%x', '%g', '%c', '%e', '%5s|', '%-5s|', '%i', '%y', '%%', '%.3s', '%05d'];
const BITS = ['band', 'bor', 'bxor', 'lshift', 'rshift', 'arshift', 'rol', 'ror'];
const SHOWN =
  "local r={pcall(f)} for i=1,#r do if type(r[i])=='number' or type(r[i])=='boolean' then r[i]=tostring(r[i]) end end return r";

function literal(dice: Dice, depth: number): string {
  if (depth > 0 && dice.chance(0.45)) {
    const items = Array.from({ length: dice.below(4) }, () => literal(dice, depth - 1));
    const fields = dice.maybe(() => [
      `${dice.pick(['a', 'ok', 'err', 'b', 'map', 'double'])}=${literal(dice, depth - 1)}`,
    ]);
    return `{${[...items, ...fields].join(',')}}`;
  }
  return dice.chance(0.5) ? dice.pick(STRINGS) : dice.pick([...NUMBERS, 'true', 'false', 'nil']);
}

/** A table without `nil` and with keys of one kind, which has a single notation. */
function plain(dice: Dice, depth: number): string {
  if (depth === 0 || dice.chance(0.3)) return dice.pick([...STRINGS, ...NUMBERS, 'true', 'cjson.null']);
  if (dice.chance(0.3)) return `{a=${plain(dice, depth - 1)}}`;
  return `{${Array.from({ length: dice.below(4) }, () => plain(dice, depth - 1)).join(',')}}`;
}

function command(dice: Dice, access: 'any' | 'read'): string {
  const key = (): string => `'${dice.pick(KEYS)}'`;
  const value = (): string => dice.pick(["'a'", "'b'", '1', '2', '-5', '3000000000']);
  const reads = [
    () => `'get',${key()}`,
    () => `'llen',${key()}`,
    () => `'hgetall',${key()}`,
    () => `'exists',${key()},${key()}`,
    () => `'smembers',${key()}`,
    () => `'zscore',${key()},'m'`,
    () => `'lrange',${key()},0,-1`,
    () => `'type',${key()}`,
    () => `'nosuch',${key()}`,
    () => `'get'`,
    () => 'true',
    () => '',
    () => `'eval','return 1',0`,
    () => `'multi'`,
    () => `'ping'`,
  ];
  const writes = [
    () => `'set',${key()},${value()}`,
    () => `'incr',${key()}`,
    () => `'rpush',${key()},${value()}`,
    () => `'hset',${key()},'f',${value()}`,
    () => `'sadd',${key()},'one'`,
    () => `'zadd',${key()},${dice.below(9)},'m'`,
    () => `'del',${key()}`,
    () => `'lpop',${key()}`,
    () => `'set',${key()}`,
  ];
  const made = dice.pick(access === 'read' || dice.chance(0.5) ? reads : writes)();
  return `redis.${dice.pick(['call', 'pcall'])}(${made})`;
}

/** The body of a script. */
function body(dice: Dice): string {
  const text = (): string => dice.pick(STRINGS);
  const number = (): string => dice.pick(NUMBERS);
  const shown = (expression: string): string => `local f=function() return ${expression} end ${SHOWN}`;
  return dice.pick([
    () => `return ${literal(dice, 3)}`,
    () => `return ${literal(dice, 3)}`,
    () => `return {${command(dice, 'any')},${command(dice, 'any')}}`,
    () => `${command(dice, 'any')} return ${command(dice, 'any')}`,
    () => `redis.setresp(3) return ${command(dice, 'any')}`,
    () => `redis.setresp(3) return ${literal(dice, 2)}`,
    () => `local r=${command(dice, 'any')} return type(r)`,
    () => `local ok,e=pcall(function() return ${command(dice, 'any')} end) return {tostring(ok),type(e)}`,
    () => `return cjson.encode(${plain(dice, 3)})`,
    () => shown(`cjson.encode(${literal(dice, 1)})`),
    () => `local ok,e=pcall(cjson.decode,ARGV[1]) return {tostring(ok),ok and cjson.encode(e) or e}`,
    () => `return cjson.encode(cjson.decode(cjson.encode(${plain(dice, 3)})))`,
    () => `return cmsgpack.pack(${plain(dice, 2).replaceAll('cjson.null', 'nil')},${literal(dice, 0)})`,
    () => `return {cmsgpack.unpack(cmsgpack.pack(${literal(dice, 2)},${number()}))}`,
    () => shown(`cmsgpack.unpack(${text()}..${text()})`),
    () => `return {pcall(struct.pack,'${dice.pick(FORMATS)}',${number()},${text()})}`,
    () =>
      shown(
        `struct.pack('${dice.pick(FORMATS)}${dice.pick(FORMATS)}',${dice.pick(NUMBERS.slice(0, 3))},${dice.pick(NUMBERS.slice(0, 3))},${text()})`,
      ),
    () => shown(`struct.unpack('${dice.pick(FORMATS)}','\\3\\0abcdefgh\\0',${dice.below(4)})`),
    () => shown(`struct.size('${dice.pick(FORMATS)}')`),
    () => shown(`bit.${dice.pick(BITS)}(${number()},${dice.pick(['0', '1', '31', '33', '7', '-1'])})`),
    () => shown(`bit.tohex(${number()},${dice.pick(['8', '4', '-4', '0', '-9'])})`),
    () => shown(`bit.${dice.pick(['tobit', 'bnot', 'bswap'])}(${number()})`),
    () => shown(`string.find(${text()},'${dice.pick(PATTERNS)}',${dice.pick(['1', '2', '-2', '9'])})`),
    () => shown(`string.match(${text()},'${dice.pick(PATTERNS)}')`),
    () =>
      shown(
        `string.gsub(${text()},'${dice.pick(PATTERNS)}',${dice.pick(["'<%0>'", "'%1'", "'%%'", '{a=1}', 'string.upper', '5'])})`,
      ),
    () =>
      `local r={} for a,b in string.gmatch(${text()},'${dice.pick(PATTERNS.slice(0, 16))}') do r[#r+1]=tostring(a)..tostring(b) end return r`,
    () => shown(`string.format('${dice.pick(PRINTED)}',${dice.pick([text(), number()])})`),
    () =>
      shown(
        `${dice.pick(['tonumber', 'tostring', 'type', 'string.len', 'math.floor'])}(${dice.pick([text(), number()])})`,
      ),
    () => `error(${dice.pick([...STRINGS, '5', "{err='MY err'}", 'nil', "'x',0", "'x',2"])})`,
    () =>
      `return redis.${dice.pick(['error_reply', 'status_reply', 'sha1hex'])}(${dice.pick([text(), "'-A b'", '1', '', '{}'])})`,
    () =>
      `return redis.${dice.pick(['setresp', 'acl_check_cmd'])}(${dice.pick(['2', '3', '4', "'get','x'", "'nosuch'", ''])})`,
    () => `return redis.set_repl(${dice.pick(['redis.REPL_ALL', '3', '4'])})`,
    () =>
      dice.pick([
        'return nosuch',
        'x=1',
        'redis.call=1',
        'return KEYS[1]..#KEYS',
        'return {KEYS,ARGV}',
        'return',
        'x=',
        'setmetatable(_G,{})',
      ]),
    () =>
      dice.pick([
        'return {pcall(error)}',
        'return unpack(ARGV)',
        "rawset(string,'x',1)",
        "getmetatable('').x=1",
        'return ("a"):rep(3)',
        'local a={} a[1]=a return cjson.encode(a)',
      ]),
    () => 'local t={} for i=1,#ARGV do t[i]=ARGV[i] end table.sort(t) return table.concat(t,KEYS[1] or "")',
    () => 'local c=coroutine.wrap(function(a) local b=coroutine.yield(a) return b end) return {c(1),c(2)}',
    () => shown(`math.random(0)`),
  ])();
}

export const SCRIPTING_PROGRAM: Program = (dice) => {
  let isFirst = true;
  const known = ['e0e1f9fabfc9d4800c877a703b823ac0578ff8db', 'a42059b356c875f0717db19a51f6aaca9ae659ea', 'x'];
  const keysAndArguments = (): string[] => {
    const keys = Array.from({ length: dice.below(3) }, () => dice.pick(KEYS));
    const count = dice.chance(0.04) ? dice.pick(['-1', 'x', '9', '1.5']) : String(keys.length);
    return [count, ...keys, ...dice.maybe(() => dice.some(() => dice.pick(JSON_TEXTS), 3), 0.8)];
  };
  const shebang = (): string =>
    dice.chance(0.06)
      ? `#!${dice.pick(['lua', 'lua', 'py'])} flags=${dice.pick(['no-writes', 'allow-oom', 'x', ''])}\n`
      : '';
  const shapes = [
    ...Array.from({ length: 12 }, () => () => ['EVAL', `${shebang()}${body(dice)}`, ...keysAndArguments()]),
    () => ['EVAL_RO', `${shebang()}return ${command(dice, 'any')}`, ...keysAndArguments()],
    () => ['EVAL_RO', `return ${command(dice, 'read')}`, '0'],
    () => [dice.pick(['EVALSHA', 'EVALSHA_RO']), dice.pick(known), ...keysAndArguments()],
    () => ['SCRIPT', 'LOAD', dice.pick(['return 1', 'return 2', 'x=', '#!lua', '#!lua foo\nreturn 1'])],
    () => ['SCRIPT', 'EXISTS', ...dice.some(() => dice.pick(known), 3)],
    () => ['SCRIPT', 'KILL'],
    () => ['SET', dice.pick(KEYS), 'text'],
    () => ['DEL', dice.pick(KEYS), dice.pick(KEYS)],
  ];
  return shapes.map((shape) => () => {
    if (!isFirst) return shape();
    isFirst = false;
    return ['SCRIPT', 'FLUSH', ...dice.maybe(() => [dice.pick(['SYNC', 'ASYNC'])])];
  });
};
