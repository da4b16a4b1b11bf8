/** The published REST package on a real process: scripts, functions, transactions, tokens. */
import { Redis } from '@upstash/redis';
import { expect } from 'chai';
import { eventually } from '../../support/eventually.js';
import { failureOf, startServed } from '../../support/millrace-clients.js';
import { endEverything, type MillraceProcess, READONLY_TOKEN, TOKEN } from '../../support/millrace-process.js';

const LIBRARY = `#!lua name=tools
redis.register_function('put', function(keys, args) return redis.call('SET', keys[1], args[1]) end)
redis.register_function('read', function(keys) return redis.call('GET', keys[1]) end)
redis.register_function{ function_name = 'echo', callback = function(keys, args) return args end, flags = { 'no-writes' } }`;

describe('client package: @upstash/redis on a process, programs', function () {
  this.timeout(30_000);
  let millrace: MillraceProcess;
  let redis: Redis;
  let single: Redis;
  before(async () => {
    millrace = await startServed();
    redis = new Redis({ url: millrace.kvUrl, token: TOKEN });
    single = new Redis({ url: millrace.kvUrl, token: TOKEN, enableAutoPipelining: false });
  });
  after(endEverything);
  beforeEach(() => redis.flushdb());

  it('runs scripts with EVALSHA, and with EVAL when the script is not known yet', async () => {
    const script = redis.createScript<string[]>('return {KEYS[1], ARGV[1], ARGV[2]}');
    expect(await script.exec(['k'], ['a', 'b'])).to.deep.equal(['k', 'a', 'b']);
    expect(await script.exec(['k'], ['a', 'b'])).to.deep.equal(['k', 'a', 'b']);
    expect(await redis.scriptLoad('return ARGV[1]')).to.equal('098e0f0d1448c0a81dafe820f66d460eb09263da');
    expect(await redis.evalsha('098e0f0d1448c0a81dafe820f66d460eb09263da', [], ['hello'])).to.equal('hello');
    expect(await redis.scriptExists('098e0f0d1448c0a81dafe820f66d460eb09263da', '21')).to.deep.equal([1, 0]);
    expect(await redis.scriptFlush({ sync: true })).to.equal('OK');
    expect(await failureOf(single.evalsha('098e0f0d1448c0a81dafe820f66d460eb09263da', [], ['x']))).to.contain(
      'NOSCRIPT No matching script. Please use EVAL.',
    );
    expect(await failureOf(single.evalsha('21', [], []))).to.contain('NOSCRIPT');
    const reader = redis.createScript<number, true>('return redis.call("EXISTS", KEYS[1])', { readonly: true });
    expect(await reader.exec(['k'], [])).to.equal(0);
  });

  it("script replies keep their types through the client's encoding", async () => {
    expect(await redis.eval("return {redis.call('SET', KEYS[1], '1'), 1, {'x', false}}", ['k'], [])).to.deep.equal([
      'OK',
      1,
      ['x', null],
    ]);
    expect(await redis.eval("return redis.call('SET', KEYS[1], 'x')", ['k'], [])).to.equal('OK');
    expect(await redis.eval('return {1, 2.9, true, "x"}', [], [])).to.deep.equal([1, 2, 1, 'x']);
    expect(await redis.eval('return false', [], [])).to.equal(null);
    expect(await redis.eval('return cjson.encode({a = {1, 2}})', [], [])).to.deep.equal({ a: [1, 2] });
    expect(await failureOf(redis.eval("return redis.call('LPUSH', KEYS[1], 1)", ['k'], []))).to.contain('WRONGTYPE');
    expect(await failureOf(redis.evalRo("return redis.call('SET', KEYS[1], 1)", ['k'], []))).to.match(
      /commands are not allowed from read-only/i,
    );
    expect(await redis.evalRo("return redis.call('GET', KEYS[1])", ['k'], [])).to.equal('x');
  });

  it('FUNCTION LOAD, FCALL and FUNCTION LIST keep libraries of functions', async () => {
    const { functions } = redis;
    expect(await functions.load({ code: LIBRARY, replace: true })).to.equal('tools');
    expect(await failureOf(functions.load({ code: LIBRARY }))).to.contain("Library 'tools' already exists");
    expect(await functions.call('put', ['k'], ['v'])).to.equal('OK');
    expect(await functions.call('echo', [], ['a', 'b'])).to.deep.equal(['a', 'b']);
    expect(await functions.callRo('echo', [], ['a'])).to.deep.equal(['a']);
    expect(await functions.callRo('read', ['k'])).to.equal('v');
    expect(await failureOf(functions.callRo('put', ['k'], ['w']))).to.match(/commands are not allowed from read-only/i);
    const [library] = await functions.list({ libraryName: 'tools', withCode: true });
    expect(library?.libraryName).to.equal('tools');
    expect(library?.engine).to.equal('LUA');
    expect(library?.functions.map(({ name }) => name).sort()).to.deep.equal(['echo', 'put', 'read']);
    expect(library?.libraryCode).to.equal(LIBRARY);
    expect((await functions.stats()).engines.LUA).to.deep.equal({ librariesCount: 1, functionsCount: 3 });
    expect(await redis.pipeline().set('a', 1).functions.call('put', ['b'], ['2']).mget('a', 'b').exec()).to.deep.equal([
      'OK',
      'OK',
      [1, 2],
    ]);
    expect(await functions.delete('tools')).to.equal('OK');
    expect(await failureOf(functions.call('put', ['k'], ['v']))).to.contain('Function not found');
    expect(await functions.flush()).to.equal('OK');
    for (const kill of [
      ['FUNCTION', 'KILL'],
      ['SCRIPT', 'KILL'],
    ] as [string, string][]) {
      expect(await failureOf(redis.exec(kill))).to.contain('NOTBUSY');
    }
  });

  it('transactions run whole, and one with a malformed command does not run', async () => {
    expect(await redis.multi().set('n', 1).incr('n').lpush('l', 'a').hset('h', { a: 1 }).exec()).to.deep.equal([
      'OK',
      2,
      1,
      1,
    ]);
    expect(await failureOf(redis.multi().set('n', 9).lpush('n', 'x').exec())).to.contain('WRONGTYPE');
    expect(await redis.get('n')).to.equal(9);
    const broken = redis.multi();
    broken.set('n', 10);
    (broken as unknown as { zadd(...words: unknown[]): unknown }).zadd('z', { score: 'x', member: 'y' });
    expect(await failureOf(broken.exec())).to.contain('ERR value is not a valid float');
    expect(await redis.get('n')).to.equal(10);
    const { status, body } = await millrace.kv.raw('/multi-exec', {
      method: 'POST',
      body: JSON.stringify([['SET', 'n', '11'], ['GET']]),
    });
    expect([status, JSON.parse(body.toString())]).to.deep.equal([
      400,
      { error: "ERR wrong number of arguments for 'get' command" },
    ]);
    expect(await redis.get('n')).to.equal(10);
  });

  it('a pipeline carries a thousand commands of four types', async () => {
    const pipeline = redis.pipeline();
    for (let at = 0; at < 250; at += 1) {
      pipeline.zadd('z', { score: at, member: `m${at}` });
      pipeline.hset('h', { [`f${at}`]: at });
      pipeline.rpush('l', at);
      pipeline.incr('n');
    }
    const results = await pipeline.exec<number[]>();
    expect(results).to.have.length(1000);
    expect(results.slice(-4)).to.deep.equal([1, 1, 250, 250]);
    expect(await Promise.all([redis.zcard('z'), redis.hlen('h'), redis.llen('l')])).to.deep.equal([250, 250, 250]);
  });

  it('the sync token changes with every write', async () => {
    const tokenOf = () => (single as unknown as { client: { upstashSyncToken?: string } }).client.upstashSyncToken;
    const moved = async (action: () => Promise<unknown>): Promise<void> => {
      const before = tokenOf();
      await action();
      expect(tokenOf()).not.to.equal(before);
    };
    await single.get('k');
    await moved(() => single.set('k', 1));
    await moved(() => single.pipeline().set('k', 2).set('l', 3).exec());
    await moved(() => single.multi().set('k', 2).incr('k').exec());
    await moved(() => single.eval("redis.call('INCR', 'k')", [], []));
    await moved(() => Promise.all([single.set('a', 1), single.set('b', 1), single.set('c', 1)]));
    (single as unknown as { client: { upstashSyncToken: string } }).client.upstashSyncToken = 'my-new-sync-token';
    expect(await single.get('k')).to.equal(4);
  });

  it('DBSIZE, TIME, CONFIG, INFO and other server commands answer', async () => {
    await redis.set('k', 'v');
    expect(await redis.dbsize()).to.equal(1);
    expect(await redis.exec<number>(['MEMORY', 'USAGE', 'k'])).to.be.greaterThan(0);
    const [seconds] = await redis.time();
    expect(seconds).to.be.closeTo(Date.now() / 1000, 5);
    expect(await redis.exec(['CONFIG', 'SET', 'notify-keyspace-events', 'KEA'])).to.equal('OK');
    expect(await redis.exec<string[]>(['CONFIG', 'GET', 'notify-*'])).to.deep.equal(['notify-keyspace-events', 'AKE']);
    await redis.exec(['CONFIG', 'SET', 'notify-keyspace-events', '']);
    expect(await redis.exec<string>(['INFO', 'keyspace'])).to.contain('# Keyspace');
    expect(await redis.exec(['WAIT', '0', '100'])).to.equal(0);
    expect(await redis.exec(['CLUSTER', 'KEYSLOT', 'foo'])).to.equal(12182);
    await redis.setex('s', 60, 'v');
    expect(await redis.ttl('s')).to.equal(60);
  });

  it('the read-only token reads, and is refused writes, SCAN, KEYS and scripts', async () => {
    const reader = new Redis({ url: millrace.kvUrl, token: READONLY_TOKEN });
    await redis.hset('h', { a: 1 });
    expect(await reader.hgetall('h')).to.deep.equal({ a: 1 });
    expect(await reader.httl('h', 'a')).to.deep.equal([-1]);
    expect(await reader.ping()).to.equal('PONG');
    for (const [name, refused] of [
      ['geoadd', () => reader.geoadd('g', { longitude: 1, latitude: 1, member: 'x' })],
      ['evalsha', () => reader.evalsha('0'.repeat(40), [], [])],
      ['scan', () => reader.scan(0)],
      ['keys', () => reader.keys('*')],
      ['publish', () => reader.publish('c', 'x')],
    ] as const) {
      expect(await failureOf(refused())).to.contain(`NOPERM this user has no permissions to run the '${name}' command`);
    }
  });

  it('a token of ACL RESTTOKEN has the rights of its user', async () => {
    await redis.exec(['ACL', 'SETUSER', 'fred', 'on', '>secret', '~app:*', '+@string', '+@read']);
    const token = await redis.exec<string>(['ACL', 'RESTTOKEN', 'fred', 'secret']);
    expect(token).to.be.a('string');
    const fred = new Redis({ url: millrace.kvUrl, token });
    expect(await fred.set('app:1', 'x')).to.equal('OK');
    expect(await failureOf(fred.set('other', 'x'))).to.contain('NOPERM');
    expect(await failureOf(fred.hset('app:h', { a: 1 }))).to.contain("run the 'hset' command");
    expect(await failureOf(redis.exec(['ACL', 'RESTTOKEN', 'fred', 'wrong']))).to.contain(
      'ERR Wrong password or user "fred" does not exist',
    );
    await redis.exec(['ACL', 'SETUSER', 'fred', '+hset']);
    await eventually(async () => expect(await fred.hset('app:h', { a: 1 })).to.equal(1));
    await redis.exec(['ACL', 'SETUSER', 'fred', 'off']);
    await eventually(async () => expect(await failureOf(fred.get('app:1'))).to.contain('WRONGPASS'));
    expect(await redis.exec(['ACL', 'DELUSER', 'fred'])).to.equal(1);
  });
});
