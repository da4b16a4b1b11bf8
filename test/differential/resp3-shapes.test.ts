/**
 * The types in RESP3 replies, compared with a real server. Clients choose the type of their result by them: a list in
 * place of a map becomes an empty object. Other tests compare the values.
 */
import { expect } from 'chai';
import { ALL_CASES } from '../spec/kv/cases/index.js';
import { freePort } from '../support/free-port.js';
import { wordsOf } from '../support/kv-case.js';
import { endEverything, PASSWORD, startMillrace } from '../support/millrace-process.js';
import { REDIS_BINARIES, type RedisServer, redisVersion, startRedis } from '../support/redis-server.js';
import { RespClient } from '../support/resp-client.js';
import { contentOf, shapesOf } from '../support/resp-shape.js';

type Lines = readonly (string | readonly string[])[];

/** What edges and connections answer, and what has no case because only its shape can be told beforehand. */
const MORE: readonly Lines[] = [
  ['HELLO 3', 'CLIENT INFO', 'CLIENT LIST', 'CLIENT GETREDIR', 'CLIENT TRACKINGINFO', 'CLIENT ID', 'CLIENT GETNAME'],
  ['CLIENT TRACKING ON', 'CLIENT TRACKINGINFO', 'CLIENT TRACKING OFF', 'CLIENT TRACKINGINFO'],
  ['CLIENT TRACKING ON BCAST PREFIX a PREFIX b NOLOOP', 'CLIENT TRACKINGINFO'],
  ['ACL WHOAMI', 'ACL CAT', 'ACL CAT string', 'ACL LIST', 'ACL USERS', 'ACL GENPASS', 'ACL GETUSER nobody'],
  ['ACL SETUSER shaped on >a-long-password ~a* &c* +get', 'ACL GETUSER shaped', 'ACL DRYRUN shaped SET a b'],
  ['ACL DRYRUN shaped GET a', 'ACL DELUSER shaped'],
  ['PUBSUB CHANNELS', 'PUBSUB NUMSUB', 'PUBSUB NUMSUB a b', 'PUBSUB SHARDNUMSUB a b', 'PUBSUB NUMPAT'],
  ['CONFIG SET slowlog-log-slower-than 0', 'GET a', 'SLOWLOG GET 1', 'CONFIG SET slowlog-log-slower-than 10000'],
  ['CONFIG GET maxmemory', 'CONFIG GET nosuch', 'INFO', 'INFO memory', 'MODULE LIST', 'LASTSAVE', 'TIME', 'ROLE'],
  ['COMMAND COUNT', 'COMMAND LIST', 'COMMAND GETKEYS MSET a 1 b 2', 'COMMAND GETKEYSANDFLAGS COPY a b'],
  ['COMMAND INFO get mset zunionstore xread georadius copy blpop eval config|get nosuch'],
  ['COMMAND GETKEYSANDFLAGS SORT a STORE b', 'COMMAND GETKEYSANDFLAGS ZUNIONSTORE a 2 b c'],
  ['MULTI', 'SET a 1', 'LCS a b IDX', 'HGETALL h', 'EXEC'],
  [
    [
      'EVAL',
      'redis.setresp(3); return {redis.call("HGETALL",KEYS[1]), redis.call("ZSCORE",KEYS[2],"a")}',
      '2',
      'h',
      'z',
    ],
  ],
  [['EVAL', 'redis.setresp(3); return {map={a=1,b={double=2.5}}}', '0']],
  [
    ['EVAL', 'redis.setresp(3); return {set={a=true}}', '0'],
    ['EVAL', 'return true', '0'],
    ['EVAL', 'return false', '0'],
  ],
  [['EVAL', 'redis.setresp(3); return {big_number="123456789012345678901234567890"}', '0']],
  [
    ['EVAL', 'redis.setresp(3); return {verbatim_string={format="txt",string="x"}}', '0'],
    ['EVAL', 'return nil', '0'],
  ],
  [
    [
      'FUNCTION',
      'LOAD',
      '#!lua name=shaped\nredis.register_function{function_name="f",callback=function() return 1 end}',
    ],
  ],
  ['FUNCTION LIST', 'FUNCTION LIST WITHCODE', 'FUNCTION STATS', 'FUNCTION DELETE shaped'],
  ['RPUSH l a', 'BLPOP l 1', 'BLPOP l 0.01', 'BLMPOP 0.01 1 l LEFT', 'BLMOVE l m LEFT LEFT 0.01'],
  ['ZADD z 1 a', 'BZPOPMIN z 1', 'BZPOPMIN z 0.01', 'ZADD z 1 a', 'BZMPOP 1 1 z MIN', 'BZMPOP 0.01 1 z MIN'],
  ['XADD s 1-1 f v', 'XREAD BLOCK 10 STREAMS s 0', 'XREAD BLOCK 10 STREAMS s $', 'XREAD STREAMS nosuch 0'],
];

