/** Proves RCR2, RO1, RO2, TT1–TT4. */
import { expect } from 'chai';
import { encodeCommand, encodePush } from '../../../src/codec/resp/index.js';
import { admit } from '../../../src/domain/kv/index.js';
import type { KvEvent } from '../../../src/messages/index.js';
import { eventually } from '../../support/eventually.js';
import { type RawClient, RespFaceHarness } from '../../support/resp-face.js';

const push = (version: 2 | 3, ...items: (string | number | null)[]) => encodePush(items, version);

describe('native protocol: subscriptions', () => {
  let face: RespFaceHarness;
  let client: RawClient;
  beforeEach(async () => {
    face = await new RespFaceHarness().start();
    client = await face.client();
  });
  afterEach(() => face.stop());

  /** As the owner would, on behalf of somebody else. */
  function publish(channel: string, payload: string): void {
    const owner = face.owner.ownerOf('kv:db-first:0');
    const event: KvEvent = { type: 'message', channel, payload };
    owner.tell(({ kind, name }) => kind === 'channel' && name === channel, event);
    owner.tell(({ kind, name }) => kind === 'pattern' && channel.startsWith(name.replace('*', '')), {
      type: 'pmessage',
      pattern: 'n*',
      channel,
      payload,
    });
  }

  it('are confirmed one by one, with how many there are', async () => {
    client.send(encodeCommand(['SUBSCRIBE', 'a', 'b', 'a']) + encodeCommand(['PSUBSCRIBE', 'n*']));
    expect(await client.next()).to.equal(push(2, 'subscribe', 'a', 1));
    expect(await client.next()).to.equal(push(2, 'subscribe', 'b', 2));
    expect(await client.next()).to.equal(push(2, 'subscribe', 'a', 2));
    expect(await client.next()).to.equal(push(2, 'psubscribe', 'n*', 3));
    expect(await client.call('SSUBSCRIBE', 's')).to.equal(push(2, 'ssubscribe', 's', 1));
    expect(await client.call('UNSUBSCRIBE', 'a')).to.equal(push(2, 'unsubscribe', 'a', 2));
    expect(await client.call('SUNSUBSCRIBE')).to.equal(push(2, 'sunsubscribe', 's', 0));
    expect(await client.call('PUNSUBSCRIBE')).to.equal(push(2, 'punsubscribe', 'n*', 1));
    expect(await client.call('UNSUBSCRIBE')).to.equal(push(2, 'unsubscribe', 'b', 0));
    expect(await client.call('UNSUBSCRIBE')).to.equal(push(2, 'unsubscribe', null, 0));
    expect(await client.call('GET', 'a')).to.equal('$-1\r\n');
  });

  it('bring messages, in order, until they end', async () => {
    await client.call('SUBSCRIBE', 'news');
    await client.call('PSUBSCRIBE', 'n*');
    publish('news', '1');
    publish('news', '2');
    expect(await client.next()).to.equal(push(2, 'message', 'news', '1'));
    expect(await client.next()).to.equal(push(2, 'pmessage', 'n*', 'news', '1'));
    expect(await client.next()).to.equal(push(2, 'message', 'news', '2'));
    expect(await client.next()).to.equal(push(2, 'pmessage', 'n*', 'news', '2'));
    await client.call('UNSUBSCRIBE');
    await client.call('PUNSUBSCRIBE');
    publish('news', '3');
    expect(await client.call('ECHO', 'x')).to.equal('$1\r\nx\r\n');
  });

  it('are confirmed whatever CLIENT REPLY says, and once for a name that is there twice', async () => {
    client.send(encodeCommand(['CLIENT', 'REPLY', 'OFF']));
    expect(await client.call('SUBSCRIBE', 'c', 'c')).to.equal('*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n');
    expect(await client.next()).to.equal('*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n');
    expect(await (await face.client()).call('PUBLISH', 'c', 'm')).to.equal(':1\r\n');
    expect(await client.next()).to.equal('*3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$1\r\nm\r\n');
    expect(await client.call('UNSUBSCRIBE')).to.equal('*3\r\n$11\r\nunsubscribe\r\n$1\r\nc\r\n:0\r\n');
  });

  it('leave few commands to a client of RESP2, and all of them in RESP3', async () => {
    await client.call('SUBSCRIBE', 'c');
    const refusal = 'only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in this context';
    expect(await client.call('GET', 'a')).to.equal(`-ERR Can't execute 'get': ${refusal}\r\n`);
    expect(await client.call('CLIENT', 'ID')).to.equal(`-ERR Can't execute 'client|id': ${refusal}\r\n`);
    expect(await client.call('PING')).to.equal(push(2, 'pong', ''));
    expect(await client.call('PING', 'x')).to.equal(push(2, 'pong', 'x'));
    expect(await client.call('RESET')).to.equal('+RESET\r\n');
    const modern = await face.client(3);
    expect(await modern.call('SUBSCRIBE', 'c')).to.equal(push(3, 'subscribe', 'c', 1));
    expect(await modern.call('GET', 'a')).to.equal('_\r\n');
    expect(await modern.call('PING')).to.equal('+PONG\r\n');
    publish('c', 'm');
    expect(await modern.next()).to.equal(push(3, 'message', 'c', 'm'));
  });

  it('never come in the middle of answers, nor before that of a command under way', async () => {
    const modern = await face.client(3);
    await modern.call('SUBSCRIBE', 'c');
    let open = () => {};
    face.owner.gate = new Promise((resolve) => (open = resolve));
    modern.send(encodeCommand(['GET', 'a']));
    await eventually(() => expect(face.owner.requests.at(-1)?.commands).to.deep.equal([['GET', 'a']]));
    publish('c', 'm');
    await new Promise((resolve) => setImmediate(resolve));
    open();
    expect([await modern.next(), await modern.next()]).to.deep.equal(['_\r\n', push(3, 'message', 'c', 'm')]);
  });

  it('end with the connection', async () => {
    await client.call('SUBSCRIBE', 'a', 'b');
    const { listeners } = face.owner.ownerOf('kv:db-first:0');
    expect(listeners.size).to.equal(2);
    client.close();
    await eventually(() => expect(listeners.size).to.equal(0));
  });

  it('are so many at most', async () => {
    const small = await new RespFaceHarness({ limits: { maxSubscriptions: 2 } }).start();
    try {
      const one = await small.client(3);
      await one.call('SUBSCRIBE', 'a');
      await one.call('PSUBSCRIBE', 'b');
      expect(await one.call('SUBSCRIBE', 'c')).to.equal('-ERR too many subscriptions. Limit: 2\r\n');
    } finally {
      await small.stop();
    }
  });

  it('cut off a reader that does not read, at a bound', async () => {
    const small = await new RespFaceHarness({ limits: { maxOutputBytes: 4 * 1024 * 1024 } }).start();
    try {
      const slow = await small.client();
      await slow.call('SUBSCRIBE', 'c');
      slow.socket.pause();
      const owner = small.owner.ownerOf('kv:db-first:0');
      const payload = 'x'.repeat(1024 * 1024);
      for (let i = 0; i < 40; i += 1) owner.tell(() => true, { type: 'message', channel: 'c', payload });
      await eventually(() => {
        expect(
          small.log.lines.map(({ event, fields }) => [event, (fields as { reason: string }).reason]),
        ).to.deep.equal([['resp.connection.cut', 'slow-reader']]);
      });
      expect(small.server.connections).to.equal(0);
    } finally {
      await small.stop();
    }
  });

  it('cut off a reader that leaves much unread for long', async () => {
    const limits = { softOutputBytes: 100_000, softOutputMs: 50, sweepEveryMs: 10 };
    const small = await new RespFaceHarness({ limits }).start();
    try {
      const slow = await small.client();
      await slow.call('SUBSCRIBE', 'c');
      slow.socket.pause();
      const owner = small.owner.ownerOf('kv:db-first:0');
      const payload = 'x'.repeat(8 * 1024 * 1024);
      owner.tell(() => true, { type: 'message', channel: 'c', payload });
      await eventually(() => expect(small.server.connections).to.equal(0));
    } finally {
      await small.stop();
    }
  });

  it('show MONITOR every command as it runs', async () => {
    const watching = await face.client();
    expect(await watching.call('MONITOR')).to.equal('+OK\r\n');
    await client.call('SET', 'k', 'v');
    expect(await watching.next()).to.equal('+0.0 [0 x] SET k v\r\n');
  });
});

