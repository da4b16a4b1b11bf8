/** Proves PLC1–PLC5, FSE3. */
import { once } from 'node:events';
import net from 'node:net';
import tls from 'node:tls';
import { expect } from 'chai';
import { eventually } from '../../support/eventually.js';
import { KvEndpointHarness } from '../../support/kv-endpoint.js';
import { selfSignedCertificate } from '../../support/self-signed-certificate.js';
import { standOfAllTests } from '../../support/stand-hooks.js';

const AUTH = 'Host: x\r\nAuthorization: Bearer standard-token\r\n';
/** A header that no plain request has: Node's server answers. */
const NODES = 'TE: trailers\r\n';

function get(path: string, headers = AUTH): string {
  return `GET ${path} HTTP/1.1\r\n${headers}\r\n`;
}

function post(path: string, body: string, headers = AUTH): string {
  return `POST ${path} HTTP/1.1\r\n${headers}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

const LAST = '{"result":"the last"}';

/** Removes the parts that differ from one request to the next. */
function withoutVariableParts(answer: string): string {
  return answer.replace(/^(Date|Svc-Sync-Token): .*$/gm, '$1: …');
}

describe('edge/kv: connections with plain requests', () => {
  const face = standOfAllTests(() => new KvEndpointHarness().start());
  before(async () => {
    await face.post('/set/long', 'x'.repeat(3_000_000));
    await face.post('/set/wide', 'ü'.repeat(5));
  });

  it('answer with Connection: close once the endpoint drains, and new ones are accepted until it closes', async () => {
    const leaving = await new KvEndpointHarness().start();
    const before = net.connect(Number(new URL(leaving.url).port), '127.0.0.1');
    await once(before, 'connect');
    leaving.server.leave();
    let heard = '';
    before.setEncoding('latin1').on('data', (text) => {
      heard += text;
    });
    before.write(get('/get/k'));
    await once(before, 'close');
    expect(heard).to.match(/^HTTP\/1.1 200 OK\r\n/);
    expect(heard).to.match(/^Connection: close\r$/im);
    expect(await leaving.raw(get('/get/k'), 'null}')).to.match(/^Connection: close\r$/im);
    await leaving.stop();
  });

  const cases: readonly [string, (headers: string) => string][] = [
    ['a command', (headers) => get('/get/k', headers)],
    ['a command with its last word in the body', (headers) => post('/set/k', 'é\r\n\r\nf', headers)],
    ['a command as JSON', (headers) => post('/', '["SET","k","v"]', headers)],
    ['a pipeline', (headers) => post('/pipeline', '[["SET","a","1"],["GET","a"],["NO"]]', headers)],
    ['a transaction', (headers) => post('/multi-exec', '[["SET","a","1"],["GET","a"]]', headers)],
    ['an empty body', (headers) => post('/', '', headers)],
    ['bytes above ASCII in the path', (headers) => get('/echo/g\xc3\xbcn\xff?\xe6\x97\xa5=%E6%97%A5', headers)],
    ['text outside of ASCII', (headers) => get('/get/wide', headers)],
    ['an answer in many pieces', (headers) => get('/get/long', headers)],
    [
      'a pipeline with an answer in many pieces',
      (headers) => post('/pipeline', '[["GET","long"],["GET","long"]]', headers),
    ],
    ['a refused command', (headers) => get('/get', headers)],
    ['a body that is no JSON', (headers) => post('/pipeline', '[', headers)],
    ['invalid escapes', (headers) => get('/get/%zz', headers)],
    ['an unknown token', (headers) => get('/get/k', headers.replace('standard', 'wrong'))],
    ['no token', (headers) => post('/set/k', 'v', headers.replace(/Authorization.*\r\n/, ''))],
    ['an origin', (headers) => get('/get/k', `${headers}Origin: https://a.example\r\n`)],
    ['a request for another format', (headers) => get('/get/k', `${headers}Svc-Encoding: base64\r\n`)],
  ];
  for (const [call, request] of cases) {
    it(`answer ${call} with the same bytes as Node’s server`, async () => {
      const askedAtMs = Date.now();
      const ask = (headers: string) => face.raw(request(headers) + get('/echo/the%20last'), LAST);
      const [ours, nodes] = await Promise.all([ask(AUTH), ask(`${AUTH}${NODES}`)]);
      expect(ours).to.match(/^HTTP\/1\.1 \d/);
      expect(withoutVariableParts(ours)).to.equal(withoutVariableParts(nodes));
      const ourDate = Date.parse(/^Date: (.*)\r$/m.exec(ours)?.[1] as string);
      // The date has whole seconds, and is updated once a second.
      expect(ourDate).to.be.within(askedAtMs - 2_000, Date.now());
    });
  }

  it('answer in the order of the requests, plain or not', async () => {
    const requests = [
      get('/echo/1'),
      post('/echo', '2'),
      get('/echo/3', `${AUTH}${NODES}`),
      get('/echo/4'),
      get('/echo/5', `${AUTH}Connection: close\r\n`),
    ];
    const answers = await face.raw(requests.join(''));
    expect(answers.match(/"result":"\d"/g)).to.deep.equal([1, 2, 3, 4, 5].map((n) => `"result":"${n}"`));
  });

  it('answer in the order of the requests that arrive while the client does not read its answer', async () => {
    const socket = net.connect(face.port, '127.0.0.1').pause();
    const numbers = Array.from({ length: 3000 }, (_, at) => String(at));
    socket.write(get('/get/long'));
    for (const each of numbers) socket.write(get(`/echo/${each}`, each === '2000' ? `${AUTH}${NODES}` : AUTH));
    await eventually(() => expect(socket.bytesWritten).to.be.greaterThan(200_000));
    let heard = '';
    socket.on('data', (bytes) => {
      heard += bytes;
    });
    socket.resume();
    await eventually(() => expect(heard).to.include('{"result":"2999"}'));
    socket.destroy();
    expect([...heard.matchAll(/"result":"(\d+)"/g)].map(([, each]) => each)).to.deep.equal(numbers);
  });

  it('are handed to Node’s server with the first request that comes in pieces', async () => {
    const socket = net.connect(face.port, '127.0.0.1');
    let heard = '';
    socket.on('data', (bytes) => {
      heard += bytes;
    });
    const whole = get('/echo/1') + post('/set/pieces', 'abc');
    for (const piece of [whole.slice(0, -5), whole.slice(-5, -2), whole.slice(-2)]) {
      socket.write(piece);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    await eventually(() => expect(heard.match(/\{.*?\}/g)).to.deep.equal(['{"result":"1"}', '{"result":"OK"}']));
    socket.write(get('/get/pieces'));
    await eventually(() => expect(heard).to.include('{"result":"abc"}'));
    socket.destroy();
  });

  it('are handed to Node’s server with a body above the plain size', async () => {
    for (const length of [16 * 1024, 16 * 1024 + 1]) {
      const value = 'v'.repeat(length);
      const answers = await face.raw(post('/set/edge', value) + get('/strlen/edge'), `:${length}}`);
      expect(answers.match(/\{.*?\}/g)).to.deep.equal(['{"result":"OK"}', `{"result":${length}}`]);
    }
  });

  it('are handed to Node’s server for an event stream', async () => {
    const socket = net.connect(face.port, '127.0.0.1');
    let heard = '';
    socket.on('data', (bytes) => {
      heard += bytes;
    });
    socket.write(get('/subscribe/news', `${AUTH}Accept: text/event-stream\r\n`));
    await eventually(() => expect(heard).to.include('subscribe,news'));
    await face.post('/publish/news', 'hello');
    await eventually(() => expect(heard).to.include('message,news,hello'));
    socket.destroy();
  });

  it('without a request get a 408 after the headers timeout, and are closed', async () => {
    const short = await new KvEndpointHarness({ limits: { headersTimeoutMs: 100 } }).start();
    const socket = net.connect(short.port, '127.0.0.1');
    let heard = '';
    socket.on('data', (bytes) => {
      heard += bytes;
    });
    await once(socket, 'close');
    expect(heard).to.match(/^HTTP\/1\.1 408 /);
    await short.stop();
  });

  it('of a client that has gone are forgotten, and no answer is written to them', async () => {
    const other = await new KvEndpointHarness().start();
    let open = () => {};
    other.gateway.gate = new Promise((resolve) => {
      open = resolve;
    });
    const socket = net.connect(other.port, '127.0.0.1');
    socket.write(get('/get/a') + get('/get/b'));
    await eventually(() => expect(other.gateway.requests).to.have.length(1));
    socket.destroy();
    await eventually(() => expect(other.gateway.requests[0]?.isGone?.()).to.equal(true));
    open();
    await other.server.close();
    expect(other.gateway.requests).to.have.length(1);
    expect(other.log.lines.filter(({ level }) => level === 'error')).to.deep.equal([]);
  });
});

describe('edge/kv: connections over TLS', () => {
  it('accept bytes above ASCII in the path (PLC5)', async () => {
    const { key, certificate: cert } = await selfSignedCertificate();
    const face = await new KvEndpointHarness({ tls: { key, cert } }).start();
    const socket = tls.connect({ port: face.port, host: '127.0.0.1', ca: cert });
    let heard = '';
    socket.setEncoding('utf8').on('data', (text) => {
      heard += text;
    });
    socket.write(get('/echo/é日', `${AUTH}Connection: close\r\n`));
    await once(socket, 'close');
    await face.stop();
    expect(heard).to.match(/^HTTP\/1\.1 200 OK\r\n/);
    expect(heard).to.contain('{"result":"é日"}');
  });
});
