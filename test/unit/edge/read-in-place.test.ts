/** Sockets that share one buffer. Proves RIP1, RIP2. */
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { expect } from 'chai';
import { readInPlace } from '../../../src/edge/resp/read-in-place.js';
import { eventually } from '../../support/eventually.js';

describe('a socket that reads in place', () => {
  let server: Server;
  let client: Socket;
  let accepted: Socket;
  const lent: Buffer[] = [];
  const copies: string[] = [];

  beforeEach(async () => {
    lent.length = 0;
    copies.length = 0;
    server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (socket) => {
      accepted = readInPlace(socket, (bytes) => {
        lent.push(bytes);
        copies.push(bytes.toString());
      });
      accepted.resume();
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    client = connect(port, '127.0.0.1');
    await once(client, 'connect');
  });
  afterEach(() => {
    client.destroy();
    accepted.destroy();
    server.close();
  });

  async function sent(text: string): Promise<void> {
    client.write(text);
    await eventually(() => expect(copies.join('')).to.satisfy((all: string) => all.endsWith(text)));
  }

  it('lends what it read until the listener returns: the next read is written over it (RIP1)', async () => {
    await sent('first');
    await sent('again');
    expect(copies).to.deep.equal(['first', 'again']);
    expect(lent[0]?.toString()).to.equal('again');
  });

  it('is the one that its server has accepted: counted, and waited for (RIP2)', async () => {
    await sent('here');
    const count = () => new Promise<number>((resolve) => server.getConnections((_, open) => resolve(open)));
    expect(await count()).to.equal(1);
    let isClosed = false;
    server.close(() => {
      isClosed = true;
    });
    await sent('still here');
    expect(isClosed).to.equal(false);
    accepted.destroy();
    await eventually(() => expect(isClosed).to.equal(true));
  });

  it('writes, and hears of the end of what is sent to it', async () => {
    const ended = once(accepted, 'end');
    client.on('data', (bytes) => copies.push(`client: ${bytes}`));
    accepted.write('hello');
    await eventually(() => expect(copies).to.deep.equal(['client: hello']));
    client.end();
    await ended;
  });
});