describe('native protocol: tracking', () => {
  let face: RespFaceHarness;
  let client: RawClient;
  let other: RawClient;
  beforeEach(async () => {
    face = await new RespFaceHarness().start();
    client = await face.client(3);
    other = await face.client();
  });
  afterEach(() => face.stop());

  const invalidated = (...keys: string[]) => encodePush(['invalidate', keys], 3);

  it('tells of a key that was read, once, when it changes', async () => {
    expect(await client.call('CLIENT', 'TRACKING', 'ON')).to.equal('+OK\r\n');
    await client.call('GET', 'k');
    expect(face.owner.requests.at(-1)?.trackFor).to.equal('node-test');
    await other.call('SET', 'other', '1');
    await other.call('SET', 'k', '1');
    await other.call('SET', 'k', '2');
    expect(await client.next()).to.equal(invalidated('k'));
    expect(await client.call('GET', 'k')).to.equal('$1\r\n2\r\n');
    await client.call('SET', 'k', '3');
    expect(await client.next()).to.equal(invalidated('k'));
  });

  it('says null when everything may have changed', async () => {
    await client.call('CLIENT', 'TRACKING', 'ON');
    await client.call('SET', 'a', '1');
    await client.call('GET', 'k');
    await other.call('FLUSHALL');
    expect(await client.next()).to.equal('>2\r\n$10\r\ninvalidate\r\n_\r\n');
  });

  it('leaves out own changes with NOLOOP', async () => {
    await client.call('CLIENT', 'TRACKING', 'ON', 'NOLOOP');
    await client.call('GET', 'k');
    await client.call('SET', 'k', '1');
    await client.call('GET', 'k');
    await other.call('SET', 'k', '2');
    expect(await client.next()).to.equal(invalidated('k'));
    expect(client.unread).to.deep.equal([]);
  });

  it('tells of every key with a prefix in BCAST mode', async () => {
    await client.call('CLIENT', 'TRACKING', 'ON', 'BCAST', 'PREFIX', 'a:', 'PREFIX', 'b:');
    await other.call('SET', 'c:1', '1');
    await other.call('SET', 'b:1', '1');
    expect(await client.next()).to.equal(invalidated('b:1'));
    expect(await client.call('CLIENT', 'TRACKING', 'ON', 'BCAST', 'PREFIX', 'a:x')).to.match(
      /^-ERR Prefix 'a:x' overlaps with an existing prefix 'a:'/,
    );
  });

  it('tells of what changed together in one message for each prefix', async () => {
    await client.call('CLIENT', 'TRACKING', 'ON', 'BCAST', 'PREFIX', 'a:', 'PREFIX', 'b:');
    await other.call('MSET', 'a:1', '1', 'b:1', '1', 'a:2', '1', 'a:1', '2');
    expect([await client.next(), await client.next()]).to.deep.equal([invalidated('a:1', 'a:2'), invalidated('b:1')]);
  });

  it('takes the keys of a script for read, until the owner says which were', async () => {
    await client.call('CLIENT', 'TRACKING', 'ON');
    await client.call('EVAL', "return redis.call('get', KEYS[1])", '2', 'k', 'l');
    await other.call('SET', 'k', '1');
    expect(await client.next()).to.equal(invalidated('k'));
    await other.call('SET', 'l', '1');
    expect(await client.next()).to.equal(invalidated('l'));
    face.owner.scriptReads = ['k'];
    await client.call('EVAL', "return redis.call('get', KEYS[1])", '2', 'k', 'l');
    await other.call('MSET', 'l', '2', 'k', '2');
    expect(await client.next()).to.equal(invalidated('k'));
    expect(await client.call('PING')).to.equal('+PONG\r\n');
  });

  it('tracks what CLIENT CACHING says in OPTIN and OPTOUT mode', async () => {
    await client.call('CLIENT', 'TRACKING', 'ON', 'OPTIN');
    await client.call('GET', 'a');
    await client.call('CLIENT', 'CACHING', 'YES');
    await client.call('GET', 'b');
    await other.call('MSET', 'a', '1', 'b', '1');
    expect(await client.next()).to.equal(invalidated('b'));
    await client.call('CLIENT', 'TRACKING', 'OFF');
    await client.call('CLIENT', 'TRACKING', 'ON', 'OPTOUT');
    await client.call('CLIENT', 'CACHING', 'NO');
    await client.call('GET', 'a');
    await client.call('GET', 'b');
    await other.call('MSET', 'a', '1', 'b', '1');
    expect(await client.next()).to.equal(invalidated('b'));
  });

  it('tracks what a transaction reads', async () => {
    await client.call('CLIENT', 'TRACKING', 'ON');
    await client.call('MULTI');
    await client.call('GET', 'k');
    await client.call('EXEC');
    await other.call('SET', 'k', '1');
    expect(await client.next()).to.equal(invalidated('k'));
  });

  it('tells another connection instead, also one of RESP2 that subscribes', async () => {
    const id = /:(\d+)/.exec(await other.call('CLIENT', 'ID'))?.[1] as string;
    await other.call('SUBSCRIBE', '__redis__:invalidate');
    expect(await client.call('CLIENT', 'TRACKING', 'ON', 'REDIRECT', id)).to.equal('+OK\r\n');
    expect(await client.call('CLIENT', 'GETREDIR')).to.equal(`:${id}\r\n`);
    await client.call('GET', 'k');
    await client.call('SET', 'k', '1');
    expect(await other.next()).to.equal(encodePush(['message', '__redis__:invalidate', ['k']], 2));
    other.close();
    await eventually(() => expect(face.server.connections).to.equal(1));
    await client.call('GET', 'k');
    client.send(encodeCommand(['SET', 'k', '2']));
    expect(await client.next()).to.equal('+OK\r\n');
    expect(await client.next()).to.equal(encodePush(['tracking-redir-broken', Number(id)], 3));
    expect(await client.call('CLIENT', 'TRACKINGINFO')).to.contain('broken_redirect');
  });

  it("refuses what does not fit together, in Redis's words", async () => {
    const rows: [string, string][] = [
      ['TRACKING ON OPTIN OPTOUT', "ERR You can't specify both OPTIN mode and OPTOUT mode"],
      ['TRACKING ON PREFIX a', 'ERR PREFIX option requires BCAST mode to be enabled'],
      ['TRACKING ON BCAST OPTIN', 'ERR OPTIN and OPTOUT are not compatible with BCAST'],
      ['TRACKING ON REDIRECT 9999', 'ERR The client ID you want redirect to does not exist'],
      ['TRACKING MAYBE', 'ERR syntax error'],
      ['TRACKING ON FOO', 'ERR syntax error'],
      [
        'CACHING YES',
        'ERR CLIENT CACHING can be called only when the client is in tracking mode with OPTIN or OPTOUT mode enabled',
      ],
    ];
    for (const [line, text] of rows) {
      expect(await client.call('CLIENT', ...line.split(' ')), line).to.equal(`-${text}\r\n`);
    }
    expect(await client.call('CLIENT', 'TRACKINGINFO')).to.equal(
      '%3\r\n$5\r\nflags\r\n~1\r\n$3\r\noff\r\n$8\r\nredirect\r\n:-1\r\n$8\r\nprefixes\r\n*0\r\n',
    );
  });

  it('forgets the keys that were read first beyond a bound, and says so', async () => {
    const small = await new RespFaceHarness({ limits: { maxTrackedKeys: 2 } }).start();
    try {
      const one = await small.client(3);
      await one.call('CLIENT', 'TRACKING', 'ON');
      await one.call('MGET', 'a', 'b');
      one.send(encodeCommand(['GET', 'c']));
      expect([await one.next(), await one.next()]).to.deep.equal(['_\r\n', invalidated('a')]);
    } finally {
      await small.stop();
    }
  });
});

