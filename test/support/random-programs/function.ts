/** Function commands: libraries are loaded, replaced, broken, called, listed and deleted. */
import type { Program } from './dice.js';

const LIBRARIES = ['one', 'two', 'three'];
const FUNCTIONS = ['f', 'g', 'h'];
const CALLBACKS = [
  'function(k,a) return {k,a} end',
  'function(k,a) return redis.call("incr",k[1]) end',
  'function() return redis.call("set","k","v") end',
  'function() return KEYS end',
  'function() error("boom") end',
  'function() redis.register_function("x",function() end) end',
  'function() return #redis.call("keys","*") end',
];
const HEADERS = [
  '',
  '#!lua',
  '#!lua\n',
  '#!py name=one\n',
  '#!lua name=a-b\n',
  '#!lua name=one name=two\n',
  '#!lua foo=1\n',
];
const BODIES = [
  '',
  'return 1',
  'x=',
  'x=1',
  'redis.call("get","k")',
  'redis.register_function("f")',
  'redis.register_function("f",1)',
  'redis.register_function("f-x",function() end)',
  'redis.register_function("f",function() end) redis.register_function("f",function() end)',
  'redis.register_function{function_name="f"}',
  'redis.register_function{callback=function() end}',
  'redis.register_function{function_name="f",callback=1}',
  'redis.register_function{function_name="f",callback=function() end,flags="x"}',
  'redis.register_function{function_name="f",callback=function() end,flags={"x"}}',
  'redis.register_function{function_name="f",callback=function() end,foo=1}',
  'redis.register_function{function_name="f",callback=function() end,description=true}',
  'redis.register_function(1,2,3)',
  'redis.register_function({},function() end)',
  'redis.register_function()',
  'redis.call()',
];

export const FUNCTION_PROGRAM: Program = (dice) => {
  const library = (): string => {
    const functions = new Set(dice.some(() => dice.pick(FUNCTIONS), 2));
    const lines = [...functions].map((name) => {
      const callback = dice.pick(CALLBACKS);
      if (dice.chance(0.6)) return `redis.register_function('${name}', ${callback})`;
      const flags = dice.pick([
        '',
        ",flags={'no-writes'}",
        ",flags={'allow-oom','no-writes'}",
        ",description='what it does'",
      ]);
      return `redis.register_function{function_name='${name}',callback=${callback}${flags}}`;
    });
    return `#!lua name=${dice.pick(LIBRARIES)}\n${lines.join('\n')}`;
  };
  const call = (): string[] => ['FCALL', dice.pick([...FUNCTIONS, 'nosuch']), '1', 'n', dice.pick(['a', 'b'])];
  return [
    () => ['FUNCTION', 'LOAD', library()],
    () => ['FUNCTION', 'LOAD', 'REPLACE', library()],
    () => [
      'FUNCTION',
      'LOAD',
      ...dice.maybe(() => ['REPLACE'], 0.3),
      `#!lua name=${dice.pick(LIBRARIES)}\n${dice.pick(BODIES)}`,
    ],
    () => ['FUNCTION', 'LOAD', dice.pick(HEADERS)],
    () => ['FUNCTION', 'LOAD', 'FOO', library()],
    call,
    call,
    call,
    () => ['FCALL', dice.pick(FUNCTIONS), dice.pick(['0', '-1', 'x', '5']), ...dice.maybe(() => ['k'])],
    () => ['FCALL_RO', 'nosuch', '0'],
    () => ['FUNCTION', 'DELETE', dice.pick([...LIBRARIES, 'nosuch'])],
    () => [
      'FUNCTION',
      'LIST',
      ...dice.maybe(() => ['WITHCODE']),
      ...dice.maybe(() => ['LIBRARYNAME', dice.pick(['*', 'one', 't*'])]),
    ],
    () => ['FUNCTION', 'LIST', dice.pick(['LIBRARYNAME', 'FOO'])],
    () => ['FUNCTION', 'STATS'],
    () => ['FUNCTION', 'KILL'],
    () => ['FUNCTION', 'RESTORE', dice.pick(['', 'xxxxxxxxxxxx']), ...dice.maybe(() => [dice.pick(['FLUSH', 'FOO'])])],
    () => ['FUNCTION', 'FLUSH', ...dice.maybe(() => [dice.pick(['SYNC', 'ASYNC', 'FOO'])])],
    () => ['DEL', 'n', 'k'],
    () => ['SET', 'n', dice.pick(['1', 'text'])],
  ];
};
