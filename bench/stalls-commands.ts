/** Commands of a database that are as large as a command may be, or about values that are. */

import { until } from './child.js';
import { KEYS, keyAt, load, valueAt } from './data-set.js';
import { sized } from './sizes.js';
import type { Stall, StallStand } from './stalls.js';
import { bulkOf, encoded, type Words } from './stalls-link.js';

const MANY = sized(50_000, 5000);
const WORDS = sized(1_000_000, 50_000);
const MEMBERS = sized(200_000, 20_000);
const ENTRIES = sized(100_000, 5000);
export const DOCUMENT_BYTES = sized(10, 1) * 1024 * 1024 - 1024;
const FIELDS_OF_AN_ENTRY = 100;
/** Fewer keys: the commands that set the time of expiry must finish before it comes. */
const EXPIRING = Math.min(KEYS, 200_000);
const RECOVERY_MS = 60_000;

const numbered = <T>(count: number, itemAt: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => itemAt(i));
const keys = numbered(MANY, (i) => keyAt(i * 7));
const fields = numbered(MANY, (i) => `field:${i}`);
const pairs = (names: readonly string[]) => names.flatMap((name, i) => [name, valueAt(i)]);
const scored = (names: readonly string[]) => names.flatMap((name, i) => [`${(i * 7919) % names.length}`, name]);
const words = numbered(WORDS, (i) => `word:${i}`);
const members = numbered(MEMBERS, (i) => `member:${i}`);
const long = 'l'.repeat(DOCUMENT_BYTES);

/** JSON of this size: objects with few members, like rows of a table. */
export function documentOf(bytes: number): string {
  const row = (i: number) => `{"id":${i},"name":"row ${i}","is":true,"tags":["a","b"],"at":{"x":${i / 7},"y":null}}`;
  const rows: string[] = [];
  for (let length = 2, i = 0; ; i += 1) {
    const text = row(i);
    length += text.length + 1;
    if (length > bytes) return `[${rows.join(',')}]`;
    rows.push(text);
  }
}
const document = documentOf(DOCUMENT_BYTES);

const ask =
  (...command: Words) =>
  (stand: StallStand) =>
    stand.link.ask(...command);
/** A command that is encoded before the measurement. */
function command(name: string, asked: Words, ...before: readonly Words[]): Stall {
  return { name, before: (stand) => all(stand, before), work: sent(asked) };
}
function transaction(name: string, commands: readonly Words[]): Stall {
  let bytes: Buffer | undefined;
  return {
    name,
    work: (stand) => {
      bytes ??= Buffer.concat([['MULTI'], ...commands, ['EXEC']].map(encoded));
      return stand.link.send(bytes);
    },
  };
}
function sent(asked: Words): (stand: StallStand) => Promise<unknown> {
  let bytes: Buffer | undefined;
  return (stand) => {
    bytes ??= encoded(asked);
    return stand.link.send(bytes);
  };
}
async function all(stand: StallStand, asked: readonly Words[]): Promise<void> {
  for (const words of asked) await stand.link.ask(...words);
}
/** Commands that fill a key in portions that the engine runs quickly, so that only the command after them is measured. */
function filled(name: string, key: string, all: readonly string[]): Words[] {
  const steps: Words[] = [['DEL', key]];
  for (let at = 0; at < all.length; at += 10_000) steps.push([name, key, ...all.slice(at, at + 10_000)]);
  return steps;
}

const entries = (stand: StallStand) =>
  all(stand, [
    ['DEL', 'stream'],
    ['EVAL', `for i = 1, ${ENTRIES} do redis.call('XADD', KEYS[1], '*', 'f', i) end`, '1', 'stream'],
  ]);
const dumped = new Map<string, Buffer>();
const dump = async (stand: StallStand, key: string) => dumped.set(key, bulkOf(await stand.link.ask('DUMP', key)));

