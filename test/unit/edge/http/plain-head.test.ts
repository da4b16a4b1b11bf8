/** Proves PLH1. */
import http from 'node:http';
import { Duplex } from 'node:stream';
import { expect } from 'chai';
import fc from 'fast-check';
import { PlainHeads } from '../../../../src/edge/http/plain-head.js';

const LIMITS = { maxHeaderBytes: 1000, maxHeadersCount: 6 };

interface Read {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: http.IncomingHttpHeaders;
}

/** The head as Node's strict parser reads it; undefined when it refuses it. */
async function readByNode(head: string): Promise<Read | undefined> {
  const server = http.createServer({ requireHostHeader: false, insecureHTTPParser: false });
  return await new Promise((resolve) => {
    const take = ({ method, url, headers }: http.IncomingMessage) => resolve({ method, url, headers });
    server.on('request', take).on('checkContinue', take).on('checkExpectation', take).on('upgrade', take);
    server.on('clientError', () => resolve(undefined));
    const socket = new Duplex({ read: () => {}, write: (_piece, _encoding, done) => done() });
    server.emit('connection', socket);
    socket.push(Buffer.from(`${head}\r\n\r\n`, 'latin1'));
  });
}

const heads = fc
  .record({
    method: fc.constantFrom('GET', 'GET', 'GET', 'POST', 'DELETE', 'PUT', 'get', 'GETS', ' GET'),
    target: fc.oneof(
      fc.constantFrom('/', '/get/a', '/set/a?EX=1', '//', '/a#b', 'http://x/get/a', '*', ''),
      fc.string({ unit: 'binary-ascii', maxLength: 8 }).map((text) => `/${text}`),
    ),
    version: fc.constantFrom(
      ' HTTP/1.1',
      ' HTTP/1.1',
      ' HTTP/1.1',
      ' HTTP/1.0',
      ' HTTP/2.0',
      '  HTTP/1.1',
      ' http/1.1',
      '',
    ),
    headers: fc.array(
      fc.oneof(
        fc.constantFrom(
          'Host: x',
          'host:x',
          'Authorization: Bearer t',
          'Content-Length: 0',
          'Content-Length: 0',
          'Content-Length: +0',
          'Content-Length : 0',
          'Transfer-Encoding: chunked',
          'Connection: keep-alive',
          'Connection: close',
          'Connection: Keep-Alive, Upgrade',
          'Upgrade: h2c',
          'Expect: 100-continue',
          'X-Empty:',
          'X-Wide:   a b  ',
          ' folded',
          'no colon',
          ': no name',
          '__proto__: a',
          'constructor: a',
        ),
        fc
          .tuple(fc.string({ unit: 'binary-ascii', maxLength: 4 }), fc.string({ unit: 'binary', maxLength: 6 }))
          .map(([name, value]) => `X${name}: ${value}`),
      ),
      { maxLength: 3 },
    ),
    hasHost: fc.constantFrom(true, true, false),
  })
  .map(({ method, target, version, headers, hasHost }) =>
    [`${method} ${target}${version}`, ...(hasHost ? ['Host: x'] : []), ...headers].join('\r\n'),
  );

describe('edge/http: the head of a plain request', () => {
  it('is parsed as by Node’s strict parser, for any bytes', async () => {
    let plain = 0;
    await fc.assert(
      fc.asyncProperty(heads, async (head) => {
        const read = head.includes('\r\n\r\n') ? undefined : new PlainHeads(LIMITS).read(head);
        if (read === undefined) return;
        plain += 1;
        const { method, url, headers, bodyBytes } = read;
        expect({ method, url, headers }).to.deep.equal(await readByNode(head));
        expect(String(bodyBytes)).to.equal(headers['content-length'] ?? '0');
      }),
      { numRuns: 10_000 },
    );
    expect(plain).to.be.above(50);
  });

  it('has only characters in its target that Node’s parser reads alike', async () => {
    for (let code = 0; code < 256; code += 1) {
      const head = `GET /a${String.fromCharCode(code)}b HTTP/1.1\r\nHost: x`;
      const url = new PlainHeads(LIMITS).read(head)?.url;
      if (url !== undefined) expect(url, String(code)).to.equal((await readByNode(head))?.url);
    }
  });

  const GET = 'GET /get/a HTTP/1.1\r\nHost: x';
  const POST = 'POST /set/a HTTP/1.1\r\nHost: x\r\nContent-Length: 3';

  it('is that of a GET without body, a POST with a length, or a DELETE', () => {
    const heads = new PlainHeads(LIMITS);
    expect(heads.read(GET)).to.include({ method: 'GET', url: '/get/a', bodyBytes: 0 });
    expect(heads.read(POST)).to.include({ method: 'POST', url: '/set/a', bodyBytes: 3 });
    // Another URL with the headers of the request before.
    expect(heads.read('POST /set/b HTTP/1.1\r\nHost: x\r\nContent-Length: 3')).to.include({
      url: '/set/b',
      bodyBytes: 3,
    });
    expect(heads.read('DELETE /a HTTP/1.1\r\nHost: x')).to.include({ method: 'DELETE', bodyBytes: 0 });
    expect(heads.read('DELETE /a HTTP/1.1\r\nHost: x\r\nContent-Length: 3')).to.include({ bodyBytes: 3 });
    expect(heads.read('GET /get/b HTTP/1.1\r\nHost: x\r\nContent-Length: 3')).to.equal(undefined);
    expect(heads.read('POST /set/b HTTP/1.1\r\nHost: x')).to.equal(undefined);
  });

  for (const header of [
    'Transfer-Encoding: chunked',
    'Expect: 100-continue',
    'Upgrade: h2c',
    'Connection: close',
    'Connection: upgrade',
    'TE: trailers',
    'Trailer: x',
    'Host: y',
    'X-A: b\tc',
    'X-A: b\x00',
    'X-A: b\rc',
    'X-A: é',
    'X_A: b',
    'X-A : b',
    ' X-A: b',
  ]) {
    it(`is not accepted with ${JSON.stringify(header)}`, () =>
      expect(new PlainHeads(LIMITS).read(`${GET}\r\n${header}`)).to.equal(undefined));
  }

  it('is not accepted with another version, without a host, or with a target that is no path', () => {
    for (const head of [
      'GET /a HTTP/1.0\r\nHost: x',
      'GET /a HTTP/1.1\r\nX: x',
      'GET http://y/a HTTP/1.1\r\nHost: x',
    ]) {
      expect(new PlainHeads(LIMITS).read(head), head).to.equal(undefined);
    }
  });

  it('has at most as many headers and bytes as the server accepts', () => {
    const heads = new PlainHeads(LIMITS);
    const headers = ['\r\nA: 1', '\r\nB: 1', '\r\nC: 1', '\r\nD: 1', '\r\nE: 1'];
    expect(heads.read(GET + headers.join(''))).to.include({ method: 'GET' });
    expect(heads.read(`${GET}${headers.join('')}\r\nF: 1`)).to.equal(undefined);
    const fill = 'a'.repeat(LIMITS.maxHeaderBytes - GET.length);
    expect(heads.read(GET.replace('/get/a', `/get/a${fill}`))).to.include({ method: 'GET' });
    expect(heads.read(GET.replace('/get/a', `/get/a${fill}a`))).to.equal(undefined);
  });
});
