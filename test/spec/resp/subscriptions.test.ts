/** Proves RCR2, RO1, RO2, TT1–TT4. */
import { expect } from 'chai';
import { encodeCommand, encodePush } from '../../../src/codec/resp/index.js';
import { admit } from '../../../src/domain/kv/index.js';
import type { KvEvent } from '../../../src/protocol/index.js';
import { eventually } from '../../support/eventually.js';
import { type RawClient, RespEndpointHarness } from '../../support/resp-endpoint.js';
import { standOfEachTest } from '../../support/stand-hooks.js';

const push = (version: 2 | 3, ...items: (string | number | null)[]) => encodePush(items, version);

describe('RESP: subscriptions', () => {
  const face = standOfEachTest(() => new RespEndpointHarness().start());
  let client: RawClient;
  beforeEach(async () => {
    client = await face.client();
  });

  /** Publishes like the owner, for another client. */
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

  it('are confirmed one by one, with their number', async () => {
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

  it('deliver messages, in order, until they end', async () => {
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

  it('are confirmed also with CLIENT REPLY OFF, and once per repeated name', async () => {
    client.send(encodeCommand(['CLIENT', 'REPLY', 'OFF']));
    expect(await client.call('SUBSCRIBE', 'c', 'c')).to.equal('*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n');
    expect(await client.next()).to.equal('*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n');
    expect(await (await face.client()).call('PUBLISH', 'c', 'm')).to.equal(':1\r\n');
    expect(await client.next()).to.equal('*3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$1\r\nm\r\n');
    expect(await client.call('UNSUBSCRIBE')).to.equal('*3\r\n$11\r\nunsubscribe\r\n$1\r\nc\r\n:0\r\n');
  });

  it('allow few commands to a RESP2 client, and all of them in RESP3', async () => {
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

  it('never deliver in the middle of answers, nor before that of a running command', async () => {
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

  it('are limited in number', async () => {
    const small = await new RespEndpointHarness({ limits: { maxSubscriptions: 2 } }).start();
    try {
      const one = await small.client(3);
      await one.call('SUBSCRIBE', 'a');
      await one.call('PSUBSCRIBE', 'b');
      expect(await one.call('SUBSCRIBE', 'c')).to.equal('-ERR too many subscriptions. Limit: 2\r\n');
    } finally {
      await small.stop();
    }
  });

  it('end the connection of a client that does not read, at a bound', async () => {
    const small = await new RespEndpointHarness({ limits: { maxOutputBytes: 4 * 1024 * 1024 } }).start();
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

  it('end the connection of a client with many unread bytes for long', async () => {
    const limits = { softOutputBytes: 100_000, softOutputMs: 50, sweepEveryMs: 10 };
    const small = await new RespEndpointHarness({ limits }).start();
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

describe('RESP: tracking', () => {
  const face = standOfEachTest(() => new RespEndpointHarness().start());
  let client: RawClient;
  let other: RawClient;
  beforeEach(async () => {
    client = await face.client(3);
    other = await face.client();
  });

  const invalidated = (...keys: string[]) => encodePush(['invalidate', keys], 3);

  it('sends one invalidation for a key that was read, when it changes', async () => {
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

  it('sends null when everything may have changed', async () => {
    await client.call('CLIENT', 'TRACKING', 'ON');
    await client.call('SET', 'a', '1');
    await client.call('GET', 'k');
    await other.call('FLUSHALL');
    expect(await client.next()).to.equal('>2\r\n$10\r\ninvalidate\r\n_\r\n');
  });

  it('omits own changes with NOLOOP', async () => {
    await client.call('CLIENT', 'TRACKING', 'ON', 'NOLOOP');
    await client.call('GET', 'k');
    await client.call('SET', 'k', '1');
    await client.call('GET', 'k');
    await other.call('SET', 'k', '2');
    expect(await client.next()).to.equal(invalidated('k'));
    expect(client.unread).to.deep.equal([]);
  });

  it('sends every key with a prefix in BCAST mode', async () => {
    await client.call('CLIENT', 'TRACKING', 'ON', 'BCAST', 'PREFIX', 'a:', 'PREFIX', 'b:');
    await other.call('SET', 'c:1', '1');
    await other.call('SET', 'b:1', '1');
    expect(await client.next()).to.equal(invalidated('b:1'));
    expect(await client.call('CLIENT', 'TRACKING', 'ON', 'BCAST', 'PREFIX', 'a:x')).to.match(
      /^-ERR Prefix 'a:x' overlaps with an existing prefix 'a:'/,
    );
  });

  it('sends keys that changed together in one message per prefix', async () => {
    await client.call('CLIENT', 'TRACKING', 'ON', 'BCAST', 'PREFIX', 'a:', 'PREFIX', 'b:');
    await other.call('MSET', 'a:1', '1', 'b:1', '1', 'a:2', '1', 'a:1', '2');
    expect([await client.next(), await client.next()]).to.deep.equal([invalidated('a:1', 'a:2'), invalidated('b:1')]);
  });

  it('treats the keys of a script as read, until the owner reports the actual ones', async () => {
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

  it('follows CLIENT CACHING in OPTIN and OPTOUT mode', async () => {
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

  it('includes the reads of a transaction', async () => {
    await client.call('CLIENT', 'TRACKING', 'ON');
    await client.call('MULTI');
    await client.call('GET', 'k');
    await client.call('EXEC');
    await other.call('SET', 'k', '1');
    expect(await client.next()).to.equal(invalidated('k'));
  });

  it('sends to another connection with REDIRECT, also to a subscribed RESP2 one', async () => {
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

  it('reports that the other connection is gone as soon as QUIT has ended it', async () => {
    const id = /:(\d+)/.exec(await other.call('CLIENT', 'ID'))?.[1] as string;
    await other.call('SUBSCRIBE', '__redis__:invalidate');
    await client.call('CLIENT', 'TRACKING', 'ON', 'REDIRECT', id);
    await client.call('GET', 'k');
    // Its socket stays open: some clients never close it.
    expect(await other.call('QUIT')).to.equal('+OK\r\n');
    await client.call('SET', 'k', '2');
    expect(await client.next()).to.equal(encodePush(['tracking-redir-broken', Number(id)], 3));
    expect(await client.call('CLIENT', 'TRACKINGINFO')).to.contain('broken_redirect');
    expect(await client.call('CLIENT', 'LIST')).not.to.contain(`id=${id} `);
  });

  it('shows in TRACKINGINFO that the other connection is gone to a RESP2 client, which cannot receive a message', async () => {
    const plain = await face.client(2);
    const id = /:(\d+)/.exec(await other.call('CLIENT', 'ID'))?.[1] as string;
    await plain.call('CLIENT', 'TRACKING', 'ON', 'REDIRECT', id);
    await plain.call('GET', 'k');
    await other.call('QUIT');
    expect(await plain.call('SET', 'k', '2')).to.equal('+OK\r\n');
    await eventually(async () =>
      expect(await plain.call('CLIENT', 'TRACKINGINFO')).to.contain('$2\r\non\r\n$15\r\nbroken_redirect\r\n'),
    );
    expect(await plain.call('CLIENT', 'TRACKING', 'ON')).to.equal('+OK\r\n');
    expect(await plain.call('CLIENT', 'TRACKINGINFO')).not.to.contain('broken_redirect');
  });

  it('sends to clients of RESP2 and RESP3 that have read one key, each in its form', async () => {
    const plain = await face.client(2);
    const id = /:(\d+)/.exec(await other.call('CLIENT', 'ID'))?.[1] as string;
    await other.call('SUBSCRIBE', '__redis__:invalidate');
    await plain.call('CLIENT', 'TRACKING', 'ON', 'REDIRECT', id);
    await client.call('CLIENT', 'TRACKING', 'ON');
    await plain.call('GET', 'k');
    await client.call('GET', 'k');
    await plain.call('SET', 'k', '1');
    expect(await other.next()).to.equal(encodePush(['message', '__redis__:invalidate', ['k']], 2));
    expect(await client.next()).to.equal(invalidated('k'));
  });

  it("shows BCAST without prefixes as the prefix '', and refuses any other prefix with it", async () => {
    await client.call('CLIENT', 'TRACKING', 'ON', 'BCAST');
    expect(await client.call('CLIENT', 'TRACKINGINFO')).to.match(/prefixes\r\n\*1\r\n\$0\r\n\r\n$/);
    expect(await client.call('CLIENT', 'TRACKING', 'ON', 'BCAST', 'PREFIX', 'a')).to.equal(
      "-ERR Prefix 'a' overlaps with an existing prefix ''. Prefixes for a single client must not overlap.\r\n",
    );
    expect(await client.call('CLIENT', 'TRACKING', 'ON', 'BCAST')).to.equal('+OK\r\n');
    expect(await client.call('CLIENT', 'TRACKINGINFO')).to.match(/prefixes\r\n\*1\r\n\$0\r\n\r\n$/);
    await client.call('SET', 'k', '1');
    expect(await client.next()).to.equal(invalidated('k'));
  });

  it('refuses contradictory options with the texts of Redis', async () => {
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

  it('drops the oldest keys above a bound, with an invalidation', async () => {
    const small = await new RespEndpointHarness({ limits: { maxTrackedKeys: 2 } }).start();
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

describe('RESP: blocking commands', () => {
  let face: RespEndpointHarness;
  let client: RawClient;
  let other: RawClient;
  before(function () {
    if (!hasLists) this.skip();
  });
  beforeEach(async () => {
    face = await new RespEndpointHarness().start();
    client = await face.client();
    other = await face.client();
  });
  afterEach(() => face.stop());

  const waiting = (count: number) =>
    eventually(() => expect(face.owner.ownerOf('kv:db-first:0').waiters).to.have.length(count));

  it('answer when an element arrives, and later commands wait', async () => {
    client.send(encodeCommand(['BLPOP', 'q', '0']) + encodeCommand(['PING']));
    await waiting(1);
    expect(client.unread).to.deep.equal([]);
    await other.call('RPUSH', 'q', 'x');
    expect([await client.next(), await client.next()]).to.deep.equal(['*2\r\n$1\r\nq\r\n$1\r\nx\r\n', '+PONG\r\n']);
  });

  it('end after their timeout, or with CLIENT UNBLOCK', async () => {
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

  it('end when their connection ends or the server stops', async () => {
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

  it('do not block inside a transaction', async () => {
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
