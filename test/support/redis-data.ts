/** Writes values of every kind and size to a server of the Redis protocol, and reads all data that clients can read. */
import type { ByteString } from '../../src/kernel/index.js';
import type { RespClient } from './resp-client.js';

const many = (count: number, word: (index: number) => string[]) =>
  Array.from({ length: count }, (_, i) => word(i)).flat();
const BYTES = String.fromCharCode(...Array.from({ length: 256 }, (_, byte) => byte));
const FAR_MS = '4102444800000';

/** Commands that Redis 6 supports too. */
const COMMANDS: readonly string[][] = [
  ['SET', 'string', 'hello'],
  ['SET', 'empty', ''],
  ['SET', BYTES, BYTES],
  ...['0', '-1', '127', '-128', '32767', '-32768', '2147483647', '-2147483648', '2147483648', '007'].map((n) => [
    'SET',
    `number ${n}`,
    n,
  ]),
  ['SET', 'packed', 'abc'.repeat(500)],
  ['SET', 'a name that is packed too '.repeat(10), 'v'],
  ['SET', 'expiring', 'v', 'PX', '5000000'],
  ['SETRANGE', 'large', '2000000', BYTES],
  [
    'RPUSH',
    'list',
    'a',
    '1',
    '-70000',
    '40000000',
    '-3000000000',
    '9223372036854775807',
    'long '.repeat(30),
    BYTES.repeat(20),
  ],
  ['RPUSH', 'long list', ...many(3000, (i) => [`element ${i}`])],
  ['RPUSH', 'list of a large element', 'x'.repeat(20_000), 'b'],
  ['SADD', 'small integers', '1', '-5', '300'],
  ['SADD', 'middle integers', '1', '70000'],
  ['SADD', 'large integers', '1', '9223372036854775807'],
  ['SADD', 'set', 'a', 'b', '', '17'],
  ['SADD', 'large set', ...many(2000, (i) => [`m${i}`])],
  ['HSET', 'hash', 'f', 'v', 'n', '12345', '', ''],
  ['HSET', 'large hash', ...many(2000, (i) => [`f${i}`, `value ${i}`])],
  ['HSET', 'hash of a long value', 'f', 'v'.repeat(1000)],
  ['ZADD', 'zset', '1', 'a', '2.5', 'b', '-inf', 'c', '+inf', 'd', '1e20', 'e', '0.1', '17'],
  ['ZADD', 'large zset', ...many(1000, (i) => [String(i / 7), `m${i}`])],
  ['EXPIREAT', 'large zset', '4102444800'],
  ['XADD', 'stream', '5-1', 'f', 'v'],
  ['XADD', 'stream', '5-2', 'g', 'w', 'h', 'x'],
  ['XADD', 'stream', '900-0', 'f', '17'],
  ...many(250, (i) => [`${i + 1}-0`]).map((id) => ['XADD', 'long stream', id, 'f', `value ${id}`]),
  ['XDEL', 'long stream', '7-0', '250-0'],
  ['XGROUP', 'CREATE', 'long stream', 'g', '0'],
  ['XGROUP', 'CREATE', 'long stream', 'h', '$'],
  ['XREADGROUP', 'GROUP', 'g', 'c', 'COUNT', '5', 'STREAMS', 'long stream', '>'],
  ['XREADGROUP', 'GROUP', 'g', 'd', 'COUNT', '130', 'STREAMS', 'long stream', '>'],
  ['XACK', 'long stream', 'g', '2-0'],
  ['XDEL', 'long stream', '3-0'],
  ['XGROUP', 'CREATE', 'empty stream', 'g', '$', 'MKSTREAM'],
  ['PFADD', 'hyperloglog', ...many(300, (i) => [String(i)])],
  ['GEOADD', 'places', '13.361389', '38.115556', 'Palermo', '15.087269', '37.502669', 'Catania'],
];
const SINCE_7 = [['FUNCTION', 'LOAD', "#!lua name=lib\nredis.register_function('answer', function() return 42 end)"]];
const SINCE_8 = [
  ['HPEXPIREAT', 'hash', FAR_MS, 'FIELDS', '1', 'f'],
  ['HPEXPIREAT', 'large hash', FAR_MS, 'FIELDS', '2', 'f1', 'f1999'],
  ['XADD', 'stream of producers', 'IDMP', 'a producer', 'first', '*', 'f', 'v'],
  ['XADD', 'stream of producers', 'IDMP', 'a producer', 'second', '*', 'f', 'w'],
];

