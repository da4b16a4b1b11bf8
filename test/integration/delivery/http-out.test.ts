/**
 * Calls to destinations over real sockets: destinations that answer, are slow, break the protocol or are forbidden.
 * Proves CO1–CO3, DC1, DC2, OC1, HO1–HO4.
 */
import type { LookupAddress } from 'node:dns';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { type HttpOutOptions, SocketHttpOut } from '../../../src/adapters/http-delivery/index.js';
import type { CallOutcome, OutgoingCall } from '../../../src/ports/index.js';
import { eventually } from '../../support/eventually.js';
import { RawDestination } from '../../support/raw-destination.js';
import { selfSignedCertificate } from '../../support/self-signed-certificate.js';

const LOOPBACK: LookupAddress = { address: '127.0.0.1', family: 4 };
const found =
  (...addresses: LookupAddress[]) =>
  async () => ({ addresses, ttlMs: 60_000 });
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

describe('calls to destinations', () => {
  const closing: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });

  function httpOut(options: Partial<HttpOutOptions> = {}): SocketHttpOut {
    const out = new SocketHttpOut({ allowPrivate: true, allow: [], ...options });
    closing.push(() => out.close());
    return out;
  }

  async function raw(answer: (socket: Socket, text: string) => void): Promise<RawDestination> {
    const destination = await RawDestination.listening(answer);
    closing.push(() => destination.close());
    return destination;
  }

  /** Answers with the name that the client asked for. */
  async function secureServer(): Promise<{ port: number; certificate: string }> {
    const { key, certificate } = await selfSignedCertificate();
    const server = createSecureServer({ key, cert: certificate }, (request, response) => {
      response.end((request.socket as TLSSocket).servername || 'no name');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    closing.push(async () => {
      server.closeAllConnections();
      server.close();
    });
    return { port: (server.address() as { port: number }).port, certificate };
  }

  function callTo(url: string, more: Partial<OutgoingCall> = {}): OutgoingCall {
    return {
      url,
      method: 'POST',
      headers: [],
      body: Buffer.from('hello'),
      timeoutMs: 5000,
      maxResponseBytes: 1000,
      signal: new AbortController().signal,
      ...more,
    };
  }

  function errorOf(outcome: CallOutcome): string {
    return outcome.kind === 'no-response' ? outcome.error : `was ${outcome.kind}`;
  }

  function textOf(outcome: CallOutcome): string {
    return outcome.kind === 'response' ? Buffer.from(outcome.body).toString() : errorOf(outcome);
  }

  describe('the request', () => {
    it('has the given method, target, headers and body, and accept-encoding: identity', async () => {
      const destination = await raw((socket) => socket.write(OK));
      const headers = [
        ['Content-Type', 'text/plain'],
        ['X-Latin', 'caf\u00e9'],
        ['X-Twice', 'a'],
        ['X-Twice', 'b'],
      ] as const;
      await httpOut().send(callTo(destination.url('/a/b?c=d&e=%20'), { method: 'PUT', headers }));
      expect(destination.requests.join('')).to.equal(
        `PUT /a/b?c=d&e=%20 HTTP/1.1\r\nhost: 127.0.0.1:${destination.port}\r\nconnection: keep-alive\r\n` +
          'Content-Type: text/plain\r\nX-Latin: caf\u00e9\r\nX-Twice: a\r\nX-Twice: b\r\naccept-encoding: identity\r\n' +
          'content-length: 5\r\n\r\nhello',
      );
    });

    it('has a body with GET and DELETE too, and keeps the connection open', async () => {
      const destination = await raw((socket) => socket.write(OK));
      const out = httpOut();
      for (const method of ['GET', 'DELETE', 'GET'] as const) {
        expect(textOf(await out.send(callTo(destination.url(), { method })))).to.equal('ok');
      }
      expect(destination.requests.every((text) => text.endsWith('\r\n\r\nhello'))).to.equal(true);
      expect(destination.connections).to.equal(1);
    });

    it('has the Accept-Encoding that the publisher gives', async () => {
      const destination = await raw((socket) => socket.write(OK));
      await httpOut().send(callTo(destination.url(), { headers: [['Accept-Encoding', 'gzip']] }));
      expect(destination.requests.join('')).to.include('Accept-Encoding: gzip').and.not.include('identity');
    });

    it('ignores given headers for the host, the length and the framing', async () => {
      const destination = await raw((socket) => socket.write(OK));
      const headers = [
        ['Host', 'evil.example'],
        ['Content-Length', '1'],
        ['Transfer-Encoding', 'chunked'],
        ['Connection', 'close'],
        ['Expect', '100-continue'],
        ['Upgrade', 'h2c'],
      ] as const;
      expect(textOf(await httpOut().send(callTo(destination.url(), { headers })))).to.equal('ok');
      expect(destination.requests.join('')).to.not.match(/evil|chunked|close|expect|upgrade|content-length: 1\r/i);
    });

    it('is not sent when a header has forbidden bytes, and the outcome names the reason', async () => {
      const destination = await raw((socket) => socket.write(OK));
      const out = httpOut();
      for (const header of [
        ['X-A', 'a\r\nB: c'],
        ['X A', 'a'],
        ['X-A', '\u4e2d'],
      ] as const) {
        expect(errorOf(await out.send(callTo(destination.url(), { headers: [header] })))).to.equal(
          'request cannot be sent',
        );
      }
      expect(destination.requests).to.deep.equal([]);
    });

    it('is not sent to a proxy from the environment', async () => {
      const proxy = await raw((socket) => socket.write('HTTP/1.1 502 Proxy\r\nContent-Length: 0\r\n\r\n'));
      const destination = await raw((socket) => socket.write(OK));
      const before = process.env.http_proxy;
      process.env.http_proxy = proxy.url('/');
      try {
        expect(textOf(await httpOut().send(callTo(destination.url())))).to.equal('ok');
      } finally {
        if (before === undefined) delete process.env.http_proxy;
        else process.env.http_proxy = before;
      }
    });
  });

  describe('the response', () => {
    it('has a status, canonical header names, header values byte for byte, and the body', async () => {
      const destination = await raw((socket) =>
        socket.write(
          Buffer.from(
            'HTTP/1.1 503 No\r\nx-a: \u00ff\r\nSET-COOKIE: a\r\nset-cookie: b\r\nContent-Length: 2\r\n\r\nno',
            'latin1',
          ),
        ),
      );
      const outcome = await httpOut().send(callTo(destination.url()));
      expect(outcome).to.deep.include({
        kind: 'response',
        status: 503,
        isCut: false,
        header: [
          ['X-A', '\u00ff'],
          ['Set-Cookie', 'a'],
          ['Set-Cookie', 'b'],
          ['Content-Length', '2'],
        ],
      });
      expect(textOf(outcome)).to.equal('no');
    });

    it('is not followed when it is a redirect', async () => {
      const other = await raw((socket) => socket.write(OK));
      const destination = await raw((socket) =>
        socket.write(`HTTP/1.1 302 Found\r\nLocation: ${other.url()}\r\nContent-Length: 0\r\n\r\n`),
      );
      expect(await httpOut().send(callTo(destination.url()))).to.deep.include({ kind: 'response', status: 302 });
      expect(other.requests).to.deep.equal([]);
    });

    it('is never decoded', async () => {
      const packed = gzipSync(Buffer.alloc(100_000));
      const destination = await raw((socket) => {
        socket.write(`HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: ${packed.length}\r\n\r\n`);
        socket.write(packed);
      });
      const outcome = await httpOut().send(callTo(destination.url()));
      expect(outcome.kind === 'response' && Buffer.from(outcome.body).equals(packed)).to.equal(true);
    });

    it('is complete at exactly the size limit, and cut one byte above it', async () => {
      for (const [length, isCut] of [
        [1000, false],
        [1001, true],
      ] as const) {
        const destination = await raw((socket) =>
          socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${length}\r\n\r\n${'x'.repeat(length)}`),
        );
        const outcome = await httpOut().send(callTo(destination.url()));
        expect(outcome).to.deep.include({ kind: 'response', status: 200, isCut });
        expect(outcome.kind === 'response' && outcome.body.length).to.equal(1000);
      }
    });

    it('is cut when an endless body reaches the limit, and the connection is closed', async () => {
      const destination = await raw((socket) => {
        socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
        const more = () => {
          while (socket.writable && socket.write(`400\r\n${'x'.repeat(1024)}\r\n`));
          if (socket.writable) socket.once('drain', more);
        };
        more();
      });
      const outcome = await httpOut().send(callTo(destination.url(), { maxResponseBytes: 100_000 }));
      expect(outcome).to.deep.include({ kind: 'response', status: 200, isCut: true });
      expect(outcome.kind === 'response' && outcome.body.length).to.equal(100_000);
      await eventually(() => expect(destination.openSockets).to.equal(0));
    });

    it('has at most 256 headers', async () => {
      const destination = await raw((socket) =>
        socket.write(`HTTP/1.1 200 OK\r\n${'a: b\r\n'.repeat(1000)}Content-Length: 0\r\n\r\n`),
      );
      const outcome = await httpOut().send(callTo(destination.url()));
      expect(outcome.kind === 'response' && outcome.header.length).to.equal(256);
    });

    it('may end with the connection when it has no length', async () => {
      const destination = await raw((socket) => socket.end('HTTP/1.1 200 OK\r\n\r\nall of it'));
      expect(textOf(await httpOut().send(callTo(destination.url())))).to.equal('all of it');
    });

    it('may come after interim responses', async () => {
      const destination = await raw((socket) => socket.write(`HTTP/1.1 103 Early\r\nLink: x\r\n\r\n${OK}`));
      expect(textOf(await httpOut().send(callTo(destination.url())))).to.equal('ok');
    });
  });

  describe('a destination that misbehaves', () => {
    const cases: [string, (socket: Socket) => void, string][] = [
      ['closes at once', (socket) => socket.end(), 'connection closed before the response was complete'],
      ['resets the connection', (socket) => socket.resetAndDestroy(), 'connection reset'],
      ['speaks no HTTP', (socket) => socket.write('hello there\r\n\r\n'), 'response is not valid HTTP/1.1'],
      [
        'closes within its headers',
        (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-'),
        'connection closed before the response was complete',
      ],
      [
        'closes within its body',
        (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf'),
        'connection closed before the response was complete',
      ],
      [
        'closes within a chunk',
        (socket) => socket.end('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab'),
        'connection closed before the response was complete',
      ],
      [
        'gives two lengths',
        (socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nabc'),
        'response body does not match its declared length',
      ],
      [
        'gives a length and chunks',
        (socket) => socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\nabc'),
        'response is not valid HTTP/1.1',
      ],
      [
        'closes within the body of a connection that was to close',
        (socket) => socket.end('HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 10\r\n\r\nhalf'),
        'response body does not match its declared length',
      ],
      [
        'sends headers beyond 32 KiB',
        (socket) => socket.write(`HTTP/1.1 200 OK\r\n${`x: ${'y'.repeat(1000)}\r\n`.repeat(33)}`),
        'response headers too large',
      ],
      [
        'never ends its interim responses',
        (socket) => socket.write('HTTP/1.1 102 Processing\r\n\r\n'.repeat(17)),
        'too many interim responses',
      ],
      [
        'switches the protocol',
        (socket) => socket.write('HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n'),
        'connection closed before the response was complete',
      ],
    ];
    for (const [behaviour, answer, words] of cases) {
      it(`that ${behaviour} gives no response: "${words}"`, async () => {
        const destination = await raw(answer);
        const out = httpOut();
        expect(errorOf(await out.send(callTo(destination.url())))).to.equal(words);
        await eventually(() => expect(destination.openSockets).to.equal(0));
        expect(out.figures).to.deep.include({ sockets: 0, waiting: 0 });
      });
    }

    it('is called on a new connection after a failure', async () => {
      let isBroken = true;
      const destination = await raw((socket) => (isBroken ? socket.destroy() : socket.write(OK)));
      const out = httpOut();
      expect((await out.send(callTo(destination.url()))).kind).to.equal('no-response');
      isBroken = false;
      expect(textOf(await out.send(callTo(destination.url())))).to.equal('ok');
    });

    it('that refuses connections gives "connection refused"', async () => {
      const destination = await raw(() => {});
      const url = destination.url();
      await destination.server.close();
      expect(errorOf(await httpOut().send(callTo(url)))).to.equal('connection refused');
    });

    it('without an address gives "no such host"', async () => {
      const resolve = () => Promise.reject(Object.assign(new Error('none'), { code: 'ENOTFOUND' }));
      expect(errorOf(await httpOut({ resolve }).send(callTo('http://gone.example/')))).to.equal('no such host');
      const empty = httpOut({ resolve: found() });
      expect(errorOf(await empty.send(callTo('http://empty.example/')))).to.equal('no such host');
    });

    it('without TLS, or with an untrusted certificate, gives its own error for each', async () => {
      const plain = await raw((socket) => socket.write(OK));
      const url = plain.url().replace('http:', 'https:');
      expect(errorOf(await httpOut().send(callTo(url)))).to.equal('TLS handshake failed');
      const { port } = await secureServer();
      const selfSigned = await httpOut().send(callTo(`https://127.0.0.1:${port}/`));
      expect(errorOf(selfSigned)).to.equal('certificate is not trusted');
    });

    it('with a certificate for another host gives "certificate is for another host"', async () => {
      const { port, certificate } = await secureServer();
      const out = httpOut({ ca: certificate, resolve: found(LOOPBACK) });
      const outcome = await out.send(callTo(`https://other.example:${port}/`));
      expect(errorOf(outcome)).to.equal('certificate is for another host');
      expect(textOf(await out.send(callTo(`https://here.example:${port}/`)))).to.equal('here.example');
      expect(textOf(await out.send(callTo(`https://127.0.0.1:${port}/`)))).to.equal('no name');
    });
  });

  describe('the timeout', () => {
    const slow: [string, (socket: Socket) => void][] = [
      ['never answers', () => {}],
      ['stops within its headers', (socket) => socket.write('HTTP/1.1 200 OK\r\nX-A: ')],
      ['stops within its body', (socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nab')],
      [
        'drips byte by byte',
        (socket) => {
          socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
          const drip = setInterval(() => socket.write('1\r\nx\r\n'), 10);
          socket.on('close', () => clearInterval(drip));
        },
      ],
    ];
    for (const [behaviour, answer] of slow) {
      it(`ends a call to a destination that ${behaviour}`, async () => {
        const destination = await raw(answer);
        const outcome = await httpOut().send(callTo(destination.url(), { timeoutMs: 150 }));
        expect(errorOf(outcome)).to.equal('timed out after 0.15s');
        expect(outcome.kind === 'no-response' && outcome.durationMs).to.be.within(140, 2000);
        await eventually(() => expect(destination.openSockets).to.equal(0));
      });
    }

    it('covers the time a call waits for a connection', async () => {
      const destination = await raw(() => {});
      const out = httpOut({ socketsPerOrigin: 1 });
      const first = out.send(callTo(destination.url(), { timeoutMs: 60_000 }));
      const waiting = await out.send(callTo(destination.url(), { timeoutMs: 100 }));
      expect(errorOf(waiting)).to.equal('timed out after 0.1s');
      expect(out.figures).to.deep.equal({ origins: 1, sockets: 1, waiting: 0 });
      expect(destination.connections).to.equal(1);
      await out.close();
      expect((await first).kind).to.equal('interrupted');
    });

    it('covers the name lookup, which also has a shorter timeout', async () => {
      const resolve = () => new Promise<never>(() => {});
      const byCall = await httpOut({ resolve }).send(callTo('http://slow.example/', { timeoutMs: 100 }));
      expect(errorOf(byCall)).to.equal('timed out after 0.1s');
      const byLookup = await httpOut({ resolve, lookupTimeoutMs: 100 }).send(callTo('http://slow.example/'));
      expect(errorOf(byLookup)).to.equal('name lookup timed out');
    });

    it('of connecting starts after the name lookup', async () => {
      const destination = await raw((socket) => socket.write(OK));
      const connectTimeoutMs = 300;
      const resolve = () =>
        new Promise<{ addresses: LookupAddress[]; ttlMs: number }>((resolve) =>
          setTimeout(() => resolve({ addresses: [LOOPBACK], ttlMs: 0 }), 2 * connectTimeoutMs),
        );
      const outcome = await httpOut({ resolve, connectTimeoutMs }).send(callTo(destination.url('/', 'slow.example')));
      expect(textOf(outcome)).to.equal('ok');
    });

    it('of connecting covers the TLS handshake', async () => {
      const destination = await raw(() => {});
      const url = destination.url().replace('http:', 'https:');
      expect(errorOf(await httpOut({ connectTimeoutMs: 100 }).send(callTo(url)))).to.equal('connecting timed out');
      await eventually(() => expect(destination.openSockets).to.equal(0));
    });
  });

  describe('an abort signal', () => {
    it('ends calls that wait, connect or read, and closes their connections', async () => {
      const destination = await raw((socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nab'));
      const out = httpOut({ socketsPerOrigin: 2, resolve: () => new Promise(() => {}) });
      const stop = new AbortController();
      const urls = [...Array<string>(3).fill(destination.url()), 'http://slow.example/'];
      const calls = urls.map((url) => out.send(callTo(url, { signal: stop.signal })));
      await eventually(() => expect(destination.requests).to.have.length(2));
      stop.abort();
      for (const outcome of await Promise.all(calls)) expect(outcome).to.deep.equal({ kind: 'interrupted' });
      await eventually(() => expect(destination.openSockets).to.equal(0));
      expect(out.figures).to.deep.include({ sockets: 0, waiting: 0 });
    });

    it('given before the call prevents its request', async () => {
      const destination = await raw((socket) => socket.write(OK));
      const out = httpOut();
      expect(await out.send(callTo(destination.url(), { signal: AbortSignal.abort() }))).to.deep.equal({
        kind: 'interrupted',
      });
      await out.close();
      expect((await out.send(callTo(destination.url()))).kind).to.equal('interrupted');
      expect(destination.connections).to.equal(0);
    });

    it('does not affect the calls of others', async () => {
      const answer: Socket[] = [];
      const destination = await raw((socket) => answer.push(socket));
      const out = httpOut();
      const stop = new AbortController();
      const mine = out.send(callTo(destination.url(), { signal: stop.signal }));
      const theirs = out.send(callTo(destination.url()));
      await eventually(() => expect(answer).to.have.length(2));
      stop.abort();
      expect((await mine).kind).to.equal('interrupted');
      for (const socket of answer) socket.write(OK);
      expect(textOf(await theirs)).to.equal('ok');
    });
  });

  describe('connections', () => {
    let server: Server;
    const waiting: (() => void)[] = [];
    const url = () => `http://127.0.0.1:${(server.address() as { port: number }).port}/`;
    beforeEach(async () => {
      server = createServer((_request: IncomingMessage, response) => waiting.push(() => response.end('ok')));
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      closing.push(async () => {
        waiting.length = 0;
        server.closeAllConnections();
        server.close();
      });
    });

    it('to one origin are bounded, and further calls wait for one', async () => {
      const out = httpOut({ socketsPerOrigin: 3 });
      const calls = Array.from({ length: 10 }, () => out.send(callTo(url())));
      await eventually(() => expect(waiting).to.have.length(3));
      expect(out.figures).to.deep.equal({ origins: 1, sockets: 3, waiting: 7 });
      let answered = 0;
      await eventually(() => {
        for (const answer of waiting.splice(0)) {
          answer();
          answered += 1;
        }
        expect(answered).to.equal(10);
      });
      for (const outcome of await Promise.all(calls)) expect(textOf(outcome)).to.equal('ok');
      expect(out.figures).to.deep.equal({ origins: 1, sockets: 3, waiting: 0 });
    });

    it('of an idle origin are closed after its idle time', async () => {
      const out = httpOut({ idleOriginMs: 50 });
      const call = out.send(callTo(url()));
      await eventually(() => expect(waiting).to.have.length(1));
      waiting.pop()?.();
      await call;
      await eventually(() => expect(out.figures).to.deep.equal({ origins: 0, sockets: 0, waiting: 0 }));
    });

    it('of the longest idle origin are closed to make room for another origin', async () => {
      const out = httpOut({ maxOrigins: 2, resolve: found(LOOPBACK) });
      const hosts = ['a.example', 'b.example', 'c.example'];
      for (const host of hosts) {
        const call = out.send(callTo(url().replace('127.0.0.1', host)));
        await eventually(() => expect(waiting).to.have.length(1));
        waiting.pop()?.();
        expect(textOf(await call)).to.equal('ok');
      }
      expect(out.figures).to.deep.include({ origins: 2, sockets: 2 });
    });
  });

  describe('forbidden addresses', () => {
    const strict = (resolve: NonNullable<HttpOutOptions['resolve']>) => httpOut({ allowPrivate: false, resolve });

    it('are refused when written as a literal, before a connection is opened', async () => {
      const destination = await raw((socket) => socket.write(OK));
      const out = httpOut({ allowPrivate: false });
      const literal = destination.url();
      expect(out.refusalOf(literal)).to.equal('endpoint resolves to a loopback address: 127.0.0.1');
      expect(errorOf(await out.send(callTo(literal)))).to.match(/loopback address/);
      expect(out.refusalOf('https://a.example/')).to.equal(undefined);
      expect(destination.connections).to.equal(0);
    });

    it('are refused when a name resolves to one', async () => {
      const destination = await raw((socket) => socket.write(OK));
      const out = strict(found(LOOPBACK));
      expect(errorOf(await out.send(callTo(destination.url('/', 'inside.example'))))).to.equal(
        'destination address is not allowed: 127.0.0.1 (loopback)',
      );
      expect(destination.connections).to.equal(0);
    });

    it('are refused for localhost as the system resolves it', async () => {
      const destination = await raw((socket) => socket.write(OK));
      const out = httpOut({ allowPrivate: false });
      for (const host of ['localhost', 'localhost.']) {
        const outcome = await out.send(callTo(destination.url('/', host)));
        expect(errorOf(outcome), host).to.match(/not allowed|no such host/);
      }
      expect(destination.connections).to.equal(0);
    });

    it('are refused when one of several addresses is forbidden', async () => {
      const destination = await raw((socket) => socket.write(OK));
      const mixed: LookupAddress[][] = [
        [{ address: '93.184.215.14', family: 4 }, LOOPBACK],
        [{ address: '2606:2800:21f::1', family: 6 }, LOOPBACK],
        [
          { address: '93.184.215.14', family: 4 },
          { address: '::1', family: 6 },
        ],
        [{ address: 'fe80::1%eth0', family: 6 }],
      ];
      for (const addresses of mixed) {
        const out = strict(found(...addresses));
        const outcome = await out.send(callTo(destination.url('/', 'mixed.example')));
        expect(errorOf(outcome)).to.match(/^destination address is not allowed/);
      }
      expect(destination.connections).to.equal(0);
    });

    it('are not reached by a name that changes its address: the checked address is the one connected to', async () => {
      const destination = await raw((socket) => socket.write(OK));
      let asked = 0;
      const allowed = { address: '127.0.0.1', prefixBits: 32, port: destination.port };
      const resolve = async () => {
        asked += 1;
        return { addresses: asked === 1 ? [LOOPBACK] : [{ address: '127.0.0.2', family: 4 }], ttlMs: 60_000 };
      };
      const out = httpOut({ allowPrivate: false, allow: [allowed], resolve });
      expect(textOf(await out.send(callTo(destination.url('/', 'flips.example'))))).to.equal('ok');
      expect(asked).to.equal(1);
    });

    it("are reached when the operator's list has their address and port", async () => {
      const destination = await raw((socket) => socket.write(OK));
      const range = { address: '127.0.0.0', prefixBits: 8 };
      const listed = httpOut({ allowPrivate: false, allow: [{ ...range, port: destination.port }] });
      expect(textOf(await listed.send(callTo(destination.url())))).to.equal('ok');
      const elsewhere = httpOut({ allowPrivate: false, allow: [{ ...range, port: destination.port + 1 }] });
      expect(errorOf(await elsewhere.send(callTo(destination.url())))).to.match(/loopback/);
    });
  });
});
