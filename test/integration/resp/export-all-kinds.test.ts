/** A history with values of every type, exported as commands, gives a real Redis the same data. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect } from 'chai';
import { Redis } from 'ioredis';
import { startServed } from '../../support/millrace-clients.js';
import { embeddedEnvironment, endEverything, PASSWORD, runMillrace } from '../../support/millrace-process.js';
import { REDIS_BINARIES, type RedisServer, redisVersion, startRedis } from '../../support/redis-server.js';

/** For each type, a command that returns the value. */
const READERS: Readonly<Record<string, (key: Buffer) => [string, ...(string | Buffer)[]]>> = {
  string: (key) => ['GET', key],
  list: (key) => ['LRANGE', key, '0', '-1'],
  hash: (key) => ['HGETALL', key],
  set: (key) => ['SMEMBERS', key],
  zset: (key) => ['ZRANGE', key, '0', '-1', 'WITHSCORES'],
  stream: (key) => ['XRANGE', key, '-', '+'],
};

describe('journal export --format resp with values of every type', function () {
  this.timeout(60_000);
  let redis: RedisServer | undefined;
  let ours: Redis | undefined;
  let theirs: Redis | undefined;
  after(async () => {
    ours?.disconnect();
    theirs?.disconnect();
    await redis?.stop();
    await endEverything();
  });

  it('loads into a real Redis, which then gives the same answers', async function () {
    if (redisVersion(REDIS_BINARIES.newer) === undefined) this.skip();
    const millrace = await startServed({ MILLRACE_SNAPSHOT_ENTRIES: '60' });
    const live = new Redis({ port: millrace.respPort, password: PASSWORD });
    ours = live;
    await fill(live);
    const environment = await embeddedEnvironment(millrace.dataDir);
    const exported = await runMillrace(['journal', 'export', '--database', 'default', '--format', 'resp'], environment);
    expect(exported.code, exported.stderr).to.equal(0);
    redis = await startRedis(REDIS_BINARIES.newer);
    const path = /\$\d+\r\n(\/[^\r]+)\r\n/.exec(
      await redis.client.call(['CONFIG', 'GET', 'unixsocket']),
    )?.[1] as string;
    expect(await pipeInto(path, exported.stdout)).to.match(/errors: 0, replies: \d+/);
    const loaded = new Redis({ path });
    theirs = loaded;
    const keys = await keysOf(live);
    expect(await keysOf(loaded)).to.deep.equal(keys);
    expect(keys.length).to.be.greaterThan(15);
    for (const name of keys) {
      const key = Buffer.from(name, 'latin1');
      const kind = await live.type(key);
      expect(await loaded.type(key), name).to.equal(kind);
      const [command, ...words] = (READERS[kind] as (typeof READERS)[string])(key);
      const [mine, its] = await Promise.all([live.callBuffer(command, words), loaded.callBuffer(command, words)]);
      const inOrder = (reply: unknown) =>
        kind === 'set' || kind === 'hash' ? (reply as Buffer[]).map((each) => each.toString('latin1')).sort() : reply;
      expect(inOrder(its), `${kind} ${name}`).to.deep.equal(inOrder(mine));
      expect(await loaded.pexpiretime(key), `expiry of ${name}`).to.equal(await live.pexpiretime(key));
    }
    for (const words of [
      ['HPEXPIRETIME', 'hash', 'FIELDS', '3', 'a', 'b', 'none'],
      ['XINFO', 'GROUPS', 'stream'],
      ['XPENDING', 'stream', 'g'],
      ['PFCOUNT', 'hll'],
      ['GEODIST', 'geo', 'Palermo', 'Catania'],
      ['FCALL_RO', 'answer', '0'],
    ] as [string, ...string[]][]) {
      const [name, ...rest] = words;
      expect(await loaded.call(name, ...rest), words.join(' ')).to.deep.equal(await live.call(name, ...rest));
    }
  });

  async function keysOf(client: Redis): Promise<string[]> {
    return (await client.keysBuffer('*')).map((key) => key.toString('latin1')).sort();
  }

  async function fill(live: Redis): Promise<void> {
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
    await live.set(bytes, bytes);
    await live.set('string', 'v', 'EX', 5000);
    await live.incrbyfloat('float', 3.5);
    await live.setbit('bits', 100, 1);
    await live.bitfield('field', 'SET', 'u8', '#1', 200);
    await live.hset('hash', 'a', '1', 'b', bytes, 'c', 'x');
    await live.call('HEXPIRE', 'hash', '5000', 'FIELDS', '1', 'a');
    await live.hdel('hash', 'c');
    await live.call('HSETEX', 'hash2', 'EX', '600', 'FIELDS', '2', 'p', '1', 'q', '2');
    await live.rpush('list', 'a', bytes, 'c');
    await live.linsert('list', 'BEFORE', 'c', 'inserted');
    await live.lmove('list', 'moved', 'LEFT', 'RIGHT');
    for (let at = 0; at < 60; at += 1) await live.rpush('long', 'x'.repeat(200), String(at));
    await live.sadd('set', 'x', 'y', bytes);
    await live.spop('set');
    await live.sadd('numbers', 1, 2, 3);
    await live.sinterstore('both', 'numbers', 'numbers');
    await live.zadd('zset', 1.5, 'a', '-inf', 'low', 2, bytes);
    await live.zunionstore('union', 2, 'zset', 'numbers', 'WEIGHTS', 2, 3);
    await live.zincrby('zset', 0.1, 'a');
    await live.geoadd('geo', 13.361389, 38.115556, 'Palermo', 15.087269, 37.502669, 'Catania');
    await live.pfadd('hll', ...Array.from({ length: 500 }, (_, at) => String(at)));
    await live.xgroup('CREATE', 'stream', 'g', '$', 'MKSTREAM');
    const ids: string[] = [];
    for (let at = 0; at < 20; at += 1) ids.push(String(await live.xadd('stream', '*', 'at', String(at), 'b', bytes)));
    await live.xreadgroup('GROUP', 'g', 'one', 'COUNT', 10, 'STREAMS', 'stream', '>');
    await live.xack('stream', 'g', ids[0] as string, ids[1] as string);
    // The deleted entry is still pending, which the export must contain.
    await live.xdel('stream', ids[3] as string);
    await live.xtrim('stream', 'MAXLEN', 18);
    await live.eval(
      "for i = 1, 5 do redis.call('RPUSH', KEYS[1], i) end redis.call('EXPIRE', KEYS[1], 4000)",
      1,
      'made',
    );
    await live.call(
      'FUNCTION',
      'LOAD',
      "#!lua name=lib\nredis.register_function{function_name='answer', callback=function() return 42 end, flags={'no-writes'}}",
    );
    await live.multi().set('m1', '1').sadd('m2', 'a').exec();
    await live.copy('zset', 'zcopy');
    const dump = await live.dumpBuffer('list');
    await live.restore('restored', 0, dump);
    await live.rename('m1', 'renamed');
    await live.set('gone', '1');
    await live.del('gone');
  }

  async function pipeInto(path: string, commands: Buffer): Promise<string> {
    const pipe = spawn('redis-cli', ['-s', path, '--pipe'], { stdio: ['pipe', 'pipe', 'pipe'] });
    let report = '';
    pipe.stdout.on('data', (data) => {
      report += String(data);
    });
    pipe.stderr.on('data', (data) => {
      report += String(data);
    });
    pipe.stdin.end(commands);
    await once(pipe, 'close');
    return report;
  }
});
