/** The published package `ioredis` on a real process, in the ways that its users use it. */
import { expect } from 'chai';
import { Redis } from 'ioredis';
import { eventually } from '../../support/eventually.js';
import { failureOf, startServed } from '../../support/millrace-clients.js';
import { endEverything, PASSWORD } from '../../support/millrace-process.js';

declare module 'ioredis' {
  interface RedisCommander<Context> {
    addUpTo(key: string, amount: number, limit: number): import('ioredis').Result<number, Context>;
  }
}

/** Tries of a transaction: the others here can interfere with it at most this often. */
const MAX_TRIES = 200;

describe('client package: ioredis on a process', function () {
  this.timeout(30_000);
  let port: number;
  const open = new Set<Redis>();
  let redis: Redis;
  const connect = (): Redis => {
    const client = new Redis({ port, password: PASSWORD, maxRetriesPerRequest: 1 });
    open.add(client);
    return client;
  };
  before(async () => {
    port = (await startServed()).respPort;
  });
  beforeEach(async () => {
    redis = connect();
    await redis.flushall();
  });
  afterEach(() => {
    for (const client of open) client.disconnect();
    open.clear();
  });
  after(endEverything);

  it('writes and reads values of every type', async () => {
    await redis.hset('h', { a: '1', b: 'two' });
    expect(await redis.hgetall('h')).to.deep.equal({ a: '1', b: 'two' });
    expect(await redis.call('HPEXPIRE', 'h', '50', 'FIELDS', '1', 'a')).to.deep.equal([1]);
    await eventually(async () => expect(await redis.hkeys('h')).to.deep.equal(['b']));
    await redis.zadd('z', 1, 'a', 2.5, 'b');
    expect(await redis.zrange('z', '0', '-1', 'WITHSCORES')).to.deep.equal(['a', '1', 'b', '2.5']);
    await redis.rpush('l', 'a', 'b');
    await redis.sadd('s', 'x');
    await redis.geoadd('g', 13.361389, 38.115556, 'Palermo');
    expect(await redis.geopos('g', 'Palermo')).to.deep.equal([['13.361389338970184', '38.1155563954963']]);
    await redis.pfadd('p', 'a', 'b');
    expect(await redis.pfcount('p')).to.equal(2);
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
    await redis.lpush('bytes', bytes);
    expect(await redis.lpopBuffer('bytes')).to.deep.equal(bytes);
    const dump = await redis.dumpBuffer('z');
    expect(await redis.restore('z2', 0, dump)).to.equal('OK');
    expect(await redis.zscore('z2', 'b')).to.equal('2.5');
    const seen: string[] = [];
    for await (const keys of redis.scanStream({ match: '?', count: 2 })) seen.push(...(keys as string[]));
    expect([...new Set(seen)].sort()).to.deep.equal(['g', 'h', 'l', 'p', 's', 'z']);
    const members: string[] = [];
    for await (const part of redis.zscanStream('z')) members.push(...(part as string[]));
    expect(members).to.deep.equal(['a', '1', 'b', '2.5']);
  });

  it('runs scripts defined as commands, also after SCRIPT FLUSH', async () => {
    redis.defineCommand('addUpTo', {
      numberOfKeys: 1,
      lua: `local now = tonumber(redis.call('GET', KEYS[1]) or '0')
        local next = math.min(now + tonumber(ARGV[1]), tonumber(ARGV[2]))
        redis.call('SET', KEYS[1], next)
        return next`,
    });
    expect(await redis.addUpTo('k', 4, 10)).to.equal(4);
    expect(await redis.script('FLUSH')).to.equal('OK');
    expect(await redis.addUpTo('k', 4, 10)).to.equal(8);
    const results = await redis.pipeline().addUpTo('k', 4, 10).get('k').exec();
    expect(results).to.deep.equal([
      [null, 10],
      [null, '10'],
    ]);
    expect(await failureOf(redis.eval("return redis.error_reply('MINE own words')", 0))).to.equal('MINE own words');
  });

  it('increments under WATCH without losing an update, with retries after conflicts', async () => {
    await redis.mset('a', '0', 'b', '0');
    let conflicts = 0;
    const addOne = async (client: Redis): Promise<void> => {
      for (let attempt = 0; attempt < MAX_TRIES; attempt += 1) {
        await client.watch('a', 'b');
        const [a, b] = await client.mget('a', 'b');
        const results = await client
          .multi()
          .set('a', Number(a) + 1)
          .set('b', Number(b) + 1)
          .exec();
        if (results !== null) return;
        conflicts += 1;
      }
      throw new Error('it was never alone');
    };
    const clients = Array.from({ length: 4 }, connect);
    await Promise.all(
      clients.map(async (client) => {
        for (let times = 0; times < 25; times += 1) await addOne(client);
      }),
    );
    expect(await redis.mget('a', 'b')).to.deep.equal(['100', '100']);
    expect(conflicts).to.be.greaterThan(0);
  });

  it('a transaction with an unknown command is discarded with EXECABORT', async () => {
    const failure = await failureOf(
      redis.multi({ pipeline: true }).set('k', 1).call('NOSUCH').exec() as Promise<unknown>,
    );
    expect(failure).to.contain('EXECABORT');
    expect(await redis.exists('k')).to.equal(0);
    const results = await redis.multi().set('k', 'text').incr('k').exec();
    expect(results?.[0]).to.deep.equal([null, 'OK']);
    expect(results?.[1]?.[0]?.message).to.contain('not an integer');
  });

  it("BLPOP, BLMOVE and BZPOPMIN wait for another connection's push", async () => {
    const consumer = connect();
    const waiting = consumer.blpop('none', 'jobs', 0);
    await eventually(async () => expect(await redis.call('CLIENT', 'LIST')).to.contain('cmd=blpop'));
    await redis.rpush('jobs', 'first', 'second');
    expect(await waiting).to.deep.equal(['jobs', 'first']);
    expect(await consumer.blpop('jobs', 0)).to.deep.equal(['jobs', 'second']);
    expect(await consumer.blpop('jobs', 0.05)).to.equal(null);
    const moved = consumer.blmove('from', 'to', 'LEFT', 'RIGHT', 5);
    const popped = connect().bzpopmin('z', 5);
    await eventually(async () => expect(await redis.call('CLIENT', 'LIST')).to.contain('cmd=bzpopmin'));
    await redis.multi().lpush('from', 'x').zadd('z', 2, 'late', 1, 'early').exec();
    expect(await moved).to.equal('x');
    expect(await popped).to.deep.equal(['z', 'early', '1']);
    expect(await redis.lrange('to', 0, -1)).to.deep.equal(['x']);
  });

  it('clients that wait in BLPOP are served in the order of their arrival, one element each', async () => {
    const workers = Array.from({ length: 5 }, connect);
    const served: Promise<string>[] = [];
    for (const [at, worker] of workers.entries()) {
      served.push(worker.blpop('queue', 0).then((pair) => pair?.[1] ?? ''));
      await eventually(async () => {
        const list = String(await redis.call('CLIENT', 'LIST'));
        expect(list.split('cmd=blpop').length - 1).to.equal(at + 1);
      });
    }
    await redis.rpush('queue', '0', '1', '2', '3', '4');
    expect(await Promise.all(served)).to.deep.equal(['0', '1', '2', '3', '4']);
    expect(await redis.exists('queue')).to.equal(0);
  });

  it("XREADGROUP reads as a group, and XAUTOCLAIM takes over a dead consumer's entries", async () => {
    await redis.xgroup('CREATE', 'events', 'g', '$', 'MKSTREAM');
    const reader = connect();
    const waiting = reader.xreadgroup('GROUP', 'g', 'one', 'COUNT', 10, 'BLOCK', 0, 'STREAMS', 'events', '>');
    await eventually(async () => expect(await redis.call('CLIENT', 'LIST')).to.contain('cmd=xreadgroup'));
    const first = (await redis.xadd('events', '*', 'type', 'made')) as string;
    expect(await waiting).to.deep.equal([['events', [[first, ['type', 'made']]]]]);
    const second = (await redis.xadd('events', '*', 'type', 'sold')) as string;
    await reader.xreadgroup('GROUP', 'g', 'one', 'STREAMS', 'events', '>');
    expect(await redis.xack('events', 'g', first)).to.equal(1);
    const [, claimed] = (await redis.xautoclaim('events', 'g', 'two', 0, '0')) as [string, unknown[]];
    expect(claimed).to.deep.equal([[second, ['type', 'sold']]]);
    const [summary] = (await redis.xpending('events', 'g', '-', '+', 10)) as unknown[][];
    expect([summary?.[0], summary?.[1], summary?.[3]]).to.deep.equal([second, 'two', 2]);
    const tail = connect().xread('BLOCK', 5000, 'STREAMS', 'events', '$');
    await eventually(async () => expect(await redis.call('CLIENT', 'LIST')).to.contain('cmd=xread '));
    const third = await redis.xadd('events', '*', 'type', 'gone');
    expect(await tail).to.deep.equal([['events', [[third, ['type', 'gone']]]]]);
  });

  it('receives messages of channels, patterns and sharded channels', async () => {
    const heard: string[] = [];
    const subscriber = connect();
    subscriber.on('message', (channel: string, text: string) => heard.push(`${channel}=${text}`));
    subscriber.on('pmessage', (pattern: string, channel: string, text: string) =>
      heard.push(`${pattern}~${channel}=${text}`),
    );
    subscriber.on('smessage', (channel: string, text: string) => heard.push(`s ${channel}=${text}`));
    expect(await subscriber.subscribe('news')).to.equal(1);
    expect(await subscriber.psubscribe('n*')).to.equal(2);
    await subscriber.ssubscribe('shard');
    expect(await redis.publish('news', '1')).to.equal(2);
    expect(await redis.publish('nothing', '2')).to.equal(1);
    expect(await redis.call('SPUBLISH', 'shard', '3')).to.equal(1);
    await eventually(() => expect(heard).to.have.length(4));
    expect(heard).to.have.members(['news=1', 'n*~news=1', 'n*~nothing=2', 's shard=3']);
    expect(await redis.pubsub('CHANNELS')).to.deep.equal(['news']);
    expect(await redis.pubsub('NUMSUB', 'news', 'x')).to.deep.equal(['news', 1, 'x', 0]);
    subscriber.disconnect();
    await eventually(async () => expect(await redis.publish('news', 'late')).to.equal(0));
  });

  it('receives keyspace notifications when they are enabled', async () => {
    const heard: string[] = [];
    const subscriber = connect();
    await redis.config('SET', 'notify-keyspace-events', 'KEA');
    subscriber.on('pmessage', (_, channel: string, text: string) => heard.push(`${channel} ${text}`));
    await subscriber.psubscribe('__key*__:*');
    await redis.set('k', '1', 'PX', 20);
    await eventually(() =>
      expect(heard).to.include.members(['__keyspace@0__:k set', '__keyevent@0__:set k', '__keyevent@0__:expired k']),
    );
    await redis.config('SET', 'notify-keyspace-events', '');
  });

  it('pipelines commands automatically, and MONITOR shows the commands of all connections', async () => {
    const gathering = new Redis({ port, password: PASSWORD, enableAutoPipelining: true });
    open.add(gathering);
    const monitor = await connect().monitor();
    open.add(monitor);
    const seen: string[][] = [];
    monitor.on('monitor', (_: string, words: string[]) => seen.push(words));
    const numbers = await Promise.all(Array.from({ length: 200 }, () => gathering.incr('n')));
    expect(numbers).to.deep.equal(Array.from({ length: 200 }, (_, at) => at + 1));
    await eventually(() => expect(seen.filter(([name]) => name?.toLowerCase() === 'incr')).to.have.length(200));
  });

  it('reconnects after CLIENT KILL', async () => {
    const victim = connect();
    const id = await victim.client('ID');
    let ended = 0;
    victim.on('close', () => {
      ended += 1;
    });
    expect(await redis.call('CLIENT', 'KILL', 'ID', String(id))).to.equal(1);
    await eventually(() => expect(ended).to.equal(1));
    expect(await eventually(() => victim.set('k', 'v'))).to.equal('OK');
    expect(await victim.client('ID')).to.be.greaterThan(id);
  });
});
