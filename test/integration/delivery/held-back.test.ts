/** Calls of an owner that has lost its certainty of ownership before the request could be sent. Proves DC7, HO5. */
import { expect } from 'chai';
import { type HttpOutOptions, SocketHttpOut } from '../../../src/adapters/http-delivery/index.js';
import type { CallOutcome } from '../../../src/ports/index.js';
import { eventually } from '../../support/eventually.js';
import { RawDestination } from '../../support/raw-destination.js';

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

describe('a call whose owner may not send any more', () => {
  const closing: (() => Promise<unknown>)[] = [];
  let maySend = true;
  beforeEach(() => {
    maySend = true;
  });
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });

  async function destinationThat(answer: Parameters<typeof RawDestination.listening>[0]): Promise<RawDestination> {
    const destination = await RawDestination.listening(answer);
    closing.push(() => destination.close());
    return destination;
  }

  function caller(options: Partial<HttpOutOptions> = {}) {
    const out = new SocketHttpOut({ allowPrivate: true, allow: [], ...options });
    closing.push(() => out.close());
    const call = async (url: string): Promise<CallOutcome['kind']> => {
      const { kind } = await out.send({
        url,
        method: 'POST',
        headers: [],
        body: Buffer.from('b'),
        timeoutMs: 30_000,
        maxResponseBytes: 1000,
        signal: new AbortController().signal,
        maySend: () => maySend,
      });
      return kind;
    };
    return { out, call };
  }

  it('is held back when its connection is ready, and no byte of it is sent', async () => {
    const destination = await destinationThat((socket) => socket.write(OK));
    let found: () => void = () => {};
    const looking = new Promise<void>((resolve) => {
      found = resolve;
    });
    const resolve: HttpOutOptions['resolve'] = async () => {
      await looking;
      return { addresses: [{ address: '127.0.0.1', family: 4 }], ttlMs: 0 };
    };
    const { out, call } = caller({ resolve });
    const outcome = call(destination.url('/', 'slow.example'));
    maySend = false;
    found();
    expect(await outcome).to.equal('held-back');
    expect(destination.requests).to.deep.equal([]);
    await eventually(() => expect(destination.openSockets).to.equal(0));
    expect(out.figures.sockets).to.equal(0);
    maySend = true;
    expect(await call(destination.url('/', 'slow.example'))).to.equal('response');
  });

  it('is held back after it waited for a free connection, as are all calls after it', async () => {
    let answer: () => void = () => {};
    const destination = await destinationThat((socket) => {
      answer = () => socket.write(OK);
    });
    const { call } = caller({ socketsPerOrigin: 1 });
    const first = call(destination.url());
    const waiting = [call(destination.url()), call(destination.url())];
    await eventually(() => expect(destination.requests).to.have.lengthOf(1));
    maySend = false;
    answer();
    expect(await first).to.equal('response');
    expect(await Promise.all(waiting)).to.deep.equal(['held-back', 'held-back']);
    expect(destination.requests).to.have.lengthOf(1);
  });

  it('is not repeated on a new connection when its own was lost', async () => {
    let requests = 0;
    const destination = await destinationThat((socket) => {
      requests += 1;
      if (requests === 1) socket.write(OK);
      else {
        maySend = false;
        socket.destroy();
      }
    });
    const { call } = caller();
    expect(await call(destination.url())).to.equal('response');
    expect(await call(destination.url())).to.equal('held-back');
    expect(destination.requests).to.have.lengthOf(2);
  });
});
