/** Proves ESO1, ESO2, EVS1–EVS3. */
import http from 'node:http';
import { expect } from 'chai';
import { permissionsOf } from '../../../src/domain/kv/index.js';
import { BroadcastQueue } from '../../../src/edge/index.js';
import { ByteBudget, type DatabaseId, type PartitionName } from '../../../src/kernel/index.js';
import type { Access, KvGrant } from '../../../src/ports/index.js';
import { eventually } from '../../support/eventually.js';
import { KvEndpointHarness, READ_ONLY_TOKEN, TOKEN, WIDE_TOKEN } from '../../support/kv-endpoint.js';
import { realTime } from '../../support/real-time.js';

const SSE = { accept: 'text/event-stream' };

/** An open stream and the text that has arrived. */
class StreamClient {
  text = '';
  status = 0;
  headers: http.IncomingHttpHeaders = {};
  isEnded = false;
  #request: http.ClientRequest | undefined;

  static async open(
    face: KvEndpointHarness,
    path: string,
    method = 'POST',
    token: string = TOKEN,
  ): Promise<StreamClient> {
    const client = new StreamClient();
    await new Promise<void>((resolve, reject) => {
      client.#request = http.request(
        {
          host: '127.0.0.1',
          port: face.port,
          path,
          method,
          agent: false,
          headers: { ...SSE, authorization: `Bearer ${token}`, 'svc-encoding': 'base64' },
        },
        (response) => {
          client.status = response.statusCode ?? 0;
          client.headers = response.headers;
          response.setEncoding('utf8');
          response.on('data', (text: string) => {
            client.text += text;
          });
          response.on('end', () => {
            client.isEnded = true;
          });
          response.on('error', () => {
            client.isEnded = true;
          });
          resolve();
        },
      );
      client.#request.on('error', reject);
      client.#request.end(method === 'POST' ? '[]' : undefined);
    });
    return client;
  }

  lines(): string[] {
    return this.text.split('\n').filter((line) => line.startsWith('data: '));
  }

  /** Stops reading. */
  pause(): void {
    this.#request?.socket?.pause();
  }

  resume(): void {
    this.#request?.socket?.resume();
  }

  close(): void {
    this.#request?.destroy();
  }
}