export async function fillRedis(client: RespClient, major: number): Promise<void> {
  for (const words of [...COMMANDS, ...(major >= 7 ? SINCE_7 : []), ...(major >= 8 ? SINCE_8 : [])]) {
    const reply = await client.call(words);
    if (reply.startsWith('-')) throw new Error(`${words.slice(0, 3).join(' ')}: ${reply}`);
  }
}

/** The type, expiry and content of each key; equal data gives equal results on any server. */
export async function contentsOf(client: RespClient): Promise<Map<ByteString, readonly string[]>> {
  const contents = new Map<ByteString, readonly string[]>();
  for (const key of bulksOf(await client.call(['KEYS', '*'])).sort()) {
    const type = (await client.call(['TYPE', key])).trim();
    const parts = [type, await client.call(['PEXPIRETIME', key])];
    for (const words of READS[type]?.(key) ?? []) parts.push(inOrder(words, await client.call(words)));
    if (type === '+stream') parts.push(...(await groupsOf(client, key)));
    contents.set(key, parts);
  }
  return contents;
}

const READS: Readonly<Record<string, (key: string) => string[][]>> = {
  '+string': (key) => [['GET', key]],
  '+list': (key) => [['LRANGE', key, '0', '-1']],
  '+set': (key) => [['SMEMBERS', key]],
  '+hash': (key) => [['HGETALL', key]],
  '+zset': (key) => [['ZRANGE', key, '0', '-1', 'WITHSCORES']],
  '+stream': (key) => [
    ['XRANGE', key, '-', '+'],
    ['XLEN', key],
  ],
};

async function groupsOf(client: RespClient, key: string): Promise<string[]> {
  const parts: string[] = [];
  const facts = bulksOf(await client.call(['XINFO', 'STREAM', key]));
  parts.push(...['last-generated-id', 'max-deleted-entry-id'].map((name) => facts[facts.indexOf(name) + 1] ?? ''));
  const groups = await client.call(['XINFO', 'GROUPS', key]);
  parts.push(groups);
  for (const [, name = ''] of groups.matchAll(/\$4\r\nname\r\n\$\d+\r\n([^\r]*)/g)) {
    parts.push(await client.call(['XPENDING', key, name, '-', '+', '1000']).then(withoutIdle));
    const consumers = await client.call(['XINFO', 'CONSUMERS', key, name]);
    parts.push(
      bulksOf(consumers)
        .filter((_word, at, all) => all[at - 1] === 'name')
        .join(),
    );
  }
  return parts;
}

/** Removes the idle time of pending entries, which changes with time. */
function withoutIdle(pending: string): string {
  return pending.replaceAll(/\r\n:\d{2,}\r\n/g, '\r\n:…\r\n');
}

/** The expiring fields, by name. */
export async function fieldExpiriesOf(client: RespClient, key: string, fields: readonly string[]): Promise<string> {
  return client.call(['HPEXPIRETIME', key, 'FIELDS', String(fields.length), ...fields]);
}

function inOrder([name]: readonly string[], reply: string): string {
  if (name === 'SMEMBERS') return bulksOf(reply).sort().join('\n');
  // Older servers print equal scores with other digits.
  if (name === 'ZRANGE')
    return bulksOf(reply)
      .map((word, at) => (at % 2 === 0 ? word : String(numberOf(word))))
      .join('\n');
  if (name !== 'HGETALL') return reply;
  const words = bulksOf(reply);
  return words
    .flatMap((field, at) => (at % 2 === 0 ? [`${field}\n${words[at + 1]}`] : []))
    .sort()
    .join('\n');
}

function numberOf(score: string): number {
  return Number(score.replace('inf', 'Infinity'));
}

/** All bulk strings of a reply. */
function bulksOf(reply: string): string[] {
  const words: string[] = [];
  for (let at = 0; at < reply.length; ) {
    const end = reply.indexOf('\r\n', at);
    const length = Number(reply.slice(at + 1, end));
    const isString = reply[at] === '$' && length >= 0;
    if (isString) words.push(reply.slice(end + 2, end + 2 + length));
    at = isString ? end + length + 4 : end + 2;
  }
  return words;
}
