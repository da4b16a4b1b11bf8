/**
 * Walls on a real process: forbidden destinations, headers that cannot be smuggled in, the separation of accounts, and
 * secrets that are never shown.
 */
import { connect, type Socket } from 'node:net';
import { expect } from 'chai';
import { eventually } from '../../support/eventually.js';
import { freePort } from '../../support/free-port.js';
import { residentMib } from '../../support/process-memory.js';
import {
  QUEUE_READONLY_TOKEN,
  QUEUE_TOKEN,
  QueueProcess,
  type RawAnswer,
  SIGNING_KEYS,
} from '../../support/queue-process.js';
import { QueueSink } from '../../support/queue-sink.js';
import { QueueTenant } from '../../support/queue-tenant.js';
import { RawDestination } from '../../support/raw-destination.js';
import { standOfAllTests } from '../../support/stand-hooks.js';
import { withinASecond } from '../../support/within-a-second.js';

const UNREACHABLE = 'http://127.0.0.1:9/nobody';
const DELAYED = { 'Svc-Delay': '1d' };
const JSON_CRON = { 'Svc-Cron': '@yearly' };

function expectRefused({ status, text, json }: RawAnswer, wanted: number, words: RegExp | string): void {
  expect(status, text).to.equal(wanted);
  const { error } = json as { error: string };
  if (typeof words === 'string') expect(error).to.equal(words);
  else expect(error).to.match(words);
}

