/** Proves RO3, RO4, TE3. */
import { expect } from 'chai';
import { encodeCommand } from '../../../src/codec/resp/index.js';
import { BroadcastQueue } from '../../../src/edge/index.js';
import { ByteBudget } from '../../../src/kernel/index.js';
import { eventually } from '../../support/eventually.js';
import { realTime } from '../../support/real-time.js';
import { OTHER_PASSWORD, type RawClient, RespEndpointHarness } from '../../support/resp-endpoint.js';

const KIB = 1024;
const MIB = 1024 * KIB;

describe('RESP: messages to many subscribers', () => {
  let face: RespEndpointHarness;
  /** While it is set, no queued item is handed on. */
  let held: (() => void)[] | undefined;
  afterEach(() => face.stop());

  const timers = {
    ...realTime,
    soon: (action: () => void) => (held === undefined ? realTime.soon(action) : held.push(action)),
  };
  const goOn = () => {
    const actions = held ?? [];
    held = undefined;
    for (const action of actions) action();
  };

  async function start(parts: ConstructorParameters<typeof RespEndpointHarness>[0] = {}): Promise<void> {
    held = undefined;
    face = await new RespEndpointHarness({ broadcasts: new BroadcastQueue(realTime, timers), ...parts }).start();
  }

  async function subscribers(count: number, protocol: 2 | 3 = 2): Promise<RawClient[]> {
    const clients: RawClient[] = [];
    for (let i = 0; i < count; i += 1) {
      const client = await face.client(protocol);
      await client.call('SUBSCRIBE', 'news');
      clients.push(client);
    }
    return clients;
  }

  const publishes = () => face.owner.requests.filter(({ commands }) => commands[0]?.[0] === 'PUBLISH');
  const messageOf = (payload: string, kind: '*' | '>' = '*') =>
    `${kind}3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n$${payload.length}\r\n${payload}\r\n`;
  const isHeard = (heard: string, payload: string) => expect(heard === messageOf(payload)).to.equal(true);

  it('arrive complete and in order at any length, also at slow readers', async () => {
    await start();
    const [early, late] = (await subscribers(2)) as [RawClient, RawClient];
    late.socket.pause();
    const publisher = await face.client();
    const payloads = Array.from({ length: 120 }, (_, i) => String(i % 10).repeat(1 + ((i * 7919) % 200_000)));
    for (const payload of payloads) expect(await publisher.call('PUBLISH', 'news', payload)).to.equal(':2\r\n');
    for (const payload of payloads) isHeard(await early.next(), payload);
    late.socket.resume();
    for (const payload of payloads) isHeard(await late.next(), payload);
  });

  it('come before the answers to later commands of their subscriber', async () => {
    await start();
    const [listener] = (await subscribers(1, 3)) as [RawClient];
    const publisher = await face.client();
    const payload = 'x'.repeat(300 * KIB);
    listener.socket.pause();
    for (let i = 0; i < 20; i += 1) await publisher.call('PUBLISH', 'news', payload);
    // All messages are written after one turn of the event loop.
    await new Promise((resolve) => setImmediate(resolve));
    listener.send(encodeCommand(['PING']) + encodeCommand(['GET', 'k']));
    listener.socket.resume();
    for (let i = 0; i < 20; i += 1) expect((await listener.next()) === messageOf(payload, '>')).to.equal(true);
    expect([await listener.next(), await listener.next()]).to.deep.equal(['+PONG\r\n', '_\r\n']);
  });

  it('come before the end of a connection', async () => {
    await start();
    const [listener] = (await subscribers(1)) as [RawClient];
    listener.socket.pause();
    const publisher = await face.client();
    const payload = 'x'.repeat(64 * KIB);
    for (let i = 0; i < 100; i += 1) await publisher.call('PUBLISH', 'news', payload);
    listener.send(encodeCommand(['QUIT']));
    listener.socket.resume();
    for (let i = 0; i < 100; i += 1) isHeard(await listener.next(), payload);
    expect(await listener.next()).to.equal('+OK\r\n');
    await listener.closed();
  });

  it('make publishers of the same database wait while too many bytes are pending, and no others', async () => {
    await start();
    const listeners = await subscribers(70);
    const [publisher, other, reader] = [await face.client(), await face.client(2, OTHER_PASSWORD), await face.client()];
    const payload = 'x'.repeat(64 * KIB);
    held = [];
    expect(await publisher.call('PUBLISH', 'news', payload)).to.equal(':70\r\n');
    await eventually(() => expect(held).to.have.length(1));
    publisher.send(encodeCommand(['PUBLISH', 'news', payload]));
    await eventually(() => expect(publishes()).to.have.length(2));
    publisher.send(encodeCommand(['SET', 'behind', 'x']));
    expect(await reader.call('GET', 'behind')).to.equal('$-1\r\n');
    expect(await reader.call('PUBLISH', 'nobody', 'x')).to.equal(':0\r\n');
    expect(await other.call('SET', 'k', 'v')).to.equal('+OK\r\n');
    expect(publisher.unread).to.deep.equal([]);
    goOn();
    expect([await publisher.next(), await publisher.next()]).to.deep.equal([':70\r\n', '+OK\r\n']);
    for (const listener of listeners) for (let i = 0; i < 2; i += 1) isHeard(await listener.next(), payload);
  });

  it('count against a subscriber that does not read, and not against one that has to wait for its turn', async () => {
    const budget = new ByteBudget(16 * MIB);
    await start({ budget });
    await subscribers(40);
    const publisher = await face.client();
    held = [];
    await publisher.call('PUBLISH', 'news', 'x'.repeat(MIB));
    await eventually(() => expect(held).to.have.length(1));
    // 40 MiB are waiting to be written, and no subscriber has left anything unread.
    expect(budget.bytesOf('db-first')).to.be.below(MIB);
    goOn();
    await eventually(() => expect(budget.usedBytes).to.equal(0));
    expect(face.log.lines.filter(({ event }) => event.startsWith('resp.connection'))).to.deep.equal([]);
  });

  it('are bounded in memory, for any number of subscribers that do not read', async () => {
    const budget = new ByteBudget(16 * MIB);
    await start({ budget });
    const silent = await subscribers(40);
    for (const { socket } of silent) socket.pause();
    const payload = 'x'.repeat(64 * KIB);
    const before = process.memoryUsage();
    let mostBytes = 0;
    const publish = async () => {
      const publisher = await face.client();
      for (let i = 0; i < 25; i += 1) {
        expect(await publisher.call('PUBLISH', 'news', payload)).to.match(/^:\d+\r\n$/);
        const { external, arrayBuffers } = process.memoryUsage();
        mostBytes = Math.max(mostBytes, external + arrayBuffers - before.external - before.arrayBuffers);
        expect(budget.bytesOf('db-first')).to.be.below(9 * MIB);
      }
    };
    await Promise.all([publish(), publish(), publish(), publish()]);
    expect(mostBytes).to.be.below(64 * MIB);
    expect(face.log.lines.find(({ event }) => event === 'resp.connection.cut')?.fields).to.include({
      reason: 'no-room-for-output',
    });
    for (const client of silent) client.close();
    await eventually(() => expect(budget.usedBytes).to.equal(0));
  });
});