export const MANY_KEYS: readonly Stall[] = [
  // Runs first, because later commands make the journal longer.
  {
    name: `recovery of ${KEYS} keys`,
    work: async (stand) => {
      await stand.restart();
      await until(async () => (await stand.millrace.command('DBSIZE')) !== undefined, RECOVERY_MS, 'the recovery');
    },
    repeats: 2,
  },
  command('KEYS with a pattern that few match', ['KEYS', 'key:00000000001*']),
  command('KEYS *', ['KEYS', '*']),
  command('SCAN 0 COUNT 1000000', ['SCAN', '0', 'COUNT', '1000000']),
  command('RANDOMKEY', ['RANDOMKEY']),
  command('DBSIZE', ['DBSIZE']),
  command(`MGET of ${MANY} keys`, ['MGET', ...keys]),
  command(`EXISTS of ${MANY} keys`, ['EXISTS', ...keys]),
  command(`MSET of ${MANY} keys`, ['MSET', ...pairs(keys)]),
  command(`DEL of ${MANY} keys`, ['DEL', ...keys], ['MSET', ...pairs(keys)]),
  command(`UNLINK of ${MANY} keys`, ['UNLINK', ...keys], ['MSET', ...pairs(keys)]),
  {
    name: '20 transactions of 100 SETs',
    work: async ({ millrace }) => {
      const sets = numbered(100, (i) => ['SET', keyAt(i), valueAt(i)]);
      for (let i = 0; i < 20; i += 1) await millrace.post('/multi-exec', sets);
    },
  },
  transaction(
    `MULTI of ${MANY} SETs`,
    numbered(MANY, (i) => ['SET', keyAt(i), valueAt(i)]),
  ),
  {
    name: `${EXPIRING} keys that expire at once`,
    before: async ({ millrace }, progress) => {
      const atMs = String(Date.now() + 8000);
      for (let from = 0; from < EXPIRING; from += 10_000) {
        await millrace.post(
          '/pipeline',
          numbered(10_000, (i) => ['PEXPIREAT', keyAt(from + i), atMs]),
        );
      }
      progress('waiting until they are due');
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, Number(atMs) - Date.now() - 50)));
    },
    work: ({ link }) => link.ask('DBSIZE').then(() => new Promise((resolve) => setTimeout(resolve, 3000))),
    repeats: 1,
  },
  {
    name: 'eviction of a tenth of all keys',
    before: async (stand, progress) => {
      await load(stand.millrace, KEYS, progress);
      const used = /used_memory:(\d+)/.exec((await stand.link.ask('INFO', 'memory')).toString())?.[1];
      await all(stand, [
        ['CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru'],
        ['CONFIG', 'SET', 'maxmemory', String(Math.round(Number(used) * 0.9))],
      ]);
    },
    work: async (stand) => {
      // Commands are refused while more memory waits to be freed than one command may use.
      for (let i = 0; i < 100; i += 1) await stand.link.ask('SET', `new:${i}`, 'value').catch(() => undefined);
    },
    after: ask('CONFIG', 'SET', 'maxmemory', '0'),
    repeats: 1,
  },
  { ...command('FLUSHDB', ['FLUSHDB']), before: ({ millrace }, progress) => loaded(millrace, progress), repeats: 2 },
  { ...command('FLUSHALL', ['FLUSHALL']), before: ({ millrace }, progress) => loaded(millrace, progress), repeats: 2 },
];

async function loaded(millrace: StallStand['millrace'], progress: (line: string) => void): Promise<void> {
  await load(millrace, KEYS, progress);
}

