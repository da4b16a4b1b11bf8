/**
 * The time until a link is connected to another server, or reports its own as lost. Proves LK4, LK5 on real servers.
 */

import type { AddressInfo } from 'node:net';
import { connect as connectSocket, createServer, type Server, type Socket } from 'node:net';
import { expect } from 'chai';
import { connect, type NatsConnections } from '../../../src/adapters/nats/index.js';
import { eventually } from '../../support/eventually.js';
import { type NatsServer, startNatsServer } from '../../support/nats-server.js';

/** Slack for two busy cores. */
const SLACK_MS = 2000;
const DIAL_LIMIT_MS = 2000;

describe('a link to a NATS server', function () {
  this.timeout(60_000);
  const servers: NatsServer[] = [];
  let connections: NatsConnections | undefined;
  let door: Server | undefined;

  beforeEach(async () => {
    servers.push(await startNatsServer());
  });
  afterEach(async () => {
    await connections?.close();
    for (const server of servers.splice(0)) {
      server.resume();
      await server.stop();
    }
    door?.close();
    door = undefined;
  });

  const AGAIN = { timeoutMs: 15_000 };
  const [FIRST_LOOK_MS, ALIVE_MS, OWN_ALIVE_MS] = [1000, 2000, 5000];
  for (const [role, isOwn, aliveMs] of [
    ['of others', false, ALIVE_MS],
    ['of its own process', true, OWN_ALIVE_MS],
  ] as const) {
    it(`to a stopped server ${role} is reported as lost ${aliveMs / 1000} s after a request had no answer`, async () => {
      const [server] = servers as [NatsServer];
      connections = await connect({ servers: [server.url], isOwn });
      const link = connections.appends;
      // A busy machine may be slow in one try, but not in each.
      await eventually(async () => {
        await server.pause();
        const startedAtMs = performance.now();
        link.request('nobody', '', { timeoutMs: FIRST_LOOK_MS }).catch(() => undefined);
        await eventually(() => expect(link.isConnected()).to.equal(false), { timeoutMs: 20_000 });
        const tookMs = performance.now() - startedAtMs;
        server.resume();
        await eventually(() => expect(link.isConnected()).to.equal(true), { timeoutMs: 10_000 });
        expect(tookMs).to.be.within(aliveMs, FIRST_LOOK_MS + aliveMs + SLACK_MS);
      }, AGAIN);
    });
  }

  it('that is lost during sign-in is established again within the dial limit of 2 s', async () => {
    const [server] = servers as [NatsServer];
    const opened: Socket[] = [];
    let cutsGreetings = 0;
    door = createServer((socket) => {
      const target = connectSocket(server.port, '127.0.0.1');
      opened.push(socket);
      for (const one of [socket, target]) one.on('error', () => undefined);
      socket.on('close', () => target.destroy());
      target.pipe(socket);
      if (cutsGreetings === 0) {
        socket.pipe(target);
        return;
      }
      // The server has sent its greeting, and is gone when the client signs in.
      cutsGreetings -= 1;
      socket.once('data', () => socket.resetAndDestroy());
    });
    await new Promise<void>((done) => door?.listen(0, '127.0.0.1', done));
    connections = await connect({ servers: [`127.0.0.1:${(door.address() as AddressInfo).port}`] });
    const link = connections.appends;
    // A busy machine may be slow in one try, but not in each.
    await eventually(async () => {
      cutsGreetings = 1;
      for (const socket of opened.splice(0)) socket.resetAndDestroy();
      await eventually(() => expect(link.isConnected()).to.equal(false));
      const lostAtMs = performance.now();
      await eventually(() => expect(link.isConnected()).to.equal(true), { timeoutMs: 20_000 });
      expect(performance.now() - lostAtMs).to.be.below(DIAL_LIMIT_MS + SLACK_MS);
    }, AGAIN);
  });

  it('moves to another server before its own shuts down', async () => {
    const [server] = servers as [NatsServer];
    const other = await startNatsServer();
    servers.push(other);
    connections = await connect({ servers: [server.url, other.url] });
    const { appends } = connections;
    const first = appends.raw.info?.port === server.port ? server : other;
    first.signal('SIGUSR2');
    const isElsewhere = () => appends.isConnected() && appends.raw.info?.port !== first.port;
    await eventually(() => expect(isElsewhere()).to.equal(true), { timeoutMs: 10_000 });
  });
});
