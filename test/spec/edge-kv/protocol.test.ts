/** Proves FSE1–FSE3, FSE5. */
import { once } from 'node:events';
import net from 'node:net';
import { expect } from 'chai';
import { DEFAULT_KV_ENDPOINT_LIMITS } from '../../../src/edge/kv/kv-limits.js';
import { eventually } from '../../support/eventually.js';
import { KvEndpointHarness } from '../../support/kv-endpoint.js';
import { standOfAllTests } from '../../support/stand-hooks.js';

const { maxHeaderBytes, maxHeadersCount } = DEFAULT_KV_ENDPOINT_LIMITS;
const AUTH = 'Host: x\r\nAuthorization: Bearer standard-token\r\n';
const CLOSE = 'Connection: close\r\n';

function statuses(answers: string): string[] {
  return [...answers.matchAll(/^HTTP\/1\.1 (\d+)/gm)].map((match) => match[1] as string);
}

describe('edge/kv: HTTP as bytes', () => {
  const face = standOfAllTests(() => new KvEndpointHarness({ limits: { maxConnectionsPerAddress: 20 } }).start());

  describe('an ambiguous request', () => {
    const smuggled = 'GET /set/smuggled/1 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer standard-token\r\n\r\n';
    const cases: readonly [string, string][] = [
      ['has Content-Length and Transfer-Encoding', 'Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
      ['has two different lengths', 'Content-Length: 0\r\nContent-Length: 90\r\n\r\n'],
      ['has two equal lengths', 'Content-Length: 0\r\nContent-Length: 0\r\n\r\n'],
      ['has a length that is no number', 'Content-Length: +0\r\n\r\n'],
      ['has an unknown transfer encoding', 'Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n'],
      ['has chunked before another encoding', 'Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n'],
      ['has a blank before a colon', 'Content-Length : 0\r\n\r\n'],
      ['has a folded header', 'X-Folded: a\r\n\tb: c\r\nTransfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n'],
      ['has a bare CR in a header', 'X-A: b\rContent-Length: 90\r\n\r\n'],
      ['has a NUL in a header', 'X-A: b\x00\r\n\r\n'],
      ['has a chunk size that is no number', 'Transfer-Encoding: chunked\r\n\r\nzz\r\n\r\n'],
    ];
    for (const [trait, rest] of cases) {
      it(`is refused when it ${trait}, and its connection is closed`, async () => {
        face.gateway.requests.length = 0;
        const answers = await face.raw(`POST /ping HTTP/1.1\r\n${AUTH}${rest}${smuggled}`);
        expect(statuses(answers), answers).to.deep.equal(['400']);
        expect(answers).to.include('Connection: close').and.to.include('{"error":"ERR malformed HTTP request"}');
        expect(face.gateway.requests).to.deep.equal([]);
      });
    }

    it('is refused or read as one request when its lines end in bare line feeds', async () => {
      face.gateway.requests.length = 0;
      const answers = await face.raw(`GET /ping HTTP/1.1\nHost: x\nAuthorization: Bearer standard-token\n${CLOSE}\n`);
      expect(statuses(answers)).to.have.length(1);
      expect(face.gateway.requests.length).to.be.at.most(1);
    });
  });

  it('pipelined requests are answered in their order', async () => {
    const one = `GET /echo/1 HTTP/1.1\r\n${AUTH}\r\n`;
    const two = `POST /set/k HTTP/1.1\r\n${AUTH}Content-Length: 3\r\n\r\nabc`;
    const three = `GET /echo/3 HTTP/1.1\r\n${AUTH}${CLOSE}\r\n`;
    const answers = await face.raw(one + two + three);
    expect(answers.match(/\{.*?\}/g)).to.deep.equal(['{"result":"1"}', '{"result":"OK"}', '{"result":"3"}']);
  });

  it('the raw target is used: dots, double slashes, escapes, bytes', async () => {
    const echo = async (path: string) => {
      const answers = await face.raw(`GET ${path} HTTP/1.1\r\n${AUTH}${CLOSE}\r\n`);
      return answers.slice(answers.indexOf('\r\n\r\n') + 4);
    };
    expect(await echo('/echo/..')).to.equal('{"result":".."}');
    expect(await echo('/echo//')).to.equal('{"result":""}');
    expect(await echo('/echo/./')).to.equal('{"result":"."}');
    expect(await echo('/echo/%00')).to.equal('{"result":"\\u0000"}');
    expect(await echo('/echo/a;b=c')).to.equal('{"result":"a;b=c"}');
    expect(await echo('/echo/%252e')).to.equal('{"result":"%2e"}');
    expect(await echo('http://other/echo/x')).to.equal('{"result":"x"}');
    // An overlong slash stays two invalid bytes.
    expect(await echo('/echo/%C0%AF')).to.equal('{"result":"\xef\xbf\xbd\xef\xbf\xbd"}');
    expect(await echo('/echo/%zz')).to.match(/^\{"error":"ERR /);
  });

  it('HEAD is answered without a body', async () => {
    const answer = await face.raw(`HEAD /echo/x HTTP/1.1\r\n${AUTH}${CLOSE}\r\n`);
    expect(answer)
      .to.match(/^HTTP\/1\.1 200 /)
      .and.to.match(/\r\n\r\n$/);
    expect(answer).to.include('Content-Length: 14');
  });

  it('a path of 60 KiB is served, and headers above 64 KiB are refused', async () => {
    const long = 'x'.repeat(60 * 1024);
    expect((await face.get(`/echo/${long}`)).text).to.equal(`{"result":"${long}"}`);
    const refused = await face.raw(`GET /echo/${'x'.repeat(maxHeaderBytes)} HTTP/1.1\r\n${AUTH}\r\n`);
    expect(statuses(refused)).to.deep.equal(['431']);
  });

  it(`more than ${maxHeadersCount} headers are refused, so that none is lost, not even the length of the body`, async () => {
    const headers = (count: number) => Array.from({ length: count }, (_, i) => `X-${i}: 1\r\n`).join('');
    // Each request has four other headers.
    const request = (count: number) =>
      `POST /set/counted HTTP/1.1\r\n${AUTH}${headers(count - 4)}${CLOSE}Content-Length: 5\r\n\r\nvalue`;
    expect(statuses(await face.raw(request(maxHeadersCount)))).to.deep.equal(['200']);
    expect((await face.get('/get/counted')).text).to.equal('{"result":"value"}');
    await face.post('/', ['DEL', 'counted']);
    for (const count of [maxHeadersCount + 1, 128, 400]) {
      const refused = await face.raw(request(count));
      expect(statuses(refused), `${count}`).to.deep.equal(['431']);
      expect(refused).to.contain('{"error":"ERR request headers are too large"}');
    }
    expect((await face.get('/get/counted')).text).to.equal('{"result":null}');
  });

  it('names of prototypes are plain keys', async () => {
    for (const key of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
      expect((await face.get(`/get/${key}`)).text, key).to.equal('{"result":null}');
      await face.post('/', ['SET', key, 'v']);
      expect((await face.get(`/get/${key}`)).text, key).to.equal('{"result":"v"}');
      expect((await face.get(`/${key}/x`)).text, key).to.match(/^\{"error":"ERR Command is not available/);
    }
  });

  it('one address may have a limited number of connections', async () => {
    const sockets = Array.from({ length: 30 }, () => net.connect(face.port, '127.0.0.1'));
    let closed = 0;
    for (const socket of sockets) socket.on('error', () => {}).on('close', () => closed++);
    await eventually(() => expect(closed).to.be.at.least(10));
    for (const socket of sockets) socket.destroy();
    await eventually(() => expect(closed).to.equal(30));
    await eventually(async () => expect((await face.get('/ping')).status).to.equal(200));
  });
});

describe('edge/kv: slow clients and the end', () => {
  it('closes the connection when headers or body do not arrive in time, and serves other clients', async () => {
    const limits = { headersTimeoutMs: 150, requestTimeoutMs: 300, connectionsCheckingIntervalMs: 50 };
    const face = await new KvEndpointHarness({ limits }).start();
    const slowHeaders = face.raw('GET /ping HTTP/1.1\r\nHost:');
    const slowBody = face.raw(`POST /set/k HTTP/1.1\r\n${AUTH}Content-Length: 10\r\n\r\nabc`);
    expect((await face.get('/ping')).text).to.equal('{"result":"PONG"}');
    expect(await slowHeaders).to.match(/^HTTP\/1\.1 408 /);
    expect(await slowBody).to.match(/^HTTP\/1\.1 408 /);
    expect((await face.get('/get/k')).text).to.equal('{"result":null}');
    await face.stop();
  });

  it('closes an idle connection after the keep-alive timeout', async () => {
    const face = await new KvEndpointHarness({ limits: { keepAliveTimeoutMs: 100 } }).start();
    const heard = await face.raw(`GET /ping HTTP/1.1\r\n${AUTH}\r\n`);
    expect(statuses(heard)).to.deep.equal(['200']);
    expect(heard).to.match(/\{"result":"PONG"\}$/);
    await face.stop();
  });

  it('closes new connections above the maximum', async () => {
    const face = await new KvEndpointHarness({ limits: { maxConnections: 2 } }).start();
    const first = [1, 2].map(() => net.connect(face.port, '127.0.0.1'));
    await Promise.all(first.map((socket) => once(socket, 'connect')));
    expect(await face.raw(`GET /ping HTTP/1.1\r\n${AUTH}\r\n`)).to.equal('');
    first[0]?.destroy();
    await eventually(async () => {
      const heard = await face.raw(`GET /ping HTTP/1.1\r\n${AUTH}Connection: close\r\n\r\n`);
      expect(statuses(heard)).to.deep.equal(['200']);
    });
    first[1]?.destroy();
    await face.stop();
  });

  it('closes the connection of a client that does not read', async () => {
    const face = await new KvEndpointHarness({ limits: { stalledSocketTimeoutMs: 200 } }).start();
    await face.post('/set/big', 'x'.repeat(8_000_000));
    const socket = net.connect(face.port, '127.0.0.1');
    let isClosed = false;
    socket
      .on('error', () => {})
      .on('close', () => {
        isClosed = true;
      });
    socket.write(`GET /get/big HTTP/1.1\r\n${AUTH}\r\n`.repeat(4));
    socket.pause();
    await eventually(() => expect(face.gateway.requests.length).to.be.at.least(2));
    await eventually(() => {
      socket.write('x');
      expect(isClosed || socket.destroyed).to.equal(true);
    });
    await face.stop();
  });

  it('answers requests in flight with Connection: close, and accepts no new ones', async () => {
    const face = await new KvEndpointHarness().start();
    let open = () => {};
    face.gateway.gate = new Promise((resolve) => {
      open = resolve;
    });
    const idle = net.connect(face.port, '127.0.0.1');
    const idleClosed = new Promise((resolve) => idle.on('close', resolve).on('error', () => {}));
    const inFlight = face.get('/get/a');
    await eventually(() => expect(face.gateway.requests).to.have.length(1));
    const closed = face.server.close();
    await idleClosed;
    open();
    const answer = await inFlight;
    expect([answer.status, answer.headers.connection]).to.deep.equal([200, 'close']);
    await closed;
    const refusal = await face.get('/get/a').catch((error: NodeJS.ErrnoException) => error.code);
    expect(refusal).to.equal('ECONNREFUSED');
    await face.stop();
  });

  it('waits for requests in flight for a bounded time', async () => {
    const face = await new KvEndpointHarness().start();
    face.gateway.gate = new Promise(() => {});
    const lost = face.get('/get/a').catch((error: NodeJS.ErrnoException) => error.code);
    await eventually(() => expect(face.gateway.requests).to.have.length(1));
    await face.server.close(AbortSignal.timeout(50));
    expect(await lost).to.equal('ECONNRESET');
    await face.stop();
  });

  it('fails with the reason when its port is taken', async () => {
    const face = await new KvEndpointHarness().start();
    const other = new KvEndpointHarness();
    const problem = await other.server.listen(face.port, '127.0.0.1').catch((error) => error.code);
    expect(problem).to.equal('EADDRINUSE');
    await face.stop();
  });
});