export const COLLECTIONS: readonly Stall[] = [
  command(`HSET of ${MANY} fields`, ['HSET', 'fresh', ...pairs(fields)], ['DEL', 'fresh']),
  command(`HMGET of ${MANY} fields`, ['HMGET', 'fresh', ...fields]),
  command(`HDEL of ${MANY} fields`, ['HDEL', 'fresh', ...fields], ['HSET', 'fresh', ...pairs(fields)]),
  command(`ZADD of ${MANY} members`, ['ZADD', 'zfresh', ...scored(fields)], ['DEL', 'zfresh']),
  command(`RPUSH of ${WORDS} words`, ['RPUSH', 'pushed', ...words], ['DEL', 'pushed']),
  command(`LRANGE of all ${WORDS}`, ['LRANGE', 'pushed', '0', '-1']),
  { name: 'LRANGE of half of them, REST', work: (stand) => stand.rest(`/lrange/pushed/0/${WORDS / 2}`) },
  command(`SORT of ${WORDS} ALPHA`, ['SORT', 'pushed', 'ALPHA']),
  command('COPY of that list', ['COPY', 'pushed', 'copied', 'REPLACE']),
  command('DEL of the copy', ['DEL', 'copied'], ['COPY', 'pushed', 'copied', 'REPLACE']),
  command(`LPUSH of ${WORDS} words`, ['LPUSH', 'pushed', ...words], ['DEL', 'pushed']),
  command(`SADD of ${WORDS} words`, ['SADD', 'sadded', ...words], ['DEL', 'sadded']),
  command('SMEMBERS of them', ['SMEMBERS', 'sadded']),
  {
    ...command(`HGETALL of ${MEMBERS} fields`, ['HGETALL', 'hash']),
    before: async (stand) => {
      await all(stand, filled('HSET', 'hash', pairs(members)));
    },
    repeats: 1,
  },
  command('COPY of that hash', ['COPY', 'hash', 'copied', 'REPLACE']),
  command('DEL of the copy of the hash', ['DEL', 'copied'], ['COPY', 'hash', 'copied', 'REPLACE']),
  {
    ...command('ZUNIONSTORE of two', ['ZUNIONSTORE', 'zstored', '2', 'zset', 'zother']),
    before: async (stand) => {
      await all(stand, [['DEL', 'hash', 'copied', 'fresh', 'zfresh']]);
      await all(stand, filled('ZADD', 'zset', scored(members)));
      await all(stand, filled('ZADD', 'zother', scored(members.map((name) => `o${name}`))));
    },
    repeats: 1,
  },
  command('EVAL that calls it', ['EVAL', "return redis.call('ZUNIONSTORE','zstored',2,'zset','zother')", '0']),
  command(`EVAL that calls ZRANGE of all ${MEMBERS}`, ['EVAL', "return #redis.call('ZRANGE','zset',0,-1)", '0']),
  command('EVAL that calls SORT of them', ['EVAL', "return redis.call('SORT','zset','ALPHA','STORE','sorted')", '0']),
  command(`ZRANGE of all ${MEMBERS}`, ['ZRANGE', 'zset', '0', '-1', 'WITHSCORES']),
  command('COPY of a sorted set', ['COPY', 'zset', 'copied', 'REPLACE']),
  {
    ...command('SUNION of two', ['SUNION', 'sadded', 'sother']),
    before: async (stand) => {
      await all(stand, [['DEL', 'zset', 'zother', 'zstored', 'sorted', 'copied', 'pushed']]);
      await all(stand, filled('SADD', 'sother', members));
    },
    repeats: 1,
  },
  command('SUNIONSTORE of two', ['SUNIONSTORE', 'sstored', 'sadded', 'sother']),
  { name: `XTRIM of ${ENTRIES}`, before: entries, work: ask('XTRIM', 'stream', 'MAXLEN', '0') },
  { name: 'XADD with MAXLEN 1', before: entries, work: ask('XADD', 'stream', 'MAXLEN', '1', '*', 'f', 'v') },
  { name: 'XRANGE of all', before: entries, work: ask('XRANGE', 'stream', '-', '+') },
  command(`XADD of ${FIELDS_OF_AN_ENTRY * 500} fields`, [
    'XADD',
    'wide',
    '*',
    ...pairs(numbered(FIELDS_OF_AN_ENTRY * 500, String)),
  ]),
  command(`XADD of ${ENTRIES * 4} fields`, ['XADD', 'wide', '*', ...numbered(ENTRIES * 8, String)]),
  {
    name: `DUMP of a stream with ${ENTRIES} pending`,
    before: async (stand) => {
      await entries(stand);
      await all(stand, [
        ['XGROUP', 'CREATE', 'stream', 'group', '0'],
        ['XREADGROUP', 'GROUP', 'group', 'consumer', 'STREAMS', 'stream', '>'],
      ]);
    },
    work: (stand) => dump(stand, 'stream'),
  },
  {
    name: 'RESTORE of it (stream)',
    work: (stand) => stand.link.ask('RESTORE', 'restored', '0', dumped.get('stream') as Buffer, 'REPLACE'),
  },
];

const SMALL_TABLES = "local t={} for i=1,100000 do t[i]={id=i,name='row-'..i,ok=true} end";

