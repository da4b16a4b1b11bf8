import { once } from 'node:events';
import http from 'node:http';
import net, { type AddressInfo } from 'node:net';
import { expect } from 'chai';
import { lookForSlowClients } from '../../../../src/edge/http/endpoint-server.js';
import { eventually } from '../../../support/eventually.js';

const EVERY_MS = 50;

describe('the check for slow clients', () => {
  let server: http.Server;

  /** @param slowMs how long a client may take for its request */
  async function listen(slowMs: number): Promise<void> {
    const times = { headersTimeout: slowMs, requestTimeout: slowMs };
    server = http.createServer(times, (_request, response) => response.end('ok'));
    lookForSlowClients(server, EVERY_MS);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  }

  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  const connect = async () => {
    const { port } = server.address() as AddressInfo;
    const socket = net.connect(port, '127.0.0.1');
    await once(socket, 'connect');
    return socket;
  };

  /** Node's own timer, by the name of its place. */
  const intervalMs = () => {
    const key = Object.getOwnPropertySymbols(server).find(({ description = '' }) =>
      description.endsWith('connectionsCheckingInterval'),
    );
    return (server as unknown as Record<symbol, { _repeat: number } | undefined>)[key ?? Symbol()]?._repeat;
  };

  it('runs while there are clients, and wakes no thread while there are none', async () => {
    await listen(600_000);
    expect(intervalMs()).to.be.above(1_000_000);
    const [one, other] = [await connect(), await connect()];
    await eventually(() => expect(intervalMs()).to.equal(EVERY_MS));
    one.destroy();
    expect(intervalMs()).to.equal(EVERY_MS);
    other.destroy();
    await eventually(() => expect(intervalMs()).to.be.above(1_000_000));
  });

  it('finds a slow client, also after all earlier clients have gone', async () => {
    await listen(100);
    for (let round = 0; round < 2; round += 1) {
      const slow = await connect();
      slow.write('GET / HTTP/1.1\r\nHost:');
      const [answer] = (await once(slow, 'data')) as [Buffer];
      expect(answer.toString()).to.match(/^HTTP\/1\.1 408 /);
      await once(slow, 'close');
    }
  });
});
