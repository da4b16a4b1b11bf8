/** The published client packages as they are, each through a small program. */
import { expect } from 'chai';
import { Redis as IoRedis } from 'ioredis';
import { createClient, RESP_TYPES } from 'redis';
import { eventually } from '../../support/eventually.js';
import { PASSWORD, RespEndpointHarness } from '../../support/resp-endpoint.js';

describe('client package: ioredis', () => {
  let face: RespEndpointHarness;
  let redis: IoRedis;
  beforeEach(async () => {
    face = await new RespEndpointHarness().start();
    redis = new IoRedis({ port: face.port, password: PASSWORD, connectionName: 'program' });
  });
  afterEach(async () => {
    redis.disconnect();
    await face.stop();
  });

  it('writes and reads values, and sets its name', async () => {
    expect(await redis.set('k', 'v', 'EX', 100)).to.equal('OK');
    expect(await redis.get('k')).to.equal('v');
    expect(await redis.getBuffer('k')).to.deep.equal(Buffer.from('v'));
    expect(await redis.client('GETNAME')).to.equal('program');
    await redis.mset('a', 1, 'b', 2);
    expect(await redis.mget('a', 'b', 'c')).to.deep.equal(['1', '2', null]);
    expect(await redis.call('NOSUCH').catch((error: Error) => error.message)).to.match(/unknown command/);
  });

  it('is refused every command with a database other than 0', async () => {
    const astray = new IoRedis({ port: face.port, password: PASSWORD, db: 1, retryStrategy: () => null });
    const unready = new IoRedis({ port: face.port, password: PASSWORD, db: 1, enableReadyCheck: false });
    const errors: string[] = [];
    for (const client of [astray, unready]) {
      client.on('error', (error: Error) => errors.push(error.message));
      const refusal = await client.set('k', 'v').catch((error: Error) => error.message);
      expect(refusal).to.match(/DB index is out of range/);
      client.disconnect();
    }
    expect(errors.join()).to.match(/DB index is out of range/);
    expect(await redis.exists('k')).to.equal(0);
  });

  it('runs pipelines', async () => {
    const results = await redis.pipeline().set('p', '1').incr('p').incr('k:x').get('p').exec();
    expect(results).to.deep.equal([
      [null, 'OK'],
      [null, 2],
      [null, 1],
      [null, '2'],
    ]);
  });

  it('runs transactions, and aborts one when a watched key has changed', async () => {
    expect(await redis.multi().set('t', '1').incr('t').exec()).to.deep.equal([
      [null, 'OK'],
      [null, 2],
    ]);
    await redis.watch('t');
    const other = redis.duplicate();
    await other.incr('t');
    other.disconnect();
    expect(await redis.multi().set('t', '9').exec()).to.equal(null);
    expect(await redis.get('t')).to.equal('3');
  });

  it('receives messages of channels', async () => {
    const heard: string[] = [];
    const subscriber = redis.duplicate();
    try {
      subscriber.on('message', (channel: string, message: string) => heard.push(`${channel}=${message}`));
      expect(await subscriber.subscribe('news', 'more')).to.equal(2);
      expect(await subscriber.ping()).to.equal('PONG');
      const owner = face.owner.ownerOf('kv:db-first:0');
      for (const payload of ['1', '2']) {
        owner.tell(({ name }) => name === 'news', { type: 'message', channel: 'news', payload });
      }
      await eventually(() => expect(heard).to.deep.equal(['news=1', 'news=2']));
      expect(await subscriber.unsubscribe('news', 'more')).to.equal(0);
      expect(await subscriber.get('k')).to.equal(null);
    } finally {
      subscriber.disconnect();
    }
  });
});

describe('client package: redis', () => {
  for (const RESP of [2, 3] as const) {
    describe(`in RESP${RESP}`, () => {
      let face: RespEndpointHarness;
      const make = () => createClient({ RESP, password: PASSWORD, socket: { port: face.port } });
      let client: ReturnType<typeof make>;
      beforeEach(async () => {
        face = await new RespEndpointHarness().start();
        client = make();
        client.on('error', () => undefined);
        await client.connect();
      });
      afterEach(async () => {
        client.destroy();
        await face.stop();
      });

      it('does not connect with a database other than 0', async () => {
        const url = `redis://:${PASSWORD}@127.0.0.1:${face.port}/1`;
        const astray = createClient({ url, socket: { reconnectStrategy: false } });
        astray.on('error', () => undefined);
        const refusal = await astray.connect().catch((error: Error) => error.message);
        expect(refusal).to.match(/^ERR DB index is out of range: only database 0 exists here/);
      });

      it('writes and reads values, also 500 commands in one batch', async () => {
        expect(await client.set('k', 'v')).to.equal('OK');
        expect(await client.get('k')).to.equal('v');
        const numbers = await Promise.all(Array.from({ length: 500 }, () => client.incr('n')));
        expect(numbers).to.deep.equal(Array.from({ length: 500 }, (_, i) => i + 1));
        const bytes = await client.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer }).get('k');
        expect(bytes).to.deep.equal(Buffer.from('v'));
        expect((await client.clientInfo()).libName).to.contain('node-redis');
      });

      it('runs transactions, and aborts one when a watched key has changed', async () => {
        expect(await client.multi().set('t', '1').incr('t').exec()).to.deep.equal(['OK', 2]);
        await client.watch('t');
        const other = make();
        await other.connect();
        await other.incr('t');
        other.destroy();
        const problem = await client
          .multi()
          .set('t', '9')
          .exec()
          .catch((error: Error) => error.constructor.name);
        expect(problem).to.equal('WatchError');
      });

      it('receives messages of channels and patterns', async () => {
        const heard: string[] = [];
        const subscriber = make();
        await subscriber.connect();
        try {
          await subscriber.subscribe('news', (message, channel) => heard.push(`${channel}=${message}`));
          await subscriber.pSubscribe('n*', (message, channel) => heard.push(`${channel}~${message}`));
          const owner = face.owner.ownerOf('kv:db-first:0');
          owner.tell(({ kind }) => kind === 'channel', { type: 'message', channel: 'news', payload: '1' });
          owner.tell(({ kind }) => kind === 'pattern', {
            type: 'pmessage',
            pattern: 'n*',
            channel: 'news',
            payload: '1',
          });
          await eventually(() => expect(heard).to.deep.equal(['news=1', 'news~1']));
          await subscriber.unsubscribe('news');
          await subscriber.pUnsubscribe('n*');
          expect(String(await subscriber.ping())).to.equal('PONG');
        } finally {
          subscriber.destroy();
        }
      });
    });
  }

  it('invalidates its client-side cache after a change', async () => {
    const face = await new RespEndpointHarness().start();
    const caching = createClient({
      RESP: 3,
      password: PASSWORD,
      socket: { port: face.port },
      clientSideCache: { ttl: 0, maxEntries: 100 },
    });
    const other = createClient({ password: PASSWORD, socket: { port: face.port } });
    try {
      await caching.connect();
      await other.connect();
      await other.set('k', '1');
      expect(await caching.get('k')).to.equal('1');
      const asked = () => face.owner.requests.filter(({ commands }) => commands[0]?.[0] === 'GET').length;
      const before = asked();
      expect(await caching.get('k')).to.equal('1');
      expect(asked()).to.equal(before);
      await other.set('k', '2');
      await eventually(async () => expect(await caching.get('k')).to.equal('2'));
    } finally {
      caching.destroy();
      other.destroy();
      await face.stop();
    }
  });
});