describe('event streams', () => {
  let face: KvEndpointHarness;
  let clients: StreamClient[];
  const open = async (path: string, method?: string, token?: string) => {
    const client = await StreamClient.open(face, path, method, token);
    clients.push(client);
    return client;
  };

  beforeEach(async () => {
    clients = [];
    face = await new KvEndpointHarness().start();
  });
  afterEach(async () => {
    for (const client of clients) client.close();
    await face.stop();
  });

  it('confirm a subscription, ignore the body, and then show its messages', async () => {
    const client = await open('/subscribe/news');
    expect([client.status, client.headers['content-type'], client.headers['cache-control']]).to.deep.equal([
      200,
      'text/event-stream',
      'no-cache',
    ]);
    expect((await face.get('/publish/news/hello,%20world')).text).to.equal('{"result":1}');
    expect((await face.post('/', ['PUBLISH', 'news', 'two'])).text).to.equal('{"result":1}');
    await eventually(() => {
      expect(client.text).to.equal(
        'data: subscribe,news,1\n\ndata: message,news,hello, world\n\ndata: message,news,two\n\n',
      );
    });
  });

  it('count the subscriptions of each stream separately', async () => {
    const [one, other] = [await open('/subscribe/a/b'), await open('/SUBSCRIBE/a', 'GET')];
    await eventually(() => expect(one.lines()).to.deep.equal(['data: subscribe,a,1', 'data: subscribe,b,2']));
    await eventually(() => expect(other.lines()).to.deep.equal(['data: subscribe,a,1']));
    expect((await face.get('/publish/a/x')).text).to.equal('{"result":2}');
    expect((await face.get('/pubsub/numsub/a/b/c')).text).to.equal('{"result":["a",2,"b",1,"c",0]}');
  });

  it('match patterns', async () => {
    const client = await open('/psubscribe/user:*');
    await face.get('/publish/user:1/hi');
    await face.get('/publish/other/hi');
    await face.get('/publish/user:2/ho');
    await eventually(() => {
      expect(client.lines()).to.deep.equal([
        'data: psubscribe,user:*,1',
        'data: pmessage,user:*,user:1,hi',
        'data: pmessage,user:*,user:2,ho',
      ]);
    });
    expect((await face.get('/pubsub/numpat')).text).to.equal('{"result":1}');
    expect((await face.get('/pubsub/channels')).text).to.equal('{"result":[]}');
  });

  it('end the subscription with the connection', async () => {
    const client = await open('/subscribe/gone');
    expect((await face.get('/publish/gone/x')).text).to.equal('{"result":1}');
    client.close();
    await eventually(async () => expect((await face.get('/publish/gone/x')).text).to.equal('{"result":0}'));
  });

  it('show a payload with line feeds as one event of several lines', async () => {
    const client = await open('/subscribe/lines');
    await face.post('/publish/lines', 'one\ntwo');
    await eventually(() => expect(client.text).to.include('data: message,lines,one\ndata: two\n\n'));
  });

  it('show bytes that are no UTF-8 as replacement characters', async () => {
    const client = await open('/subscribe/raw');
    await face.get('/publish/raw/%ff');
    await eventually(() => expect(client.text).to.include('data: message,raw,\ufffd\n'));
  });

  for (const [path, token, headers, text] of [
    ['/subscribe/a', 'nobody', SSE, 'WRONGPASS invalid or missing auth token'],
    ['/subscribe/a', READ_ONLY_TOKEN, SSE, 'NOPERM'],
    ['/monitor', READ_ONLY_TOKEN, SSE, 'NOPERM'],
    ['/subscribe/a', TOKEN, {}, 'ERR Command "SUBSCRIBE" is not allowed in REST or it has a special context path'],
    ['/monitor', TOKEN, {}, 'ERR Command "MONITOR" is not allowed'],
    ['/subscribe', TOKEN, SSE, "ERR wrong number of arguments for 'subscribe' command"],
    [`/subscribe/${'c/'.repeat(0)}${Array.from({ length: 1001 }, (_, i) => i).join('/')}`, TOKEN, SSE, 'Limit: 1000'],
    ['/subscribe/%zz', TOKEN, SSE, 'ERR malformed percent-encoding'],
  ] as const) {
    it(`are refused: ${path.slice(0, 30)} with ${token}, ${JSON.stringify(headers)}`, async () => {
      const answer = await face.request(path, { method: 'POST', token, headers });
      expect(answer.status).to.equal(token === 'nobody' ? 401 : 400);
      expect(JSON.parse(answer.text).error).to.include(text);
    });
  }

  it('are refused for HEAD', async () => {
    const answer = await face.request('/subscribe/a', { method: 'HEAD', headers: SSE });
    expect(answer.status).to.equal(400);
  });

  it('are refused at the daily limit', async () => {
    face.quotaLeft = 0;
    const answer = await face.request('/subscribe/a', { method: 'POST', headers: SSE });
    expect([answer.status, answer.text]).to.deep.equal([400, '{"error":"ERR max daily request limit exceeded"}']);
  });

  it('are closed when their unread bytes exceed the budget of their database', async () => {
    const budget = new ByteBudget(8_000_000);
    const crowded = await new KvEndpointHarness({ budget }).start();
    try {
      const readers = [
        await StreamClient.open(crowded, '/subscribe/news'),
        await StreamClient.open(crowded, '/subscribe/news'),
      ];
      clients.push(...readers);
      for (const reader of readers) reader.pause();
      // Below the size that is counted: a message of this size can always be published.
      const news = 'x'.repeat(15_000);
      // The kernel's buffers take many messages first.
      await eventually(
        async () => {
          for (let i = 0; i < 50; i += 1) await crowded.post('/publish/news', news);
          expect(await crowded.get('/publish/news/any').then(({ text }) => text)).to.equal('{"result":0}');
        },
        { timeoutMs: 20_000, everyMs: 1 },
      );
      await eventually(() => expect(budget.usedBytes).to.be.below(100_000));
    } finally {
      await crowded.stop();
    }
  });

  it('show long messages completely and in order, also to a slow reader', async () => {
    const [early, late] = [
      await StreamClient.open(face, '/subscribe/news'),
      await StreamClient.open(face, '/subscribe/news'),
    ];
    late.pause();
    const payloads = Array.from({ length: 30 }, (_, i) => `${i}:`.padEnd(1 + ((i * 7919) % 200_000), 'ä'));
    for (const payload of payloads) await face.request('/publish/news', { method: 'POST', body: payload });
    await eventually(() => expect(early.lines()).to.have.length(31));
    late.resume();
    await eventually(() => expect(late.lines()).to.have.length(31));
    const expected = payloads.map((payload) => `data: message,news,${payload}`);
    for (const stream of [early, late]) {
      expect(
        stream
          .lines()
          .slice(1)
          .every((line, i) => line === expected[i]),
      ).to.equal(true);
    }
  });

  it('end when the process stops', async () => {
    const client = await open('/subscribe/a');
    await face.server.close(AbortSignal.timeout(1000));
    await eventually(() => expect(client.isEnded).to.equal(true));
  });
});

