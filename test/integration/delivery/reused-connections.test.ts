/** A kept-alive connection that the destination closes while the next request is sent. Proves DC5, OC2, OC3, CNX2. */
import type { Socket } from 'node:net';
import { expect } from 'chai';
import { SocketHttpOut } from '../../../src/adapters/http-delivery/index.js';
import type { CallOutcome } from '../../../src/ports/index.js';
import { RawDestination } from '../../support/raw-destination.js';

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
const CLOSED = 'connection closed before the response was complete';

describe('a connection that carried a call before', () => {
  const closing: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });

  /** Answers by the number of the connection, from 1, and of the request on it. */
  async function destinationThat(answer: (socket: Socket, connection: number, request: number) => void) {
    const places = new WeakMap<Socket, { connection: number; requests: number }>();
    const destination = await RawDestination.listening((socket) => {
      const place = places.get(socket) ?? { connection: destination.connections, requests: 0 };
      places.set(socket, place);
      place.requests += 1;
      answer(socket, place.connection, place.requests);
    });
    closing.push(() => destination.close());
    return destination;
  }

  function caller(destination: RawDestination, socketsPerOrigin = 10) {
    const out = new SocketHttpOut({ allowPrivate: true, allow: [], socketsPerOrigin });
    closing.push(() => out.close());
    return (body = 'hello', timeoutMs = 5000): Promise<CallOutcome> =>
      out.send({
        url: destination.url(),
        method: 'POST',
        headers: [],
        body: Buffer.from(body),
        timeoutMs,
        maxResponseBytes: 1000,
        signal: new AbortController().signal,
      });
  }

  const wordsOf = (outcome: CallOutcome) =>
    outcome.kind === 'response' ? `${outcome.status}` : outcome.kind === 'no-response' ? outcome.error : outcome.kind;

  const ends: [string, (socket: Socket) => void][] = [
    ['ends', (socket) => socket.end()],
    ['resets', (socket) => socket.resetAndDestroy()],
  ];
  for (const [failure, end] of ends) {
    it(`and ${failure} without an answer has its call repeated on a new one with the same body`, async () => {
      const destination = await destinationThat((socket, connection, request) => {
        if (connection === 1 && request === 2) end(socket);
        else socket.write(OK);
      });
      const call = caller(destination);
      expect(wordsOf(await call('first'))).to.equal('200');
      expect(wordsOf(await call('second'))).to.equal('200');
      expect(destination.connections).to.equal(2);
      expect(destination.requests.map((text) => text.slice(text.lastIndexOf('\n') + 1))).to.deep.equal([
        'first',
        'second',
        'second',
      ]);
    });
  }

  it('is not used again shortly before the end of its Keep-Alive timeout', async () => {
    for (const [keptSeconds, connections] of [
      [2, 2],
      [60, 1],
    ] as const) {
      const kept = `HTTP/1.1 200 OK\r\nKeep-Alive: timeout=${keptSeconds}\r\nContent-Length: 2\r\n\r\nok`;
      const destination = await destinationThat((socket) => socket.write(kept));
      const call = caller(destination);
      expect([wordsOf(await call()), wordsOf(await call())]).to.deep.equal(['200', '200']);
      expect(destination.connections).to.equal(connections);
    }
  });

  it('is replaced by a new connection, never by another used one', async () => {
    const held: Socket[] = [];
    const destination = await destinationThat((socket, connection, request) => {
      if (request > 1) socket.end();
      else if (connection <= 3) {
        held.push(socket);
        if (held.length === 3) for (const each of held) each.write(OK);
      } else socket.write(OK);
    });
    const call = caller(destination);
    await Promise.all([call(), call(), call()]);
    expect(destination.connections).to.equal(3);
    expect(wordsOf(await call())).to.equal('200');
    expect(destination.connections).to.equal(4);
  });

  it('is replaced within the limit of sockets, and before waiting calls', async () => {
    const destination = await destinationThat((socket, connection, request) => {
      if (connection === 1 && request === 2) socket.end();
      else socket.write(OK);
    });
    const call = caller(destination, 1);
    await call('first');
    const outcomes = await Promise.all([call('second'), call('third')]);
    expect(outcomes.map(wordsOf)).to.deep.equal(['200', '200']);
    expect(destination.requests.map((text) => text.slice(text.lastIndexOf('\n') + 1))).to.deep.equal([
      'first',
      'second',
      'second',
      'third',
    ]);
  });

  it('is replaced once: a new one that ends too is a failed attempt', async () => {
    const destination = await destinationThat((socket, connection) => {
      if (connection === 1 && socket.bytesRead < 300) socket.write(OK);
      else socket.end();
    });
    const call = caller(destination);
    expect(wordsOf(await call())).to.equal('200');
    expect(wordsOf(await call('x'.repeat(300)))).to.equal(CLOSED);
    expect(destination.connections).to.equal(2);
  });

  it('is not replaced after a byte of the answer has arrived', async () => {
    const destination = await destinationThat((socket, _connection, request) => {
      if (request === 1) socket.write(OK);
      else socket.end('H');
    });
    const call = caller(destination);
    await call();
    expect(wordsOf(await call())).to.equal(CLOSED);
    expect(destination.connections).to.equal(1);
  });

  it('is not replaced when it stays silent until the timeout', async () => {
    const destination = await destinationThat((socket, _connection, request) => {
      if (request === 1) socket.write(OK);
    });
    const call = caller(destination);
    await call();
    expect(wordsOf(await call('hello', 100))).to.equal('timed out after 0.1s');
    expect(destination.connections).to.equal(1);
  });

  it('is the only kind that is replaced: a new one that ends is a failed attempt', async () => {
    const destination = await destinationThat((socket) => socket.end());
    const call = caller(destination);
    expect(wordsOf(await call())).to.equal(CLOSED);
    expect(destination.connections).to.equal(1);
  });
});