export const LARGE_VALUES: readonly Stall[] = [
  command('SET of 10 MiB, native', ['SET', 'long', long]),
  command('GET of it', ['GET', 'long']),
  command('APPEND to it', ['APPEND', 'long', 'more']),
  command('DUMP of it', ['DUMP', 'long']),
  command('PFADD of an element of 10 MiB', ['PFADD', 'counter', long]),
  {
    name: 'RESTORE of it',
    before: async (stand) => void (dumped.has('long') || (await dump(stand, 'long'))),
    work: (stand) => stand.link.ask('RESTORE', 'restored', '0', dumped.get('long') as Buffer, 'REPLACE'),
  },
  ...['hash10', 'zset10', 'list10'].flatMap((key) => [
    {
      name: `DUMP of ${key}`,
      before: async (stand: StallStand) => {
        if (dumped.has(key)) return;
        const count = Math.round(MEMBERS / 5);
        const some = members.slice(0, count);
        const [name, all10] =
          key === 'hash10'
            ? (['HSET', pairs(some)] as const)
            : key === 'zset10'
              ? (['ZADD', scored(members)] as const)
              : (['RPUSH', pairs(some)] as const);
        await all(stand, filled(name, key, all10));
      },
      work: (stand: StallStand) => dump(stand, key),
    },
    {
      name: `RESTORE of ${key}`,
      work: (stand: StallStand) => stand.link.ask('RESTORE', 'restored', '0', dumped.get(key) as Buffer, 'REPLACE'),
    },
  ]),
  command('JSON.SET of 10 MiB, native', ['JSON.SET', 'doc', '$', document]),
  command('JSON.GET of it', ['JSON.GET', 'doc']),
  command('JSON.GET $ of it', ['JSON.GET', 'doc', '$']),
  command('JSON.GET $..x', ['JSON.GET', 'doc', '$..x']),
  command('JSON.NUMINCRBY $..id', ['JSON.NUMINCRBY', 'doc', '$..id', '1']),
  command('COPY of it', ['COPY', 'doc', 'doc2', 'REPLACE']),
  command('DEL of a copy of it', ['DEL', 'doc2'], ['COPY', 'doc', 'doc2', 'REPLACE']),
  { name: 'DUMP of it (document)', work: (stand) => dump(stand, 'doc') },
  {
    name: 'RESTORE of it (document)',
    work: (stand) => stand.link.ask('RESTORE', 'doc2', '0', dumped.get('doc') as Buffer, 'REPLACE'),
  },
  command('EVAL with an argument of 10 MiB', ['EVAL', 'return #ARGV[1]', '0', long]),
  command('EVAL that stores it', ['EVAL', "return redis.call('SET', KEYS[1], ARGV[1])", '1', 'evaled', long]),
  command('EVAL that returns a value of it', ['EVAL', "return redis.call('GET', KEYS[1])", '1', 'evaled']),
  command(`EVAL with ${MANY} arguments`, ['EVAL', 'return #ARGV', '0', ...pairs(fields)]),
  command(`EVAL with ${WORDS} arguments`, ['EVAL', 'return #ARGV', '0', ...words]),
  command('EVAL that doubles a string up to 8 MiB', [
    'EVAL',
    "local s = string.rep('x', 1024) for i = 1, 13 do s = s .. s end return #s",
    '0',
  ]),
  command('EVAL that hands them on', [
    'EVAL',
    "return redis.call('HSET', KEYS[1], unpack(ARGV, 1, 7000))",
    '1',
    'he',
    ...pairs(fields),
  ]),
  // The larger one is refused for the memory that it takes.
  command('cjson.decode of 10 MiB', ['EVAL', 'return #cjson.decode(ARGV[1])', '0', document]),
  command('cjson.decode of 5 MiB', ['EVAL', 'return #cjson.decode(ARGV[1])', '0', documentOf(DOCUMENT_BYTES / 2)]),
  command('cjson.encode of 100,000 tables', ['EVAL', `${SMALL_TABLES} return #cjson.encode(t)`, '0']),
  command('cmsgpack.pack and unpack of them', [
    'EVAL',
    `${SMALL_TABLES} return #cmsgpack.unpack(cmsgpack.pack(t))`,
    '0',
  ]),
  rest('SET body of 10 MiB, REST', '/set/restlong', () => Buffer.from(long)),
  { name: 'GET of it, REST', work: (stand) => stand.rest('/get/restlong') },
  rest('command body of 10 MiB, REST', '/', () => JSON.stringify(['SET', 'restlong', long])),
  rest('JSON.SET of 10 MiB, REST', '/', () => JSON.stringify(['JSON.SET', 'doc', '$', document])),
  rest('JSON.GET of it, REST', '/', () => JSON.stringify(['JSON.GET', 'doc', '$'])),
  rest('/pipeline of 10 MiB, small commands', '/pipeline', () =>
    JSON.stringify(numbered(Math.round(DOCUMENT_BYTES / 110), (i) => ['SET', keyAt(i), valueAt(i)])),
  ),
  rest('/pipeline of 10 MiB, ten values', '/pipeline', () =>
    JSON.stringify(numbered(10, (i) => ['SET', `ten:${i}`, long.slice(0, DOCUMENT_BYTES / 10 - 40)])),
  ),
  rest('/multi-exec of 10 MiB, small commands', '/multi-exec', () =>
    JSON.stringify(numbered(Math.round(DOCUMENT_BYTES / 110), (i) => ['SET', keyAt(i), valueAt(i)])),
  ),
];

export function rest(name: string, path: string, bodyOf: () => string | Buffer): Stall {
  let body: string | Buffer | undefined;
  return {
    name,
    work: (stand) => {
      body ??= bodyOf();
      return stand.rest(path, body);
    },
  };
}
