/** Listening on the port of an endpoint. */
import { createConnection, createServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { NodeTimers, SystemClock } from '../../../../src/adapters/node/index.js';
import { hostAndPort, listenOn } from '../../../../src/edge/http/index.js';
import { OpenConnections, OwnPort, stopAccepting, untilLastRequests } from '../../../../src/edge/http/listening.js';
import { describeError, isMillraceError } from '../../../../src/kernel/index.js';
import { timersOf } from '../../../support/timers-of.js';

const CLIENTS = 20;

describe('the port of an endpoint', () => {
  it('is named with its setting when the process cannot listen on it', async () => {
    const causes: [code: string, why: string][] = [
      ['EADDRINUSE', 'another program listens there'],
      ['EACCES', 'this user may not listen there: ports below 1024 need CAP_NET_BIND_SERVICE'],
      ['EMFILE', 'what the system says'],
    ];
    for (const [code, why] of causes) {
      const listen = () => Promise.reject(Object.assign(new Error('what the system says'), { code }));
      const thrown = await listenOn({ listen }, '::1', 8080, 'MILLRACE_KV_PORT').catch((error: unknown) => error);
      expect(isMillraceError(thrown, 'BAD_CONFIG')).to.equal(true);
      expect(describeError(thrown)).to.equal(`MILLRACE_KV_PORT: cannot listen on [::1]:8080: ${why}`);
    }
  });

  it('is the assigned one when any free port was requested', async () => {
    const server = createServer();
    const listen = (port: number, host: string) =>
      new Promise<{ port: number }>((resolve) => {
        server.listen(port, host, () => resolve(server.address() as { port: number }));
      });
    expect(await listenOn({ listen }, '127.0.0.1', 0, 'MILLRACE_KV_PORT')).to.be.greaterThan(0);
    server.close();
  });

  it('is closed after every client that has connected is accepted', async () => {
    const server = createServer((socket) => socket.once('data', () => socket.end('answer')));
    const own = new OwnPort(new NodeTimers(), new SystemClock());
    const connections = new OpenConnections();
    connections.watch(server);
    const acceptFailed = (error: Error) => expect.fail(error.message);
    const { port } = await own.begin(server, {
      port: 0,
      host: '127.0.0.1',
      variable: '',
      backlog: CLIENTS,
      acceptFailed,
    });
    const answers = Array.from({ length: CLIENTS }, () => text(createConnection(port, '127.0.0.1').end('request')));
    const closed = await stopAccepting(own, [server], { connections, cut: () => undefined, deadline: undefined });
    expect(await Promise.all(answers)).to.deep.equal(Array(CLIENTS).fill('answer'));
    await closed.promise;
  });

  it('keeps idle connections for its time after the last accepted one, unless they were silent as long or are closed', async () => {
    const waits: number[] = [];
    const never = { promise: new Promise<void>(() => undefined) };
    const timers = timersOf({
      after: (delayMs, action) => {
        waits.push(delayMs);
        setImmediate(action);
        return { cancel: () => undefined };
      },
      soon: (action) => void setImmediate(action),
    });
    await untilLastRequests(999, { lastRequestsMs: 1_000 }, { timers, closed: never });
    expect(waits).to.deep.equal([1_000]);
    await untilLastRequests(1_000, { lastRequestsMs: 1_000 }, { timers, closed: never });
    expect(waits).to.deep.equal([1_000]);
    const late = timersOf({ after: () => ({ cancel: () => undefined }), soon: (action) => void setImmediate(action) });
    await untilLastRequests(0, { lastRequestsMs: 1_000 }, { timers: late, closed: { promise: Promise.resolve() } });
  });

  it('follows its host in the notation of URLs', () => {
    expect(hostAndPort('127.0.0.1', 80)).to.equal('127.0.0.1:80');
    expect(hostAndPort('::1', 80)).to.equal('[::1]:80');
  });
});