/** In a cluster of one node, which is how a database answers. */
const CLUSTER: Lines = [
  'CLUSTER INFO',
  'CLUSTER MYID',
  'CLUSTER NODES',
  'CLUSTER SLOTS',
  'CLUSTER SHARDS',
  'CLUSTER KEYSLOT foo',
  'CLUSTER COUNTKEYSINSLOT 1',
  'CLUSTER GETKEYSINSLOT 1 10',
  'CLUSTER HELP',
];

/** Where the shapes differ, and why. */
const DIFFERENCES: readonly { readonly of: RegExp; readonly reason: string }[] = [
  { of: /^SET .* IFEQ .* NX$/, reason: 'one condition only' },
  { of: /^UNLINK$/, reason: 'the documented API answers 0' },
  { of: /^SCAN .*WITHTYPE/, reason: 'an option of the API that Redis lacks' },
  { of: /^ZCOUNT k {2}2 0x3$/, reason: 'bounds are read with strtod, as 7.0 does' },
  { of: /^(XINFO STREAM)/, reason: '8.6 counts ids of producers besides' },
  { of: /^(COMMAND$|COMMAND (LIST|DOCS)|COMMAND INFO$|MEMORY STATS|SLOWLOG GET)/, reason: 'each tells of itself' },
  {
    of: /^(JSON\.|CLUSTER |ASKING$|READONLY$|READWRITE$)/,
    reason: 'without the module, and outside of a cluster, the server refuses the family',
  },
  {
    of: /^ACL (GENTOKEN|LIST|LOAD|SAVE|USERS)/,
    reason: 'there is a user more, tokens of our own, and no file of users',
  },
  { of: /^(MODULE |HELLO 3$)/, reason: 'each names its own modules' },
  { of: /^SCAN 18446744073709551615$/, reason: 'a cursor never handed out; theirs depends on the hash table' },
  { of: /^FUNCTION LIST/, reason: 'libraries come in no order' },
  { of: /^VLINKS/, reason: 'the levels of a node are chosen by chance' },
];
/** Whose answers come unasked, wait, or end the connection: compared in resp-connection.test.ts. */
const UNSUITED =
  /^(HELLO|AUTH|QUIT|RESET|MONITOR|[PS]?(UN)?SUBSCRIBE|DEBUG|SHUTDOWN|P?SYNC|CLIENT (REPLY|KILL|PAUSE|NO-))/i;

/** Commands and options of Redis 8.8 and 8.10, and commands that no server of Redis has: specs compare their replies. */
const UNKNOWN_THERE =
  /^(AR[A-Z]+|(SEARCH|VECTOR|QUEUE|BF|CF|CMS|TOPK|TDIGEST)\..*|INCREX|HIMPORT|XNACK|B?LMOVEM|S(UNION|DIFF)CARD)$/i;
const NEWER_OPTIONS = /AGGREGATE COUNT| MAX(COUNT|SIZE) /i;

const version = redisVersion(REDIS_BINARIES.newer);
const now = Date.now();

