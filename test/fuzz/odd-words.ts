/** Words that commands do not expect. Fuzz tests put them in the place of a key, a number or an option. */
import { allCommands } from '../../src/domain/kv/index.js';
import { ALL_CASES } from '../spec/kv/cases/index.js';
import { NOW, wordsOf } from '../support/kv-case.js';
import type { FuzzRandom } from './fuzz-run.js';

/** Lines that fill a keyspace with a key of every kind, small and larger. */
export const FILLING: readonly (readonly string[])[] = [
  ['MSET', 'str', 'hello', 'int', '10', 'float', '3.5', 'bytes', '\x00\xff\x80', 'empty', ''],
  ['SET', 'long', 'abc'.repeat(3000)],
  ['SET', 'fleeting', 'v', 'PXAT', String(NOW + 1000)],
  ['HSET', 'hash', 'f', 'v', 'n', '5', 'd', '1.5', '', ''],
  ['HSET', 'bighash', ...Array.from({ length: 300 }, (_, i) => [`f${i}`, `v${i}`]).flat()],
  ['HSET', 'dying', 'f', 'v', 'g', 'w'],
  ['HPEXPIREAT', 'dying', String(NOW + 500), 'FIELDS', '1', 'f'],
  ['RPUSH', 'list', 'a', 'b', 'c', '1', '2'],
  ['RPUSH', 'biglist', ...Array.from({ length: 300 }, (_, i) => `e${i % 50}`)],
  ['SADD', 'ints', '1', '2', '3'],
  ['SADD', 'set', 'a', 'b', 'c', '1'],
  ['SADD', 'bigset', ...Array.from({ length: 300 }, (_, i) => `m${i}`)],
  ['ZADD', 'zset', '1', 'a', '2', 'b', '-inf', 'c', '2', 'd'],
  ['ZADD', 'bigzset', ...Array.from({ length: 300 }, (_, i) => [String(i % 20), `m${i}`]).flat()],
  ['GEOADD', 'geo', '13.361389', '38.115556', 'a', '15.087269', '37.502669', 'b'],
  ['PFADD', 'hll', 'a', 'b', 'c'],
  ['XADD', 'stream', '1-1', 'f', 'v'],
  ['XADD', 'stream', '2-1', 'f', 'v', 'g', 'w'],
  ['XADD', 'stream', '2-2', 'a', 'b'],
  ['XGROUP', 'CREATE', 'stream', 'grp', '0'],
  ['XREADGROUP', 'GROUP', 'grp', 'alice', 'COUNT', '2', 'STREAMS', 'stream', '>'],
  ['ARMSET', 'array', '0', 'a', '1', '7', '5000', 'b', '18446744073709551614', 'z'],
  ['ARRING', 'ring', '3', 'a', '2', 'c', 'd'],
  ['VECTOR.CREATE', 'vectors', 'DIM', '2', 'METRIC', 'COSINE'],
  ['VECTOR.ADD', 'vectors', 'a', 'VALUES', '2', '1', '0'],
  ['BF.MADD', 'bloom', 'a', 'b'],
  ['CF.INSERT', 'cuckoo', 'CAPACITY', '8', 'ITEMS', 'a', 'b'],
  ['CMS.INITBYDIM', 'counts', '10', '3'],
  ['TOPK.RESERVE', 'top', '2', '8', '3', '0.9'],
  ['TDIGEST.CREATE', 'digest', 'COMPRESSION', '2'],
  ['JSON.SET', 'json', '$', '{"a":1,"b":[1,2.5,"x",null],"c":{"a":"y","d":true}}'],
];

const KEYS = FILLING.map((line) => line[1] as string).concat('missing', 'other', '', '{t}x', '{t}y');

const ODD =
  '0 1 -1 2 3 10 100 +1 01 -0 1.5 -1.5 1e3 1e400 inf -inf nan 0x10 9223372036854775807 -9223372036854775808 9223372036854775808 ' +
  '18446744073709551615 99999999999999999999 9007199254740993 4294967296 2147483648 536870912 1e-320 ( [ (1 (inf [a (a + - ' +
  '* $ > ~ = 0-0 0-1 1-1 2-* 1-99999999999999999999 18446744073709551615-18446744073709551615 5-5-5 alice bob grp a b f n ' +
  '*a* h?llo [a-z] [^ \\ 0,0 #0 u8 i64 i65 u64 u0 $.a $..a $.b[0] $.b[-1:] .a . $[ {} [] "x" null {"a":1} m km deg FULL ' +
  'constructor __proto__ toString';

const WORDS: readonly string[] = [
  ...KEYS,
  ...ODD.split(' '),
  ' 1',
  '1 ',
  '\x00',
  '\xff\xfe',
  String(NOW),
  String(NOW + 700),
  String(NOW - 1),
  'x'.repeat(70_000),
  '['.repeat(200),
  'a*'.repeat(50),
  '-'.repeat(300),
];

/** Options, subcommands and values that the cases use. */
const KNOWN_WORDS: readonly string[] = [
  ...new Set(ALL_CASES.flatMap((c) => wordsOf(c.when, NOW)).filter((word) => word.length < 200)),
];

const KNOWN_LINES: readonly (readonly string[])[] = ALL_CASES.flatMap((c) => [
  ...c.given.map((line) => wordsOf(line, NOW)),
  wordsOf(c.when, NOW),
]).filter((words) => words.length > 0);

const NAMES = allCommands().map((spec) => spec.name.split(' '));

function word(random: FuzzRandom): string {
  if (random.chance(0.35)) return random.pick(KEYS);
  if (random.chance(0.5)) return random.pick(KNOWN_WORDS);
  if (random.chance(0.05)) return random.bytes(random.below(40));
  return random.pick(WORDS);
}

/** Any command with any words behind it; often about as many as it wants. */
function strange(random: FuzzRandom): string[] {
  const name = random.pick(NAMES);
  return [...name, ...random.list(random.chance(0.1) ? 12 : 6, () => word(random))];
}

/** A command of the cases, on keys that are there, with some words exchanged. */
function nearlyRight(random: FuzzRandom): string[] {
  const words = [...random.pick(KNOWN_LINES)];
  const end = words.length > 1 && NAMES.some(([a, b]) => a === words[0] && b === words[1]?.toUpperCase()) ? 2 : 1;
  if (words.length > end && random.chance(0.6)) words[end] = random.pick(KEYS);
  for (let i = 0; i < random.below(3); i += 1) {
    const at = end + random.below(words.length - end + 1);
    if (random.chance(0.6)) words[at] = word(random);
    else if (random.chance(0.5)) words.splice(at, 1);
    else words.splice(at, 0, word(random));
  }
  return words.map((each) => each ?? '');
}

export function oddCommand(random: FuzzRandom): string[] {
  return random.chance(0.35) ? strange(random) : nearlyRight(random);
}