describe('event streams of a user with changed rules', () => {
  const clients: StreamClient[] = [];
  let face: KvEndpointHarness;
  let current: KvGrant | undefined;
  let version = 0;
  const give = (rules: string | undefined) => {
    version += 1;
    const text = rules?.replaceAll(' ', '\n');
    current = text === undefined ? undefined : grantOf(text);
  };
  const grantOf = (rules: string): KvGrant => ({
    database: 'db-test' as DatabaseId,
    partitions: ['kv:db-test:0' as PartitionName],
    role: 'standard',
    user: 'alice',
    permissions: permissionsOf(rules, 'alice'),
    rules,
    limits: { maxCommandBytes: 1_000_000, maxRequestsPerDay: 0 },
  });
  const admin = grantOf('on\n+@all');
  const open = async (path: string) => {
    const client = await StreamClient.open(face, path);
    clients.push(client);
    return client;
  };

  beforeEach(async () => {
    const access: Access = {
      grantFor: (token) => (token === 'admin' ? { ...admin, permissions: undefined } : current),
      get version() {
        return version;
      },
    };
    face = await new KvEndpointHarness({ access }).start();
  });
  afterEach(async () => {
    for (const client of clients.splice(0)) client.close();
    await face.stop();
  });

  for (const [path, before, after] of [
    ['/subscribe/news', '&news +@all', '&other +@all'],
    ['/psubscribe/n*', '&n* +@all', '&ne* +@all'],
    ['/monitor', '~* &* +@all -flushall', '~* &* +@all -monitor'],
    ['/subscribe/news', '&news +@all', undefined],
  ] as const) {
    it(`end before the next event: ${path}, ${after ?? 'deleted'}`, async () => {
      give(before);
      const client = await open(path);
      expect(client.status).to.equal(200);
      await eventually(() => expect(client.lines()).to.have.length(1));
      give(after);
      await face.get('/publish/news/secret', { token: 'admin' });
      await eventually(() => expect(client.isEnded).to.equal(true));
      expect(client.lines()).to.have.length(1);
    });
  }

  it('continue while they are allowed', async () => {
    give('&news &other +@all');
    const client = await open('/subscribe/news');
    give('&n* +@all');
    await face.get('/publish/news/hello', { token: 'admin' });
    await eventually(() => expect(client.lines()).to.have.length(2));
    expect(client.isEnded).to.equal(false);
  });
});

describe('a publisher to event streams over REST', () => {
  it('is answered once enough has been handed on, and does not delay other databases', async () => {
    const held: (() => void)[] = [];
    let isHeld = true;
    const timers = { ...realTime, soon: (action: () => void) => (isHeld ? held.push(action) : realTime.soon(action)) };
    const face = await new KvEndpointHarness({ broadcasts: new BroadcastQueue(realTime, timers) }).start();
    const streams: StreamClient[] = [];
    try {
      for (let i = 0; i < 12; i += 1) streams.push(await StreamClient.open(face, '/subscribe/news'));
      const body = 'x'.repeat(512 * 1024);
      let isAnswered = false;
      const answer = face.request('/publish/news', { method: 'POST', body }).then((given) => {
        isAnswered = true;
        return given;
      });
      await eventually(() => expect(held).to.have.length(1));
      expect((await face.request('/set/k/v', { token: WIDE_TOKEN })).text).to.equal('{"result":"OK"}');
      expect((await face.request('/set/k/v')).text).to.equal('{"result":"OK"}');
      expect(isAnswered).to.equal(false);
      isHeld = false;
      for (const action of held) action();
      expect((await answer).text).to.equal('{"result":12}');
      await eventually(() => {
        for (const stream of streams) expect(stream.text.length).to.be.above(body.length);
      });
    } finally {
      for (const stream of streams) stream.close();
      await face.stop();
    }
  });
});