describe('differential: shapes of RESP3', function () {
  this.timeout(120_000);
  let redis: RedisServer;
  let port: number;
  before(async function () {
    if (version === undefined) return this.skip();
    redis = await startRedis(REDIS_BINARIES.newer);
    port = await freePort();
    await startMillrace({ env: { MILLRACE_RESP_PORT: String(port) } });
  });
  after(async () => {
    await redis?.stop();
    await endEverything();
  });

  /** On a connection of its own: nothing of one conversation is left for the next. */
  const ours = (lines: Lines) =>
    converse({ port, host: '127.0.0.1' }, ['HELLO', '3', 'AUTH', 'default', PASSWORD], lines);
  const theirs = (lines: Lines) => converse(redis.socket, ['HELLO', '3'], lines);

  async function compare(lines: Lines): Promise<string | undefined> {
    const [our, their] = await Promise.all([ours(lines), theirs(lines)]);
    const at = our.findIndex((shape, i) => shape !== their[i] && known(lines[i] as string) === undefined);
    return at < 0 ? undefined : `${String(lines[at])}\n  ours   ${our[at]}\n  theirs ${their[at]}`;
  }

  it('are the same as those of a real server in every case of the specs', async () => {
    const differences: string[] = [];
    for (const { given, when } of ALL_CASES) {
      const lines = [...given, when];
      if (lines.some((line) => !isSuited(wordsOf(line, now)))) continue;
      const difference = await compare(lines);
      if (difference !== undefined) differences.push(difference);
    }
    expect(differences.join('\n')).to.equal('');
  });

  it('are the same as those of a real server for connections, users, scripts and server information', async () => {
    const differences: string[] = [];
    for (const lines of MORE) {
      const difference = await compare(lines);
      if (difference !== undefined) differences.push(difference);
    }
    expect(differences.join('\n')).to.equal('');
  });

  it('COMMAND reports the same keys, key flags and tips as a real server', async () => {
    const client = await RespClient.connect({ port, host: '127.0.0.1' });
    await client.call(['HELLO', '3', 'AUTH', 'default', PASSWORD]);
    await redis.client.call(['HELLO', '3']);
    const [our, their] = await Promise.all([commandFacts(client), commandFacts(redis.client)]);
    client.close();
    const differences: string[] = [];
    let compared = 0;
    for (const facts of our.values()) {
      const real = their.get(facts.name);
      if (real === undefined || OTHER_KEYS.has(facts.name)) continue;
      compared += 1;
      const [ours, theirs] = [facts, real].map((one) => JSON.stringify([one.tips, toldKeys(one)]));
      if (ours !== theirs) differences.push(`${facts.name}\n  ours   ${ours}\n  theirs ${theirs}`);
    }
    expect(differences.join('\n')).to.equal('');
    expect(compared).to.be.greaterThan(300);
  });

  it('are the same as those of a cluster node for CLUSTER', async () => {
    const node = await startRedis(REDIS_BINARIES.newer, ['--cluster-enabled', 'yes']);
    try {
      await node.client.call(['CLUSTER', 'ADDSLOTSRANGE', '0', '16383']);
      const there = (await converse(node.socket, ['HELLO', '3'], CLUSTER)).map(
        // It listens on a socket alone, and shows no port then.
        (shape) => shape.replace('$ip=$ $replication', '$ip=$ $port=: $replication'),
      );
      expect(await ours(CLUSTER)).to.deep.equal(there);
    } finally {
      await node.stop();
    }
  });
});

/** Rows whose keys a client cannot be told of in the same words. */
const OTHER_KEYS = new Set(['migrate', 'move', 'ssubscribe', 'sunsubscribe', 'spublish', 'msetex']);

interface CommandFacts {
  readonly name: string;
  readonly tips: readonly string[];
  readonly keys: readonly { readonly flags: string[] }[];
}

/** By name, subcommands too. */
async function commandFacts(client: RespClient): Promise<Map<string, CommandFacts>> {
  const facts = new Map<string, CommandFacts>();
  const add = (row: readonly unknown[]): void => {
    const [name, , , , , , , tips, keys, subcommands] = row as [string, ...unknown[]];
    facts.set(name, { name, tips, keys } as CommandFacts);
    for (const subcommand of (subcommands ?? []) as unknown[][]) add(subcommand);
  };
  for (const row of contentOf(await client.call(['COMMAND'])) as unknown[][]) add(row);
  return facts;
}

/** Options may make a command touch less; that is not told. */
function toldKeys({ keys }: CommandFacts): unknown {
  return keys.map((spec) => {
    const { notes: _, ...told } = spec as { notes?: string; flags: string[] };
    return { ...told, flags: told.flags.filter((flag) => flag !== 'variable_flags') };
  });
}

function known(line: string | readonly string[]): string | undefined {
  const text = typeof line === 'string' ? line : line.join(' ');
  return DIFFERENCES.find(({ of }) => of.test(text))?.reason;
}

function isSuited(words: readonly string[]): boolean {
  if (UNKNOWN_THERE.test(words[0] ?? '') || NEWER_OPTIONS.test(words.join(' '))) return false;
  return words.length > 0 && words[0] !== '' && !UNSUITED.test(words.join(' ')) && !/^JSON\./i.test(words[0] ?? '');
}

/** The shapes of what the lines are answered with, on a database that was emptied before. */
async function converse(
  where: string | { readonly port: number; readonly host: string },
  hello: readonly string[],
  lines: Lines,
): Promise<readonly string[]> {
  const client = await RespClient.connect(where);
  try {
    const commands = [hello, ['FLUSHALL'], ...lines.map((line) => wordsOf(line, now))];
    return (await client.callAll(commands)).slice(2).map(shapesOf);
  } finally {
    client.close();
  }
}
