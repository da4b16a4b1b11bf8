/**
 * Every part of a destination's answer is bounded: status line, headers, chunk sizes, trailers, body. Proves DC4, DC6,
 * CNX1, CNX3.
 */
import type { Socket } from 'node:net';
import { createServer as createSecureServer, type Server as SecureServer } from 'node:tls';
import { expect } from 'chai';
import { type HttpOutOptions, SocketHttpOut } from '../../../src/adapters/http-delivery/index.js';
import type { CallOutcome } from '../../../src/ports/index.js';
import { eventually } from '../../support/eventually.js';
import { RawDestination } from '../../support/raw-destination.js';
import { selfSignedCertificate } from '../../support/self-signed-certificate.js';

const MAX_OVERHEAD_BYTES = 64 * 1024;
const TOO_LARGE = 'response headers, interim responses and framing are too large';
const CHUNKED = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';
/** Bytes that the kernel and a socket hold between a sender and a reader that stopped. */
const UNDER_WAY_BYTES = 16 * 1024 * 1024;

describe("the bytes of a destination's answer", () => {
  const closing: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });

  function httpOut(options: Partial<HttpOutOptions> = {}): SocketHttpOut {
    const out = new SocketHttpOut({ allowPrivate: true, allow: [], maxOverheadBytes: MAX_OVERHEAD_BYTES, ...options });
    closing.push(() => out.close());
    return out;
  }

  /** Sends the piece repeatedly on each connection until it is closed. */
  class Flood {
    sentBytes = 0;
    openSockets = 0;

    pour(socket: Socket, begin: string, piece: string): void {
      this.openSockets += 1;
      socket.on('close', () => {
        this.openSockets -= 1;
      });
      socket.on('error', () => socket.destroy());
      const pieces = Buffer.from(piece.repeat(Math.ceil(65_536 / piece.length)), 'latin1');
      const more = () => {
        while (socket.writable) {
          this.sentBytes += pieces.length;
          if (!socket.write(pieces)) break;
        }
      };
      socket.on('drain', more);
      socket.write(begin);
      more();
    }
  }

  async function flooded(begin: string, piece: string, options: Partial<HttpOutOptions> = {}) {
    const flood = new Flood();
    const destination = await RawDestination.listening((socket) => flood.pour(socket, begin, piece));
    closing.push(() => destination.close());
    const out = httpOut(options);
    const outcome = await call(out, destination.url());
    return { outcome, flood };
  }

  function call(out: SocketHttpOut, url: string, maxResponseBytes = 1000): Promise<CallOutcome> {
    const signal = new AbortController().signal;
    return out.send({
      url,
      method: 'POST',
      headers: [],
      body: Buffer.from('b'),
      timeoutMs: 30_000,
      maxResponseBytes,
      signal,
    });
  }

  const errorOf = (outcome: CallOutcome) =>
    outcome.kind === 'no-response' ? outcome.error : `was ${JSON.stringify(outcome)}`;

  const parts: [string, string, string, string][] = [
    ['a status line', 'HTTP/1.1 200 ', 'O', TOO_LARGE],
    ['empty lines before the answer', '', '\r\n', TOO_LARGE],
    ['header names', 'HTTP/1.1 200 OK\r\nX', 'X', 'response headers too large'],
    ['header values', 'HTTP/1.1 200 OK\r\nX: ', 'x', 'response headers too large'],
    ['space before a header value', 'HTTP/1.1 200 OK\r\nX:', ' ', TOO_LARGE],
    ['headers', 'HTTP/1.1 200 OK\r\n', `X: ${'y'.repeat(100)}\r\n`, 'response headers too large'],
    ['headers of a byte', 'HTTP/1.1 200 OK\r\n', 'X: y\r\n', TOO_LARGE],
    ['interim responses with long headers', '', `HTTP/1.1 103 Early\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, TOO_LARGE],
    ['the extension of one chunk', `${CHUNKED}1;`, 'e', TOO_LARGE],
    ['extensions of chunks', CHUNKED, `1;${'e'.repeat(60_000)}\r\nx\r\n`, TOO_LARGE],
    ['digits of a chunk size', CHUNKED, '0', TOO_LARGE],
    ['trailers', `${CHUNKED}0\r\n`, 'X: y\r\n', TOO_LARGE],
    ['a trailer', `${CHUNKED}0\r\nX: `, 'y', 'response headers too large'],
  ];
  for (const [part, begin, piece, words] of parts) {
    it(`are bounded in ${part}: "${words}"`, async () => {
      const { outcome, flood } = await flooded(begin, piece);
      expect(errorOf(outcome)).to.equal(words);
      await eventually(() => expect(flood.openSockets).to.equal(0));
      expect(flood.sentBytes).to.be.below(UNDER_WAY_BYTES);
    });
  }

  describe('in many bodies read in parallel', () => {
    const LONG = 1024 * 1024;
    const ROOM = 4 * LONG;
    const body = Buffer.from(Array.from({ length: LONG / 8 }, (_, at) => `${String(at).padStart(7, '0')}\n`).join(''));

    /** Sends the given part of a long body in one piece, without an end; or all of it. */
    async function answering(bytes: number): Promise<{ url: string; sockets: Socket[] }> {
      const sockets: Socket[] = [];
      const destination = await RawDestination.listening((socket) => {
        sockets.push(socket);
        socket.on('error', () => socket.destroy());
        socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${LONG}\r\n\r\n`);
        socket.write(body.subarray(0, bytes));
      });
      closing.push(() => destination.close());
      return { url: destination.url(), sockets };
    }

    function of(tenant: string, out: SocketHttpOut, url: string) {
      const ended = new AbortController();
      const call = { url, tenant, method: 'GET', headers: [], body: new Uint8Array(0), timeoutMs: 30_000 } as const;
      return { end: () => ended.abort(), outcome: out.send({ ...call, maxResponseBytes: LONG, signal: ended.signal }) };
    }

    const wholeOf = (outcome: CallOutcome) => outcome.kind === 'response' && Buffer.from(outcome.body).equals(body);

    it('are read while there is memory for them, and one tenant leaves a share to others', async () => {
      const out = httpOut({ maxAnswerBytes: ROOM });
      const endless = await answering(100_000);
      const calls = Array.from({ length: 20 }, () => of('one', out, endless.url));
      await eventually(() => expect(out.answers).to.include({ usedBytes: 3 * LONG, waitingCount: 17 }));
      const { url } = await answering(LONG);
      expect(wholeOf(await of('other', out, url).outcome)).to.equal(true);
      for (const call of calls) call.end();
      for (const { outcome } of calls) expect((await outcome).kind).to.equal('interrupted');
      expect(out.answers).to.include({ usedBytes: 0, waitingCount: 0 });
    });

    it('arrive complete, also when they had to wait for memory', async () => {
      const out = httpOut({ maxAnswerBytes: ROOM });
      const { url, sockets } = await answering(200_000);
      const calls = Array.from({ length: 10 }, () => of('one', out, url));
      await eventually(() => expect(out.answers.waitingCount).to.equal(7));
      for (const socket of sockets) socket.write(body.subarray(200_000));
      for (const { outcome } of calls) expect(wholeOf(await outcome)).to.equal(true);
      expect(out.answers).to.include({ usedBytes: 0, waitingCount: 0 });
    });

    it('arrive complete in chunks of any size', async () => {
      const out = httpOut({ maxAnswerBytes: ROOM });
      const pieces: Buffer[] = [];
      for (let at = 0, size = 1; at < LONG; at += size, size = (size % 700) + 13) {
        const piece = body.subarray(at, at + size);
        pieces.push(Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n'));
      }
      const answer = Buffer.concat([Buffer.from(CHUNKED), ...pieces, Buffer.from('0\r\n\r\n')]);
      const destination = await RawDestination.listening((socket) => socket.write(answer));
      closing.push(() => destination.close());
      const calls = Array.from({ length: 10 }, () => of('one', out, destination.url()));
      for (const { outcome } of calls) expect(wholeOf(await outcome)).to.equal(true);
      expect(out.answers).to.include({ usedBytes: 0, waitingCount: 0 });
    });
  });

  it('in the body do not count towards the bound for headers', async () => {
    const body = 'x'.repeat(3 * MAX_OVERHEAD_BYTES);
    const destination = await RawDestination.listening((socket) =>
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`),
    );
    closing.push(() => destination.close());
    const outcome = await call(httpOut(), destination.url(), body.length);
    expect(outcome.kind === 'response' && Buffer.from(outcome.body).toString()).to.equal(body);
  });

  it('of earlier answers on the connection do not count', async () => {
    const destination = await RawDestination.listening((socket) =>
      socket.write(`HTTP/1.1 200 OK\r\nX: ${'x'.repeat(20_000)}\r\nContent-Length: 0\r\n\r\n`),
    );
    closing.push(() => destination.close());
    const out = httpOut();
    for (let n = 0; n < 10; n += 1) expect((await call(out, destination.url())).kind).to.equal('response');
    expect(destination.connections).to.equal(1);
  });

  it('that arrive without a request close the connection', async () => {
    const flood = new Flood();
    let hasAnswered = false;
    const destination = await RawDestination.listening((socket) => {
      if (!hasAnswered) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
      hasAnswered = true;
      socket.once('pour', () => flood.pour(socket, '', '\r\n'));
      sockets.push(socket);
    });
    const sockets: Socket[] = [];
    closing.push(() => destination.close());
    const out = httpOut();
    expect((await call(out, destination.url())).kind).to.equal('response');
    sockets[0]?.emit('pour');
    await eventually(() => expect(destination.openSockets).to.equal(0));
    expect(flood.sentBytes).to.be.below(UNDER_WAY_BYTES);
  });

  it('are bounded over TLS too', async () => {
    const { key, certificate } = await selfSignedCertificate();
    const flood = new Flood();
    const server: SecureServer = createSecureServer({ key, cert: certificate }, (socket) =>
      socket.once('data', () => flood.pour(socket, `${CHUNKED}1;`, 'e')),
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    closing.push(async () => server.close());
    const { port } = server.address() as { port: number };
    const outcome = await call(httpOut({ ca: certificate }), `https://127.0.0.1:${port}/`);
    expect(errorOf(outcome)).to.equal(TOO_LARGE);
    await eventually(() => expect(flood.openSockets).to.equal(0));
    expect(flood.sentBytes).to.be.below(UNDER_WAY_BYTES);
  });
});
