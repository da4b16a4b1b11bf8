/** Commands of the JSON family with few keys and member names, so that paths collide. */
import type { Dice, Program } from './dice.js';

const NAMES = ['a', 'b', 'c', '__proto__', 'a b', '"', '\\', ''];
const NUMBERS = ['0', '-1', '7', '1.5', '2.0', '-0', '1e3', '9007199254740993', '18446744073709551615', '1e300', '0.1'];
const STRINGS = ['""', '"x"', '"\\u00e9\\n"', '"null"', '"\xc3\xa9"'];
const BAD_JSON = ['', '{', '[1,', 'nul', '01', '"\\x"', '{"a" 1}', '1 2', '"\t"'];
const BAD_PATHS = ['$[', '$.', '$..', '$[?(@.a==)]', '$.a..', '$[1:2:0]', ''];

export const json: Program = (dice) => {
  const key = (): string => dice.pick(['j1', 'j2', 'j3', 's']);
  const value = (depth = 3): string => {
    const kind = dice.below(depth > 0 ? 8 : 4);
    if (kind === 0) return dice.pick(NUMBERS);
    if (kind === 1) return dice.pick(STRINGS);
    if (kind === 2) return dice.pick(['true', 'false', 'null']);
    if (kind === 3) return String(dice.below(10));
    const items = Array.from({ length: dice.below(4) }, () => value(depth - 1));
    if (kind < 6) return `[${items.join(dice.pick([',', ' , ']))}]`;
    return `{${items.map((item) => `${JSON.stringify(dice.pick(NAMES))}:${item}`).join(',')}}`;
  };
  const json = (): string => (dice.chance(0.03) ? dice.pick(BAD_JSON) : value());
  const integer = (): string => (dice.chance(0.03) ? 'x' : String(dice.below(9) - 4));
  const path = (): string => (dice.chance(0.03) ? dice.pick(BAD_PATHS) : randomPath(dice));
  const maybePath = (): string[] => dice.maybe(() => [path()], 0.7);
  return [
    () => ['JSON.SET', key(), dice.pick(['$', '.']), json()],
    () => ['JSON.SET', key(), '$', `{"a":${value()},"b":${value()},"c":[${value()},${value()}]}`],
    () => ['JSON.SET', key(), path(), json(), ...dice.maybe(() => [dice.pick(['NX', 'XX', 'FOO'])])],
    () => ['JSON.MSET', ...dice.some(key, 3).flatMap((name) => [name, dice.pick(['$', path()]), json()])],
    () => ['JSON.MERGE', key(), path(), json()],
    () => ['JSON.GET', key(), ...maybePath(), ...maybePath()],
    () => ['JSON.GET', key(), 'INDENT', ' ', 'NEWLINE', '\n', 'SPACE', ' ', path()],
    () => ['JSON.MGET', ...dice.some(key, 3), path()],
    () => ['JSON.DEL', key(), ...maybePath()],
    () => ['JSON.FORGET', key(), path()],
    () => ['JSON.CLEAR', key(), ...maybePath()],
    () => ['JSON.TYPE', key(), ...maybePath()],
    () => ['JSON.STRLEN', key(), ...maybePath()],
    () => ['JSON.STRAPPEND', key(), ...maybePath(), dice.pick([...STRINGS, json()])],
    () => ['JSON.NUMINCRBY', key(), path(), dice.pick([...NUMBERS, json()])],
    () => ['JSON.NUMMULTBY', key(), path(), dice.pick(NUMBERS)],
    () => ['JSON.NUMPOWBY', key(), path(), dice.pick(['2', '3', '0', '-1', '0.5', '70'])],
    () => ['JSON.TOGGLE', key(), path()],
    () => ['JSON.ARRAPPEND', key(), path(), ...dice.some(json, 3)],
    () => ['JSON.ARRINDEX', key(), path(), json(), ...dice.maybe(() => [integer(), ...dice.maybe(() => [integer()])])],
    () => ['JSON.ARRINSERT', key(), path(), integer(), ...dice.some(json, 3)],
    () => ['JSON.ARRLEN', key(), ...maybePath()],
    () => ['JSON.ARRPOP', key(), ...dice.maybe(() => [path(), ...dice.maybe(() => [integer()])])],
    () => ['JSON.ARRTRIM', key(), path(), integer(), integer()],
    () => ['JSON.OBJKEYS', key(), ...maybePath()],
    () => ['JSON.OBJLEN', key(), ...maybePath()],
    () => ['JSON.RESP', key(), ...maybePath()],
    () => ['JSON.DEBUG', 'MEMORY', key(), ...maybePath()],
    () =>
      dice.pick([
        ['DEL', key()],
        ['SET', 's', 'v'],
        ['TYPE', key()],
        ['PEXPIRE', key(), '100000'],
      ]),
  ];
};

function randomPath(dice: Dice): string {
  const quoted = (): string => JSON.stringify(dice.pick(NAMES));
  const selector = (): string =>
    dice.pick([
      '*',
      String(dice.below(5) - 2),
      `${dice.below(3)}:`,
      `:${dice.below(5) - 2}`,
      `::${1 + dice.below(2)}`,
      quoted(),
      `${quoted()},${quoted()}`,
      `${dice.below(3)},-1,${dice.below(3)}`,
      `?(@.a${dice.pick(['==', '!=', '<', '<=', '>', '>='])}${dice.pick(NUMBERS)})`,
      `?(@=="x"||!@.b&&@..a)`,
      `?(@=~"^[a-x]")`,
      `?($.a==@)`,
    ]);
  const step = (): string =>
    dice.pick([
      `.${dice.pick(['a', 'b', 'c', '*'])}`,
      `[${selector()}]`,
      `..${dice.pick(['a', '*', 'b'])}`,
      `..[${selector()}]`,
    ]);
  const plain = (): string => dice.pick(['.a', '.b', '.c', '[0]', '["a"]', '[1]']);
  const steps = Array.from({ length: dice.below(4) }, dice.chance(0.5) ? plain : step).join('');
  if (dice.chance(0.7)) return `$${steps}`;
  return steps === '' ? '.' : steps;
}