const hasLists = Array.isArray(admit(['BLPOP', 'k', '0'])) || 'handler' in admit(['BLPOP', 'k', '0']);

describe('native protocol: commands that wait', () => {
  let face: RespFaceHarness;
  let client: RawClient;
  let other: RawClient;
  before(function () {
    if (!hasLists) this.skip();
  });
  beforeEach(async () => {
    face = await new RespFaceHarness().start();
    client = await face.client();
    other = await face.client();
  });
  afterEach(() => face.stop());

  const waiting = (count: number) =>
    eventually(() => expect(face.owner.ownerOf('kv:db-first:0').waiters).to.have.length(count));

  it('answer when there is something, and what comes behind them waits', async () => {
    client.send(encodeCommand(['BLPOP', 'q', '0']) + encodeCommand(['PING']));
    await waiting(1);
    expect(client.unread).to.deep.equal([]);
    await other.call('RPUSH', 'q', 'x');
    expect([await client.next(), await client.next()]).to.deep.equal(['*2\r\n$1\r\nq\r\n$1\r\nx\r\n', '+PONG\r\n']);
  });

  it('give up after their time, or when another connection says so', async () => {
    expect(await client.call('BLPOP', 'q', '0.01')).to.equal('*-1\r\n');
    const id = /:(\d+)/.exec(await client.call('CLIENT', 'ID'))?.[1] as string;
    client.send(encodeCommand(['BLPOP', 'q', '0']));
    await waiting(1);
    expect(await other.call('CLIENT', 'LIST')).to.contain('flags=b');
    expect(await other.call('CLIENT', 'UNBLOCK', id)).to.equal(':1\r\n');
    expect(await client.next()).to.equal('*-1\r\n');
    client.send(encodeCommand(['BLPOP', 'q', '0']));
    await waiting(1);
    expect(await other.call('CLIENT', 'UNBLOCK', id, 'ERROR')).to.equal(':1\r\n');
    expect(await client.next()).to.equal('-UNBLOCKED client unblocked via CLIENT UNBLOCK\r\n');
    expect(await other.call('CLIENT', 'UNBLOCK', id)).to.equal(':0\r\n');
  });

  it('are given up when their connection goes, or the server ends', async () => {
    client.send(encodeCommand(['BLPOP', 'q', '0']));
    await waiting(1);
    client.close();
    await waiting(0);
    other.send(encodeCommand(['BLPOP', 'q', '0']));
    await waiting(1);
    await face.server.close(AbortSignal.timeout(2_000));
    await waiting(0);
    await other.closed();
  });

  it('do not wait inside a transaction', async () => {
    await client.call('MULTI');
    await client.call('BLPOP', 'q', '0');
    expect(await client.call('EXEC')).to.equal('*1\r\n*-1\r\n');
  });

  it('let messages through in RESP3', async () => {
    const modern = await face.client(3);
    await modern.call('SUBSCRIBE', 'c');
    modern.send(encodeCommand(['BLPOP', 'q', '0']));
    await waiting(1);
    face.owner.ownerOf('kv:db-first:0').tell(({ kind }) => kind === 'channel', {
      type: 'message',
      channel: 'c',
      payload: 'm',
    });
    expect(await modern.next()).to.equal(encodePush(['message', 'c', 'm'], 3));
  });
});