describe('walls: destinations', function () {
  this.timeout(60_000);
  let queue: QueueProcess;
  let allowed: QueueSink;
  let denied: RawDestination;

  before(async () => {
    allowed = await QueueSink.listening();
    denied = await RawDestination.listening((socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'));
    queue = await QueueProcess.start({
      MILLRACE_ALLOW_PRIVATE_DESTINATIONS: 'false',
      MILLRACE_DESTINATION_ALLOW: `127.0.0.1/32:${new URL(allowed.origin).port}`,
    });
  });
  after(async () => {
    await allowed?.close();
    await denied?.close();
    await queue?.stop();
  });

  const LITERALS: readonly [host: string, kind: string, shown: string][] = [
    ['127.0.0.1', 'loopback', '127.0.0.1'],
    ['127.0.0.2', 'loopback', '127.0.0.2'],
    ['127.1', 'loopback', '127.0.0.1'],
    ['127.0.0.1.', 'loopback', '127.0.0.1'],
    ['2130706433', 'loopback', '127.0.0.1'],
    ['0x7f.1', 'loopback', '127.0.0.1'],
    ['0x7f000001', 'loopback', '127.0.0.1'],
    ['0177.0.0.1', 'loopback', '127.0.0.1'],
    ['0', 'loopback', '0.0.0.0'],
    ['[::1]', 'loopback', '::1'],
    ['[::]', 'loopback', '::'],
    ['[0:0:0:0:0:0:0:1]', 'loopback', '::1'],
    ['[::ffff:127.0.0.1]', 'loopback', '::ffff:7f00:1'],
    ['[::ffff:7f00:1]', 'loopback', '::ffff:7f00:1'],
    ['[::127.0.0.1]', 'loopback', '::7f00:1'],
    ['[64:ff9b::127.0.0.1]', 'loopback', '64:ff9b::7f00:1'],
    ['[2002:7f00:1::]', 'loopback', '2002:7f00:1::'],
    ['%31%32%37.0.0.1', 'loopback', '127.0.0.1'],
    ['10.1.2.3', 'private', '10.1.2.3'],
    ['172.31.255.255', 'private', '172.31.255.255'],
    ['192.168.0.1', 'private', '192.168.0.1'],
    ['100.64.0.1', 'private', '100.64.0.1'],
    ['[fd00::1]', 'private', 'fd00::1'],
    ['169.254.169.254', 'link-local', '169.254.169.254'],
    ['0xa9fea9fe', 'link-local', '169.254.169.254'],
    ['[fe80::1]', 'link-local', 'fe80::1'],
    ['[::ffff:169.254.169.254]', 'link-local', '::ffff:a9fe:a9fe'],
    ['224.0.0.1', 'reserved', '224.0.0.1'],
    ['255.255.255.255', 'reserved', '255.255.255.255'],
    ['[ff02::1]', 'reserved', 'ff02::1'],
  ];
  for (const [host, kind, shown] of LITERALS) {
    it(`${host} is refused by POST /v2/publish`, async () => {
      for (const url of [`http://${host}/x`, `https://${host}:8443/x?y=http://public.example/`]) {
        const answer = await queue.post(`/v2/publish/${url}`);
        expectRefused(answer, 400, `invalid destination url: endpoint resolves to a ${kind} address: ${shown}`);
      }
    });
  }

  it('digits of other alphabets and percent-encoded digits are read as digits', async () => {
    const text = 'invalid destination url: endpoint resolves to a loopback address: 127.0.0.1';
    for (const url of ['http://①②⑦.⓪.⓪.①/x', 'http://127。0。0。1/x', 'http://１２７.0.0.1/x']) {
      expectRefused(await queue.post('/v2/batch', { body: [{ destination: url }] }), 400, `message 0: ${text}`);
      expectRefused(await queue.post(`/v2/publish/${encodeURIComponent(url)}`), 400, text);
    }
  });

  it('a user in the URL is refused', async () => {
    for (const url of [
      'http://public.example@127.0.0.1/',
      'http://127.0.0.1@public.example/',
      'http://a:b@c.example/',
    ]) {
      expectRefused(await queue.post(`/v2/publish/${url}`), 400, /must not hold a user or a password/);
    }
  });

  it('a private address is refused for messages, callbacks, groups and schedules', async () => {
    const url = 'http://127.1/x';
    const fine = 'http://public.example/';
    const words = /resolves to a loopback address: 127\.0\.0\.1$/;
    const { status } = await queue.post('/v2/topics/walls/endpoints', { body: { endpoints: [{ url: fine }] } });
    expect(status).to.equal(200);
    const callbacks = [
      'Svc-Callback',
      'Svc-Failure-Callback',
      'Svc-Callback-Callback',
      'Svc-Callback-Failure-Callback',
      'Svc-Failure-Callback-Callback',
    ];
    for (const name of callbacks) {
      const parent = /^(Svc-(?:Failure-)?Callback)-/.exec(name)?.[1];
      const headers = { ...(parent === undefined ? {} : { [parent]: fine }), [name]: url, ...DELAYED };
      expectRefused(await queue.post(`/v2/publish/${fine}`, { headers }), 400, words);
      expectRefused(await queue.post('/v2/publish/walls', { headers }), 400, words);
      expectRefused(await queue.post(`/v2/enqueue/q/${fine}`, { headers }), 400, words);
      expectRefused(await queue.post('/v2/batch', { body: [{ destination: fine, headers }] }), 400, words);
      expectRefused(await queue.post(`/v2/schedules/${fine}`, { headers: { ...headers, ...JSON_CRON } }), 400, words);
      expectRefused(await queue.patch('/v2/topics/walls', { body: { headers } }), 400, words);
      expectRefused(await queue.post('/v2/dlq/retry?dlqIds=1700000000000-1', { headers }), 400, words);
    }
    expectRefused(await queue.post(`/v2/publish/${fine}?svc-callback=${url}`), 400, words);
    expectRefused(await queue.post(`/v2/enqueue/q/${url}`), 400, words);
    expectRefused(await queue.post('/v2/batch', { body: [{ destination: fine }, { destination: url }] }), 400, words);
    expectRefused(await queue.post('/v2/batch', { body: [{ destination: fine, callback: url }] }), 400, words);
    expectRefused(await queue.post(`/v2/schedules/${url}`, { headers: JSON_CRON }), 400, words);
    const endpoints = [{ url: fine }, { url }];
    expectRefused(await queue.post('/v2/topics/walls/endpoints', { body: { endpoints } }), 400, words);
    expect((await queue.get('/v2/topics/walls')).json).to.deep.include({ endpoints: [{ url: fine }] });
    expect((await queue.get('/v2/queues')).json).to.deep.equal([]);
    expect((await queue.get('/v2/schedules')).json).to.deep.equal([]);
  });

  it('a name that resolves to this machine is accepted, and fails without a connection', async () => {
    for (const name of ['localhost', 'LOCALHOST.', 'anything.localhost']) {
      const id = await queue.publish(denied.url('/hook', name), { headers: { 'Svc-Retries': '0' } });
      const entry = await queue.deadLetterOf(id);
      expect(entry).to.include({ responseStatus: 0 });
      // Some systems cannot resolve the other names; where they can, the names lead to this machine.
      if (name === 'localhost') expect(entry.error).to.match(/^destination address is not allowed/);
    }
    expect(denied.connections).to.equal(0);
  });

  it("an address of the operator's list is called, on its port only", async () => {
    const path = allowed.path();
    await queue.publish(allowed.url(path), { body: 'b' });
    expect(await allowed.call(path)).to.include({ body: 'b' });
    const { port } = new URL(allowed.origin);
    expectRefused(await queue.post(`/v2/publish/http://127.0.0.2:${port}/x`), 400, /loopback/);
    expectRefused(await queue.post(`/v2/publish/${denied.url()}`), 400, /loopback/);
    expectRefused(await queue.post('/v2/publish/http://127.0.0.1/x'), 400, /loopback/);
    expect(denied.connections).to.equal(0);
  });

  it('a redirect to a private address is not followed', async () => {
    for (const location of ['http://169.254.169.254/latest/meta-data/', denied.url(), '//127.0.0.1/']) {
      const url = allowed.answer(allowed.path('away'), { status: 307, headers: { Location: location } });
      const entry = await queue.deadLetterOf(await queue.publish(url, { headers: { 'Svc-Retries': '0' } }));
      expect(entry).to.deep.include({ responseStatus: 307 });
    }
    expect(denied.connections).to.equal(0);
  });
});

describe('walls: requests', function () {
  this.timeout(60_000);
  const queue = standOfAllTests(() => QueueProcess.start());
  let sink: QueueSink;

  before(async () => {
    ({ sink } = queue);
  });

  const batch = (headers: object, url = UNREACHABLE) =>
    queue.post('/v2/batch', { body: [{ destination: url, headers }] });

  describe('headers of a delivery', () => {
    const BAD: readonly [fault: string, text: string][] = [
      ['a line break', 'a\r\nInjected: 1'],
      ['a bare line feed', 'a\nInjected: 1'],
      ['a bare carriage return', 'a\rInjected: 1'],
      ['NUL', 'a\0b'],
      ['an escape', '\x1b[31m'],
      ['DEL', 'a\x7f'],
    ];
    for (const [fault, value] of BAD) {
      it(`cannot contain ${fault}`, async () => {
        const words = /characters that a header cannot carry/;
        expectRefused(await batch({ 'svc-forward-x': value }), 400, words);
        expectRefused(await batch({ 'content-type': value }), 400, /./);
        expectRefused(await batch({ 'svc-callback': UNREACHABLE, 'svc-callback-forward-x': value }), 400, words);
        expectRefused(await batch({ [`svc-forward-x${value}`]: 'v' }), 400, /is not a header name/);
        const target = `/v2/publish/${UNREACHABLE}?svc-forward-x=${encodeURIComponent(value)}`;
        expectRefused(await queue.post(target), 400, words);
        expectRefused(await batch({ 'svc-method': `GET${value}` }), 400, /method/i);
      });
    }

    it('contain characters beyond one byte as UTF-8, never as line breaks', async () => {
      const value = 'a\u010d\u010aInjected: 1';
      const path = sink.path('utf8');
      expect((await batch({ 'svc-forward-x': value }, sink.url(path))).status).to.equal(200);
      const { headers } = await sink.call(path);
      expect(headers.x).to.equal(Buffer.from(value, 'utf8').toString('latin1'));
      expect(headers).to.not.have.property('injected');
    });

    const OURS = [
      'host content-length transfer-encoding connection upgrade te trailer expect keep-alive',
      'proxy-authorization svc-signature svc-message-id svc-retried svc-schedule-id svc-caller-ip svc-topic-name svc-region',
      'upstash-signature upstash-message-id upstash-retried upstash-caller-ip',
    ]
      .join(' ')
      .split(' ');
    for (const name of OURS) {
      it(`cannot set ${name}`, async () => {
        const path = sink.path('own');
        const asked = [`Svc-Forward-${name}`, `Upstash-Forward-${name}`];
        for (const header of asked) {
          const answer = await queue.post(`/v2/publish/${sink.url(path)}`, { headers: { [header]: 'forged.example' } });
          // The alias's own prefix accepts the header, but it is not sent.
          if (header.startsWith('Svc-Forward-upstash-')) expect(answer.status, answer.text).to.equal(200);
          else expectRefused(answer, 400, /cannot be set/);
        }
        const forwarded = { 'Svc-Header-Forward': 'true', 'X-Well': 'w' };
        // A schedule id is refused as an option of a message.
        const ownNames =
          /^(host|content-length|transfer-encoding|connection|expect|upgrade|te|trailer|svc-schedule-id)$/;
        await queue.publish(sink.url(path), {
          headers: { ...forwarded, ...(ownNames.test(name) ? {} : { [name]: 'forged.example' }) },
          body: 'last',
        });
        await eventually(() => expect(sink.calls(path).some(({ body }) => body === 'last')).to.equal(true));
        for (const { headers } of sink.calls(path)) expect(JSON.stringify(headers)).to.not.include('forged.example');
        expect(sink.calls(path).at(-1)?.headers).to.include({ 'x-well': 'w' });
      });
    }

    it("never contain the token of the publisher's call", async () => {
      const path = sink.path('key');
      const headers = { 'Svc-Header-Forward': 'true', Cookie: 'c=1', Connection: 'keep-alive, X-Hop', 'X-Hop': 'h' };
      await queue.publish(`${sink.url(path)}?msgq_token=${encodeURIComponent(QUEUE_TOKEN)}&a=1`, { headers });
      const call = await sink.call(path);
      expect(call.target).to.equal(`${path}?a=1`);
      expect(call.headers).to.include({ cookie: 'c=1' });
      expect(JSON.stringify(call.headers)).to.not.include(QUEUE_TOKEN);
      expect(call.headers).to.not.have.any.keys('authorization', 'x-hop');
    });
  });

  describe('names that are special in JavaScript', () => {
    for (const name of ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', '__defineGetter__']) {
      it(`${name} is an ordinary header, queue, group, schedule, label, flow-control key and deduplication id`, async () => {
        const path = sink.path('names');
        const held = sink.hold(path);
        const headers = {
          [`Svc-Forward-${name}`]: 'value',
          'Svc-Label': name,
          'Svc-Flow-Control-Key': name,
          'Svc-Flow-Control-Value': 'parallelism=3',
          'Svc-Deduplication-Id': name,
        };
        const target = `/v2/enqueue/${name}/${held}`;
        const first = await queue.post(target, { headers, body: 'b' });
        expect(first.status, first.text).to.equal(200);
        const again = await queue.post(target, { headers, body: 'b' });
        expect(again.status, again.text).to.equal(202);
        const { messageId } = first.json as { messageId: string };
        const record = (await queue.get(`/v2/messages/${messageId}`)).json as Record<string, unknown>;
        expect(record).to.include({ queueName: name, label: name, flowControlKey: name });
        const shown = Object.entries(record.header as object).find(([key]) => key.toLowerCase() === name.toLowerCase());
        expect(shown?.[1]).to.deep.equal(['value']);
        expect((await queue.get(`/v2/queues/${name}`)).json).to.include({ name, lag: 1 });
        expect((await queue.get(`/v2/flowControl/${name}`)).json).to.include({
          flowControlKey: name,
          parallelismCount: 1,
        });
        await sink.call(path);
        sink.release(path);
        await queue.eventsOf(messageId, 'DELIVERED');
        const listed = (await queue.get(`/v2/events?label=${name}`)).json as { events: object[] };
        expect(listed.events).to.have.length.above(1);

        const endpoints = [{ url: sink.url(path), name }];
        expect((await queue.post(`/v2/topics/${name}/endpoints`, { body: { endpoints } })).status).to.equal(200);
        expect((await queue.get(`/v2/topics/${name}`)).json).to.deep.include({ name, endpoints });
        const schedule = { headers: { ...JSON_CRON, 'Svc-Schedule-Id': name } };
        expect((await queue.post(`/v2/schedules/${name}`, schedule)).status).to.equal(200);
        expect((await queue.get(`/v2/schedules/${name}`)).json).to.include({ scheduleId: name, destination: name });
        for (const kind of ['schedules', 'topics', 'queues']) {
          expect((await queue.delete(`/v2/${kind}/${name}`)).status).to.equal(200);
        }
      });

      it(`${name} gives 404 where no such id exists`, async () => {
        const targets = ['messages', 'queues', 'topics', 'schedules', 'dlq'].map((kind) => `/v2/${kind}/x${name}`);
        for (const target of [...targets, `/v2/messages/${name}`, `/v2/dlq/${name}`, `/v2/flowControl/x${name}`]) {
          expectRefused(await queue.get(target), 404, /not found/);
        }
        expectRefused(await queue.get(`/v2/dlq?${name}=1`), 400, /./);
        expectRefused(await queue.delete(`/v2/dlq?${name}=1`), 400, /./);
      });
    }

    it('arrive as headers', async () => {
      const destination = await RawDestination.listening((socket) => socket.end('HTTP/1.1 204 \r\n\r\n'));
      const names = ['__proto__', 'constructor', 'hasOwnProperty'];
      const headers = Object.fromEntries(names.map((name) => [`Svc-Forward-${name}`, `value of ${name}`]));
      await queue.publish(destination.url(), { headers });
      await eventually(() => expect(destination.requests).to.have.lengthOf(1));
      for (const name of names) {
        expect(destination.requests[0]?.toLowerCase()).to.include(`\r\n${name}: value of ${name}\r\n`.toLowerCase());
      }
      await destination.close();
    });

    it('have no effect as members of JSON bodies', async () => {
      const bodies = [
        `[{"destination":"${UNREACHABLE}","__proto__":{"queue":"polluted"},"headers":{"__proto__":"x","svc-delay":"1d"}}]`,
        `[{"destination":"${UNREACHABLE}","headers":{"constructor":{"prototype":{"queue":"polluted"}}}}]`,
      ];
      for (const body of bodies) {
        const { status, text } = await queue.post('/v2/batch', { body });
        expect(status, text).to.be.oneOf([200, 400]);
      }
      expectRefused(await queue.post('/v2/queues', { body: '{"__proto__":{"queueName":"polluted"}}' }), 400, /./);
      const names = (await queue.get('/v2/queues')).json as { name: string }[];
      expect(names.map(({ name }) => name)).to.not.include('polluted');
    });
  });

  describe('framing', () => {
    const head = (path: string) =>
      `POST /v2/publish/${sink.url(path)} HTTP/1.1\r\nHost: q\r\nAuthorization: Bearer ${QUEUE_TOKEN}\r\n`;
    const smuggled = 'GET /v2/keys HTTP/1.1\r\nHost: q\r\n\r\n';
    const ROWS: readonly [fault: string, request: (path: string) => string][] = [
      [
        'a length and chunks',
        (path) => `${head(path)}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${smuggled}`,
      ],
      [
        'chunks and a length',
        (path) => `${head(path)}Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n${smuggled}`,
      ],
      ['two lengths', (path) => `${head(path)}Content-Length: 1\r\nContent-Length: 9\r\n\r\nb${smuggled}`],
      ['the same length twice', (path) => `${head(path)}Content-Length: 1\r\nContent-Length: 1\r\n\r\nb${smuggled}`],
      ['a list of lengths', (path) => `${head(path)}Content-Length: 1, 1\r\n\r\nb${smuggled}`],
      ['a length with a sign', (path) => `${head(path)}Content-Length: +1\r\n\r\nb${smuggled}`],
      ['chunks by another name', (path) => `${head(path)}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n${smuggled}`],
      [
        'chunks that are not last',
        (path) => `${head(path)}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n${smuggled}`,
      ],
      ['bare line feeds', (path) => `${head(path).replaceAll('\r\n', '\n')}Content-Length: 1\n\nb${smuggled}`],
      ['one bare line feed', (path) => `${head(path)}X-A: 1\nContent-Length: 1\r\n\r\nb${smuggled}`],
      ['a folded header', (path) => `${head(path)}X-A: 1\r\n folded\r\nContent-Length: 1\r\n\r\nb${smuggled}`],
      ['a space before the colon', (path) => `${head(path)}Content-Length : 1\r\n\r\nb${smuggled}`],
      ['NUL in a header', (path) => `${head(path)}X-A: a\0b\r\nContent-Length: 1\r\n\r\nb${smuggled}`],
      [
        'a chunk size that is none',
        (path) => `${head(path)}Transfer-Encoding: chunked\r\n\r\n-1\r\nb\r\n0\r\n\r\n${smuggled}`,
      ],
      ['line feeds between chunks', (path) => `${head(path)}Transfer-Encoding: chunked\r\n\r\n1\nb\n0\n\n${smuggled}`],
    ];
    for (const [fault, request] of ROWS) {
      it(`${fault}: answered 400 once, closed, and no message is published`, async () => {
        const path = sink.path('framing');
        const answer = await queue.raw(request(path));
        expect(answer).to.match(/^HTTP\/1\.1 400 /);
        expect(answer.match(/HTTP\/1\.1/g)).to.have.lengthOf(1);
        // A delivery of an accepted request would have arrived before this one.
        const next = sink.path('next');
        await queue.publish(sink.url(next));
        await sink.call(next);
        expect(sink.calls(path)).to.have.lengthOf(0);
      });
    }

    it('a gigabyte in chunks is refused at the limit, without using memory', async () => {
      const path = sink.path('giant');
      const before = await residentMib(queue.millrace.pid);
      const { answer, sentMib, mostMib } = await pour(`${head(path)}Transfer-Encoding: chunked\r\n\r\n`, 1024);
      expect(answer).to.match(/^HTTP\/1\.1 413 .*current limit: 1048576 bytes/s);
      expect(sentMib).to.be.below(64);
      expect(mostMib - before).to.be.below(128);
      expect(sink.calls(path)).to.have.lengthOf(0);
    });

    it('a Content-Length above the limit is refused before the body', async () => {
      const request = `${head('/x')}Expect: 100-continue\r\nContent-Length: 1073741824\r\n\r\n`;
      const { answer, socket } = await open(request);
      await eventually(() => expect(answer()).to.match(/^HTTP\/1\.1 413 /));
      expect(answer()).to.not.match(/100 Continue/);
      socket.destroy();
    });

    it('clients that send their headers slowly get 408, while others are served', async () => {
      const many = Array.from({ length: 200 }, () => open(`POST /v2/publish/${UNREACHABLE} HTTP/1.1\r\n`));
      const slow = await Promise.all(many);
      const begunAtMs = Date.now();
      const timer = setInterval(() => {
        for (const { socket } of slow) if (socket.writable) socket.write('X-A: 1\r\n');
      }, 500);
      const path = sink.path('meanwhile');
      await queue.publish(sink.url(path));
      await sink.call(path);
      await eventually(() => expect(slow.filter(({ socket }) => !socket.closed)).to.deep.equal([]), {
        timeoutMs: 30_000,
      });
      clearInterval(timer);
      for (const { answer } of slow) expect(answer()).to.match(/^(HTTP\/1\.1 408 .*)?$/s);
      expect(slow.some(({ answer }) => answer() !== '')).to.equal(true);
      expect(Date.now() - begunAtMs).to.be.above(9_000);
    });

    async function open(request: string): Promise<{ readonly socket: Socket; readonly answer: () => string }> {
      const { hostname, port } = new URL(queue.url);
      const socket = connect(Number(port), hostname);
      let text = '';
      socket.setEncoding('latin1').on('data', (piece: string) => {
        text += piece;
      });
      socket.on('error', () => socket.destroy());
      await new Promise<void>((resolve) => socket.once('connect', resolve));
      socket.write(request, 'latin1');
      return { socket, answer: () => text };
    }

    /** Sends chunks of a MiB as fast as the connection accepts them, until all are sent or the server closes it. */
    async function pour(request: string, mib: number) {
      const { socket, answer } = await open(request);
      const chunk = `100000\r\n${'x'.repeat(1024 * 1024)}\r\n`;
      let sentMib = 0;
      let mostMib = 0;
      while (sentMib < mib && !socket.closed && answer() === '') {
        if (!socket.write(chunk)) {
          await Promise.race([
            new Promise((resolve) => socket.once('drain', resolve)),
            new Promise((resolve) => socket.once('close', resolve)),
          ]);
        }
        sentMib += 1;
        mostMib = Math.max(mostMib, await residentMib(queue.millrace.pid));
      }
      await eventually(() => expect(answer()).to.not.equal(''));
      socket.destroy();
      return { answer: answer(), sentMib, mostMib };
    }
  });
});

describe('walls: accounts', function () {
  this.timeout(60_000);
  // From one address every wall is tried with wrong tokens.
  const queue = standOfAllTests(() => QueueProcess.start({ MILLRACE_SIGN_IN_FAILURES: '1000' }));
  let sink: QueueSink;
  let owner: QueueTenant;
  let stranger: QueueTenant;
  let things: Readonly<Record<'message' | 'dlq' | 'failed', string>>;
  const NAMES = { queue: 'owned-queue', group: 'owned-group', schedule: 'owned-schedule', flow: 'owned/flow' };

  before(async () => {
    ({ sink } = queue);
    owner = QueueTenant.first(queue);
    stranger = await QueueTenant.create(queue, 'stranger');
    const headers = {
      ...DELAYED,
      'Svc-Label': 'owned-label',
      'Svc-Flow-Control-Key': NAMES.flow,
      'Svc-Flow-Control-Value': 'rate=1',
    };
    const message = await owner.publish(UNREACHABLE, { headers, body: 'owned-body' });
    await owner.request('POST', '/v2/queues', { body: { queueName: NAMES.queue, parallelism: 2 } });
    const endpoints = [{ url: 'http://owned.example/endpoint' }];
    await owner.request('POST', `/v2/topics/${NAMES.group}/endpoints`, { body: { endpoints } });
    const schedule = { ...JSON_CRON, 'Svc-Schedule-Id': NAMES.schedule };
    await owner.request('POST', `/v2/schedules/${UNREACHABLE}`, { headers: schedule, body: 'owned-body' });
    const failing = sink.answer(sink.path('owned'), { status: 500, body: 'owned-response' });
    const failed = await owner.publish(failing, { headers: { 'Svc-Retries': '0', 'Svc-Label': 'owned-label' } });
    things = { message, failed, dlq: (await queue.deadLetterOf(failed)).dlqId };
    await queue.eventsOf(failed, 'FAILED');
  });

  /** The complete state of an account, to check that it does not change. */
  async function holdings(): Promise<unknown> {
    const lists = ['queues', 'topics', 'schedules', 'dlq', 'flowControl'];
    const [message, ...others] = await Promise.all([
      owner.json(`/v2/messages/${things.message}`),
      ...lists.map((list) => owner.json(`/v2/${list}`)),
    ]);
    return { message, others };
  }

  it('objects of one account answer 404 to another, on every route', async () => {
    const before = await holdings();
    const { message, dlq, failed } = things;
    const reads: readonly string[] = [
      `/v2/messages/${message}`,
      `/v2/queues/${NAMES.queue}`,
      `/v2/topics/${NAMES.group}`,
      `/v2/schedules/${NAMES.schedule}`,
      `/v2/dlq/${dlq}`,
      `/v2/flowControl/${NAMES.flow}`,
    ];
    for (const target of reads) {
      expect((await owner.request('GET', target)).status, target).to.equal(200);
      expectRefused(await stranger.request('GET', target), 404, /not found/);
    }
    const changes: readonly [method: string, target: string, status: number][] = [
      ['DELETE', `/v2/messages/${message}`, 404],
      ['DELETE', `/v2/messages/${failed}`, 404],
      ['DELETE', `/v2/dlq/${dlq}`, 404],
      ['POST', `/v2/dlq/retry/${dlq}`, 404],
      ['POST', `/v2/dlq/retry?dlqIds=${dlq}`, 404],
      ['DELETE', `/v2/schedules/${NAMES.schedule}`, 404],
      ['PATCH', `/v2/schedules/${NAMES.schedule}/pause`, 404],
      ['POST', `/v2/schedules/${NAMES.schedule}/resume`, 404],
      ['POST', `/v2/queues/${NAMES.queue}/pause`, 404],
      ['POST', `/v2/queues/${NAMES.queue}/resume`, 404],
      ['POST', `/v2/publish/${NAMES.group}`, 400],
      ['POST', `/v2/enqueue/${NAMES.queue}/${NAMES.group}`, 400],
      // A request creates the flow control key that it names: these create one of the stranger's account.
      ['POST', `/v2/flowControl/${NAMES.flow}/pause`, 200],
      ['POST', `/v2/flowControl/${NAMES.flow}/pin?parallelism=9`, 200],
      ['POST', `/v2/flowControl/${NAMES.flow}/resetRate`, 200],
    ];
    for (const [method, target, status] of changes) {
      const answer = await stranger.request(method, target);
      expect(answer.status, `${method} ${target}`).to.equal(status);
      expect(answer.text).to.not.match(/owned-(body|response|label)|owned\.example/);
    }
    expect(await holdings()).to.deep.equal(before);
  });

  it('objects of one account are in no list of another, and in no bulk call', async () => {
    const before = await holdings();
    const newcomer = await QueueTenant.create(queue, 'newcomer');
    const { message, dlq, failed } = things;
    for (const list of ['queues', 'topics', 'schedules', 'flowControl']) {
      expect(await newcomer.json(`/v2/${list}`), list).to.deep.equal([]);
    }
    for (const target of [
      '/v2/dlq',
      `/v2/dlq?dlqIds=${dlq}`,
      `/v2/dlq?messageId=${failed}`,
      '/v2/dlq?label=owned-label',
    ]) {
      expect(await newcomer.json(target), target).to.deep.equal({ messages: [] });
    }
    for (const target of [
      `messageId=${failed}`,
      `messageIds=${failed}&messageIds=${message}`,
      'label=owned-label',
      '',
    ]) {
      expect(((await newcomer.json(`/v2/events?${target}`)) as { events: object[] }).events, target).to.deep.equal([]);
      expect(((await newcomer.json(`/v2/logs?${target}`)) as { logs: object[] }).logs, target).to.deep.equal([]);
    }
    const bulk = [`/v2/messages?messageIds=${message}`, '/v2/messages?label=owned-label', '/v2/messages'];
    for (const target of bulk) {
      expect((await newcomer.request('DELETE', target)).json, target).to.deep.equal({ cancelled: 0 });
    }
    for (const target of ['/v2/dlq', '/v2/dlq?label=owned-label']) {
      expect((await newcomer.request('DELETE', target)).json, target).to.deep.equal({ deleted: 0 });
      expect((await newcomer.request('POST', target.replace('dlq', 'dlq/retry'))).json).to.deep.equal({
        responses: [],
      });
    }
    const byIds = await newcomer.request('DELETE', `/v2/dlq?dlqIds=${dlq}`);
    expect(byIds.json).to.not.include({ deleted: 1 });
    expect(await newcomer.json('/v2/globalParallelism')).to.include({ parallelismCount: 0 });
    expect(await holdings()).to.deep.equal(before);
  });

  it('the same names are different objects in two accounts', async () => {
    const before = await holdings();
    await stranger.request('POST', '/v2/queues', { body: { queueName: NAMES.queue, parallelism: 7, paused: true } });
    const endpoints = [{ url: 'http://other.example/' }];
    await stranger.request('POST', `/v2/topics/${NAMES.group}/endpoints`, { body: { endpoints } });
    const schedule = { ...JSON_CRON, 'Svc-Schedule-Id': NAMES.schedule };
    await stranger.request('POST', `/v2/schedules/http://other.example/`, { headers: schedule });
    const deduplicated = { headers: { ...DELAYED, 'Svc-Deduplication-Id': 'same' } };
    expect((await owner.request('POST', `/v2/publish/${UNREACHABLE}`, deduplicated)).status).to.equal(200);
    expect((await stranger.request('POST', `/v2/publish/${UNREACHABLE}`, deduplicated)).status).to.equal(200);
    for (const target of [`queues/${NAMES.queue}`, `topics/${NAMES.group}`, `schedules/${NAMES.schedule}`]) {
      expect((await stranger.request('DELETE', `/v2/${target}`)).status).to.equal(200);
    }
    expect(await holdings()).to.deep.equal(before);
  });

  it('signing keys belong to one account', async () => {
    const keys = (await owner.json('/v2/keys')) as object;
    expect(keys).to.deep.equal(SIGNING_KEYS);
    const others = (await stranger.json('/v2/keys')) as Record<string, string>;
    expect(Object.values(others)).to.not.include.members([SIGNING_KEYS.current]);
    await stranger.request('POST', '/v2/keys/rotate');
    expect(await owner.json('/v2/keys')).to.deep.equal(keys);
  });

  it('the read-only token changes no object by any route', async () => {
    const before = await holdings();
    const { message, dlq } = things;
    const { queue: name, group, schedule, flow } = NAMES;
    const writes: readonly (readonly [string, string])[] = [
      ['POST', `/v2/publish/${UNREACHABLE}`],
      ['POST', `/v2/publish/${group}`],
      ['POST', `/v2/enqueue/${name}/${UNREACHABLE}`],
      ['POST', '/v2/batch'],
      ['DELETE', `/v2/messages/${message}`],
      ['DELETE', '/v2/messages'],
      ['POST', '/v2/queues'],
      ['POST', '/v2/queues/'],
      ['DELETE', `/v2/queues/${name}`],
      ['POST', `/v2/queues/${name}/pause`],
      ['POST', `/v2/queues/${name}/resume`],
      ['POST', `/v2/topics/${group}/endpoints`],
      ['DELETE', `/v2/topics/${group}/endpoints`],
      ['PATCH', `/v2/topics/${group}`],
      ['DELETE', `/v2/topics/${group}`],
      ['POST', `/v2/schedules/${UNREACHABLE}`],
      ['DELETE', `/v2/schedules/${schedule}`],
      ...['pause', 'resume'].flatMap((verb) => [
        ['PATCH', `/v2/schedules/${schedule}/${verb}`] as const,
        ['POST', `/v2/schedules/${schedule}/${verb}`] as const,
      ]),
      ['DELETE', '/v2/dlq'],
      ['DELETE', `/v2/dlq/${dlq}`],
      ['POST', '/v2/dlq/retry'],
      ['POST', `/v2/dlq/retry/${dlq}`],
      ...['pause', 'resume', 'pin?rate=1', 'unpin?rate=true', 'resetRate', 'reset'].map(
        (verb) => ['POST', `/v2/flowControl/${flow}/${verb}`] as const,
      ),
      ['POST', '/v2/keys/rotate'],
    ];
    for (const [method, target] of writes) {
      for (const body of ['{}', '[]']) {
        const answer = await queue.request(method, target, { token: QUEUE_READONLY_TOKEN, headers: JSON_CRON, body });
        expectRefused(answer, 403, /read-only token/);
      }
      expectRefused(
        await queue.request(method, target, { token: `${QUEUE_TOKEN}x`, body: '{}' }),
        401,
        /invalid token/,
      );
    }
    expect(await holdings()).to.deep.equal(before);
  });

  it('any unknown token is refused with the same 401', async () => {
    const tokens = [null, '', ' ', QUEUE_TOKEN.slice(0, -1), QUEUE_TOKEN.toLowerCase(), '__proto__', 'x'.repeat(8000)];
    for (const token of tokens) {
      for (const target of ['/v2/queues', '/v2/nothing', '/', '/v2/messages/msg_1']) {
        expectRefused(await queue.get(target, { token }), 401, 'unable to authenticate: invalid token');
      }
    }
    for (const authorization of [`Basic ${QUEUE_TOKEN}`, QUEUE_TOKEN, `Bearer${QUEUE_TOKEN}`]) {
      const answer = await queue.get('/v2/queues', { token: null, headers: { authorization } });
      expectRefused(answer, 401, 'unable to authenticate: invalid token');
    }
  });

  it('a replaced token is refused within a second, and tokens of other accounts stay valid', async () => {
    const old = await stranger.resetTokens();
    await withinASecond([queue.millrace], async () => {
      expectRefused(await queue.get('/v2/queues', { token: old }), 401, /invalid token/);
      expectRefused(await queue.post(`/v2/publish/${UNREACHABLE}`, { token: old }), 401, /invalid token/);
      expect((await stranger.request('GET', '/v2/queues')).status).to.equal(200);
    });
    expect((await owner.request('GET', '/v2/queues')).status).to.equal(200);
  });
});

describe('walls: secrets', function () {
  this.timeout(60_000);
  const CANARY = 'canary-5e1c';
  const queue = standOfAllTests(() => QueueProcess.start({ MILLRACE_LOG_LEVEL: 'debug' }));
  const told: RawAnswer[] = [];

  it('appear in no log, metric or refusal, also when calls fail', async () => {
    const { sink } = queue;
    const body = `${CANARY}-body`;
    const secrets = {
      Authorization: `Bearer ${QUEUE_TOKEN}`,
      'Svc-Forward-Authorization': `${CANARY}-header`,
      'Svc-Callback': sink.url(`/${CANARY}-callback`),
    };
    const query = `msgq_token=${encodeURIComponent(`${CANARY}-token`)}`;
    const withToken = `qstash_token=${encodeURIComponent(QUEUE_TOKEN)}`;
    const failing = sink.answer(sink.path('fails'), { status: 500, body: `${CANARY}-response` });
    const refusing = `http://127.0.0.1:${await freePort()}/`;
    // Deliveries that fail in several ways.
    for (const url of [failing, refusing, 'http://nowhere.invalid/', sink.url(sink.path('fine'))]) {
      const headers = { ...secrets, 'Svc-Retries': '0' };
      const id = await queue.publish(`${url}?${withToken}`, { token: null, headers, body });
      await queue.eventsOf(id, url.includes('/fine') ? 'DELIVERED' : 'FAILED');
    }
    // Calls that are refused at every step.
    const bad = { headers: secrets, body };
    told.push(
      await queue.get(`/v2/queues?${query}`, { token: null }),
      await queue.get('/v2/queues', { token: `${CANARY}-bearer` }),
      await queue.post(`/v2/publish/nowhere?${withToken}`, { ...bad, token: null }),
      await queue.post('/v2/batch', bad),
      await queue.post('/v2/batch', { ...bad, body: `[{"destination":"${UNREACHABLE}","body":"${body}"` }),
      await queue.post('/v2/queues', { ...bad, body: `{"queueName":{"a":"${body}"}}` }),
      await queue.post(`/v2/publish/${UNREACHABLE}`, { ...bad, headers: { ...secrets, 'Svc-Retries': 'many' } }),
      await queue.get(`/v2/nothing?${withToken}`, { token: null }),
      await queue.request('PUT', `/v2/queues?${withToken}`, { ...bad, token: null }),
      await queue.get(`/v2/messages/msg_none?${withToken}`, { token: null }),
      await queue.delete(`/v2/dlq?typo=1&${withToken}`, { token: null }),
      await queue.post('/v2/publish/http://x.example/', { body, token: QUEUE_READONLY_TOKEN }),
      await queue.post(`/v2/publish/${UNREACHABLE}`, { ...bad, body: `${body}${'x'.repeat(1_100_000)}` }),
    );
    const raw = await Promise.all([
      queue.raw(`POST /v2/publish/${UNREACHABLE}?${withToken} HTTP/9.9\r\n\r\n${body}`),
      queue.raw(`GET /v2/queues?${withToken} HTTP/1.1\r\nHost: a\r\nX: ${CANARY}\0\r\n\r\n`),
    ]);
    await queue.post('/v2/keys/rotate');
    const { current, next } = (await queue.get('/v2/keys')).json as { current: string; next: string };
    const { stdout } = await queue.account('reset-tokens');
    await eventually(async () => expect((await queue.get('/v2/queues')).status).to.equal(401));

    const metrics = await (await fetch(`${queue.millrace.metricsUrl}/metrics`)).text();
    expect(metrics).to.include('millrace_deliveries_total');
    expect(queue.millrace.stderr()).to.include('"level"');
    const printed = [...stdout.toString().matchAll(/-token=(\S+)$/gm)].map(([, token]) => token as string);
    expect(printed).to.have.lengthOf(2);
    const hidden = [QUEUE_TOKEN, encodeURIComponent(QUEUE_TOKEN), QUEUE_READONLY_TOKEN, ...printed];
    hidden.push(...Object.values(SIGNING_KEYS), current, next, CANARY);
    const refusals = [...told.map(({ status, text }) => `${status} ${text}`), ...raw].join('\n');
    expect(told.map(({ status }) => status)).to.not.include.members([200]);
    // The first start prints the credentials that it made before it is ready.
    const [, output = ''] = queue.millrace.stdout().split(/^ready .*$/m);
    const places = { log: queue.millrace.stderr(), output, metrics, refusals };
    for (const [place, text] of Object.entries(places)) {
      for (const secret of hidden) expect(text.includes(secret), `${secret} in ${place}`).to.equal(false);
    }
  });
});
