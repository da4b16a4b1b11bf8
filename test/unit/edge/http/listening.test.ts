/** Opening the port of a face. */
import { createServer } from 'node:net';
import { expect } from 'chai';
import { hostAndPort, listenOn } from '../../../../src/edge/http/index.js';
import { isMillraceError } from '../../../../src/kernel/index.js';

describe('the port of a face', () => {
  it('is named with its setting when it cannot be listened on', async () => {
    const listen = () => Promise.reject(new Error('address already in use'));
    const thrown = await listenOn({ listen }, '127.0.0.1', 8080, 'MILLRACE_KV_PORT').catch((error: unknown) => error);
    expect(isMillraceError(thrown, 'BAD_CONFIG')).to.equal(true);
    expect((thrown as Error).message).to.equal('MILLRACE_KV_PORT: cannot listen on port 8080: address already in use');
  });

  it('is the one that was taken, where any free one was asked for', async () => {
    const server = createServer();
    const listen = (port: number, host: string) =>
      new Promise<{ port: number }>((resolve) => {
        server.listen(port, host, () => resolve(server.address() as { port: number }));
      });
    expect(await listenOn({ listen }, '127.0.0.1', 0, 'MILLRACE_KV_PORT')).to.be.greaterThan(0);
    server.close();
  });

  it('stands behind a host as URLs have it', () => {
    expect(hostAndPort('127.0.0.1', 80)).to.equal('127.0.0.1:80');
    expect(hostAndPort('::1', 80)).to.equal('[::1]:80');
  });
});
