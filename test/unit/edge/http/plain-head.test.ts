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

  // The situations in the published cases of Node's parser, llhttp: test/request of its repository.
  const plainSituations = [
    [
      'headers of a browser',
      'GET /favicon.ico HTTP/1.1\r\nHost: 0.0.0.0=5000\r\nAccept: text/html,*/*;q=0.8\r\nKeep-Alive: 300',
    ],
    ['marks of quotation and brackets in a value', 'GET /a HTTP/1.1\r\nHost: x\r\naaaaa:++++++++"[]{}'],
    ['a question mark within the query', 'GET /test.cgi?foo=bar?baz HTTP/1.1\r\nHost: x'],
    ['a percent-encoded path', 'GET /delta/%CE%B4/x HTTP/1.1\r\nHost: x'],
    ['a path that begins with two slashes', 'GET //a HTTP/1.1\r\nHost: x'],
    ['an empty header', 'GET /a HTTP/1.1\r\nHost: x\r\nAccept:'],
    ['spaces around a length', 'POST /a HTTP/1.1\r\nHost: x\r\nContent-Length:  42 '],
    ['a length with leading zeros', 'POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 003'],
    ['a length with capital letters in its name', 'POST /a HTTP/1.1\r\nHost: x\r\nconTENT-Length: 5'],
    ['a body after DELETE', 'DELETE /a HTTP/1.1\r\nHost: x\r\nContent-Length: 5'],
    ['keep-alive in capital letters', 'GET /a HTTP/1.1\r\nHost: x\r\nConnection: Keep-Alive'],
  ] as const;
  for (const [situation, head] of plainSituations) {
    it(`is accepted with ${situation}, and as Node reads it`, async () => {
      const { method, url, headers } = new PlainHeads(LIMITS).read(head) ?? {};
      expect({ method, url, headers }).to.deep.equal(await readByNode(head));
      expect(method).to.be.a('string');
    });
  }

  const otherSituations = [
    ['the protocol of a media server', 'GET /a ICE/1.0\r\nHost: x'],
    ['a letter before the protocol', 'GET /a IHTTP/1.0\r\nHost: x'],
    ['an unknown version', 'GET /a HTTP/5.6\r\nHost: x'],
    ['no version', 'GET /a\r\nHost: x'],
    ['two spaces before the version', 'GET /a  HTTP/1.1\r\nHost: x'],
    ['a line feed before it', '\r\nGET /a HTTP/1.1\r\nHost: x'],
    ['a method that begins with a known one', 'GETA /a HTTP/1.1\r\nHost: x'],
    ['another method', 'PURGE /a HTTP/1.1\r\nHost: x'],
    ['a tunnel', 'CONNECT 0.0.0.0:443 HTTP/1.1\r\nHost: x'],
    ['a whole URL', 'GET http://x?hail=all HTTP/1.1\r\nHost: x'],
    ['a fragment', 'GET /topics/2375?page=1#posts-17408 HTTP/1.1\r\nHost: x'],
    ['a tab in its target', 'GET /foo\tbar HTTP/1.1\r\nHost: x'],
    ['a form feed in its target', 'GET /foo\fbar HTTP/1.1\r\nHost: x'],
    ['bytes above ASCII in its target', 'GET /\xce\xb4 HTTP/1.1\r\nHost: x'],
    ['an empty target', 'GET  HTTP/1.1\r\nHost: x'],
    ['headers separated by a carriage return', 'GET /a HTTP/1.1\r\nHost: x\r\nFoo: 1\rBar: 2'],
    ['headers separated by a line feed', 'GET /a HTTP/1.1\r\nHost: x\r\nFoo: 1\nBar: 2'],
    ['an empty header that ends in a line feed', 'GET /a HTTP/1.1\r\nHost: x\r\nx:\nTransfer-Encoding: chunked'],
    ['an at sign in a name', 'GET /a HTTP/1.1\r\nHost: x\r\nFo@: Failure'],
    ['a control character in a name', 'GET /a HTTP/1.1\r\nHost: x\r\nFoo\x01test: Bar'],
    ['a carriage return in a name', 'GET /a HTTP/1.1\r\nHost: x\r\nContent\rLength: 003'],
    ['a header without a name', 'GET /a HTTP/1.1\r\nHost: x\r\n: Bar'],
    ['a folded name', 'GET /a HTTP/1.1\r\nHost: x\r\nname\r\n : value'],
    ['a folded value', 'GET /a HTTP/1.1\r\nHost: x\r\nLine1:   abc\r\n\tdef'],
    ['a space before its first header', 'GET /a HTTP/1.1\r\n Host: x'],
    ['a length of two numbers', 'POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 13 37'],
    ['an empty length', 'POST /a HTTP/1.1\r\nHost: x\r\nContent-Length:'],
    ['a length beyond the largest number', 'POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000000000000000000'],
    ['two lengths', 'POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2'],
    ['a length and chunks', 'POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked'],
    ['a length and an empty encoding', 'POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding:'],
    ['an unknown encoding', 'POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: pigeons'],
    [
      'an upgrade with a body',
      'POST /a HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: HTTP/2.0\r\nContent-Length: 15',
    ],
    ['two words in Connection', 'GET /a HTTP/1.1\r\nHost: x\r\nConnection: keep-alive, upgrade'],
  ] as const;
  for (const [situation, head] of otherSituations) {
    it(`is not accepted with ${situation}`, () => expect(new PlainHeads(LIMITS).read(head)).to.equal(undefined));
  }
});
