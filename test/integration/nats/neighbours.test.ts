/** Requests between processes of one machine over Unix sockets. Proves NB1 to NB4, NBL1 to NBL3, NF1. */
import { chmod, mkdtemp, readdir, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { connect as connectSocket, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { connect, Names, NatsBus, type NatsConnections } from '../../../src/adapters/nats/index.js';
import { type NeighbourOutcome, Neighbours } from '../../../src/adapters/nats/neighbours/index.js';
import { FrameWriter, KIND } from '../../../src/adapters/nats/neighbours/neighbour-frames.js';
import type { ShardName } from '../../../src/kernel/index.js';
import type { NeighbourAddress, Topic } from '../../../src/ports/index.js';
import { eventually } from '../../support/eventually.js';
import { type NatsServer, startNatsServer } from '../../support/nats-server.js';

const PATIENT_MS = 30_000;
const bytes = (text: string) => Buffer.from(text);
const echo = async (payload: Uint8Array) => ({ kind: 'answer' as const, body: bytes(`answer to ${textOf(payload)}`) });
const textOf = (payload: Uint8Array) => Buffer.from(payload).toString();

describe('processes of one machine', () => {
  let directory: string;
  let all: Neighbours[];
  let sockets: Socket[];
  let connected: boolean;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'millrace-near-'));
    [all, sockets, connected] = [[], [], true];
  });
  afterEach(async () => {
    for (const socket of sockets) socket.destroy();
    await Promise.all(all.map((neighbours) => neighbours.close()));
    await rm(directory, { recursive: true, force: true });
  });

  async function started(machine = 'here', name = `data-${all.length}`): Promise<Neighbours> {
    const neighbours = new Neighbours({ dataDir: join(directory, name), machine, isConnected: () => connected });
    all.push(neighbours);
    await eventually(() => expect(neighbours.address).to.not.equal(undefined));
    return neighbours;
  }
  const addressOf = ({ address }: Neighbours) => address as NeighbourAddress;
  async function joined(count = 2): Promise<Neighbours[]> {
    const processes: Neighbours[] = [];
    for (let at = 0; at < count; at += 1) processes.push(await started());
    for (const one of processes) for (const other of processes) one.meet(addressOf(other));
    await eventually(() => expect(processes.map(({ size }) => size)).to.deep.equal(processes.map(() => count - 1)));
    return processes;
  }
  function ask(
    neighbours: Neighbours,
    payload: Uint8Array,
    timeoutMs = PATIENT_MS,
  ): Promise<NeighbourOutcome> | 'not asked' {
    let settle: (outcome: NeighbourOutcome) => void = () => {};
    const outcome = new Promise<NeighbourOutcome>((resolve) => {
      settle = resolve;
    });
    return neighbours.request('topic', payload, timeoutMs, settle) ? outcome : 'not asked';
  }
  /** A process that speaks the protocol by hand, and serves the topic. */
  async function byHand(
    to: Neighbours,
    secret = addressOf(to).secret,
  ): Promise<{ socket: Socket; writer: FrameWriter }> {
    const socket = connectSocket(addressOf(to).path);
    sockets.push(socket);
    socket.on('error', () => {});
    const writer = new FrameWriter(socket);
    writer.write(KIND.hello, 1, Buffer.concat([secret, bytes('by hand')]));
    writer.write(KIND.serve, 1, bytes('topic'));
    return { socket, writer };
  }
  const reachable = (neighbours: Neighbours) =>
    eventually(() => expect(ask(neighbours, bytes('?'))).to.not.equal('not asked'));

  it('ask each other without NATS, over one connection, in both directions', async () => {
    const [a, b] = (await joined()) as [Neighbours, Neighbours];
    a.serve('topic', echo);
    b.serve('other', echo);
    await reachable(b);
    const outcomes = await Promise.all(Array.from({ length: 100 }, (_, n) => ask(b, bytes(`${n}`))));
    expect(
      outcomes.map((outcome) => outcome !== 'not asked' && outcome.kind === 'answer' && textOf(outcome.body)),
    ).to.deep.equal(Array.from({ length: 100 }, (_, n) => `answer to ${n}`));
    expect(ask(a, bytes('?'))).to.equal('not asked');
  });

  it('carry a payload of half a megabyte in both directions', async () => {
    const [a, b] = (await joined()) as [Neighbours, Neighbours];
    a.serve('topic', async (payload) => ({ kind: 'answer', body: payload }));
    await reachable(b);
    const large = Buffer.alloc(512 * 1024, 7);
    const outcome = await ask(b, large);
    expect(outcome !== 'not asked' && outcome.kind === 'answer' && large.equals(outcome.body)).to.equal(true);
  });

  it('leave a topic to NATS that two processes serve, or none any more (NB2)', async () => {
    const [a, b, c] = (await joined(3)) as [Neighbours, Neighbours, Neighbours];
    const end = a.serve('topic', echo);
    await reachable(c);
    const endOther = b.serve('topic', echo);
    await eventually(() => expect(ask(c, bytes('?'))).to.equal('not asked'));
    end();
    await reachable(c);
    endOther();
    await eventually(() => expect(ask(c, bytes('?'))).to.equal('not asked'));
  });

  it('do not serve while they have lost NATS, and say that the request was not received (NB3)', async () => {
    const [a, b] = (await joined()) as [Neighbours, Neighbours];
    let received = 0;
    a.serve('topic', (payload) => {
      received += 1;
      return echo(payload);
    });
    await reachable(b);
    await ask(b, bytes('?'));
    const before = received;
    connected = false;
    expect(await ask(b, bytes('?'))).to.deep.equal({ kind: 'unserved' });
    expect(received).to.equal(before);
  });

  it('end with an unknown outcome when the other process ends, and at their own time without an answer (NBL1)', async () => {
    const [a, b] = (await joined()) as [Neighbours, Neighbours];
    a.serve('topic', () => new Promise(() => {}));
    await reachable(b);
    const late = ask(b, bytes('?'), 50);
    expect(late !== 'not asked' && (await late).kind).to.equal('lost');
    await eventually(() => expect(ask(b, bytes('?'))).to.not.equal('not asked'));
    const lost = ask(b, bytes('?'));
    await a.close();
    expect(lost !== 'not asked' && (await lost).kind).to.equal('lost');
    await eventually(() => expect(ask(b, bytes('?'))).to.equal('not asked'));
  });

  it('refuse a caller that does not know the secret (NB1)', async () => {
    const a = await started();
    const { socket } = await byHand(a, Buffer.alloc(32));
    await eventually(() => expect(socket.destroyed).to.equal(true));
    expect(a.size).to.equal(0);
    await byHand(a);
    await eventually(() => expect(a.size).to.equal(1));
  });

  it('have their socket in a directory that is closed to other users, and call none in an open one (NB1)', async () => {
    const [a, b] = [await started(), await started()];
    const [called, caller] = addressOf(a).name > addressOf(b).name ? [a, b] : [b, a];
    const open = dirname(addressOf(called).path);
    expect((await stat(open)).mode & 0o777).to.equal(0o700);
    await chmod(open, 0o755);
    caller.meet(addressOf(called));
    const { name } = addressOf(called);
    await eventually(() => expect(caller.isCalling(name)).to.equal(false));
    expect(caller.size).to.equal(0);
  });

  it('are not called on another machine', async () => {
    const [a, b] = [await started('here'), await started('there')];
    a.meet(addressOf(b));
    b.meet(addressOf(a));
    expect([a.isCalling(addressOf(b).name), b.isCalling(addressOf(a).name)]).to.deep.equal([false, false]);
  });

  it('send the requests of one round of the event loop in one write (NF2)', async () => {
    const a = await started();
    const { socket } = await byHand(a);
    await reachable(a);
    await eventually(() => expect(socket.bytesRead).to.be.greaterThan(0));
    let reads = 0;
    socket.on('data', () => {
      reads += 1;
    });
    const before = socket.bytesRead;
    for (let n = 0; n < 50; n += 1) void ask(a, bytes('?'));
    await eventually(() => expect(socket.bytesRead - before).to.equal(50 * 14));
    expect(reads).to.be.at.most(2); // an earlier one may still be on its way
  });

  it('leave requests to NATS while the other process is silent, until it gives a sign of life (NBL3)', async () => {
    const a = await started();
    const { writer } = await byHand(a);
    await reachable(a);
    await eventually(() => expect(ask(a, bytes('?'))).to.equal('not asked'));
    writer.write(KIND.pong, 0, new Uint8Array());
    await reachable(a);
  });

  it('leave requests to NATS when the other process does not read, and keep bounded memory for it (NBL2)', async () => {
    const a = await started();
    const { socket, writer } = await byHand(a);
    socket.pause();
    await reachable(a);
    const payload = Buffer.alloc(500_000);
    let asked = 0;
    while (asked < 100 && ask(a, payload) !== 'not asked') asked += 1;
    expect(asked).to.be.greaterThan(4).and.lessThan(15);
    writer.write(KIND.request, 9, bytes('?'), 1);
    await eventually(() => expect(ask(a, payload)).to.equal('not asked'));
  });

  it('disconnect a process that sends an unknown kind of frame, or one that is too long (NF1)', async () => {
    const a = await started();
    for (const spoil of [
      (writer: FrameWriter) => writer.write(99, 0, new Uint8Array()),
      (writer: FrameWriter) => writer.write(KIND.answer, 0, Buffer.alloc(600 * 1024)),
    ]) {
      const { socket, writer } = await byHand(a);
      await eventually(() => expect(a.size).to.equal(1));
      spoil(writer);
      await eventually(() => expect([a.size, socket.destroyed]).to.deep.equal([0, true]));
    }
  });

  it('remove sockets of processes that were killed, and keep those of living ones', async () => {
    const a = await started('here', 'shared');
    const sockets = dirname(addressOf(a).path);
    const killed = join(sockets, 'killed.sock');
    const server = createServer().listen(killed);
    await eventually(() => expect(server.listening).to.equal(true));
    await rename(killed, join(sockets, 'left.sock'));
    await new Promise((closed) => server.close(closed));
    const longAgo = new Date(Date.now() - 3_600_000);
    await utimes(join(sockets, 'left.sock'), longAgo, longAgo);
    await utimes(addressOf(a).path, longAgo, longAgo);
    await writeFile(join(sockets, 'note'), '');
    const b = await started('here', 'shared');
    const names = [addressOf(a), addressOf(b)].map(({ name }) => `${name}.sock`);
    expect((await readdir(sockets)).sort()).to.deep.equal([...names, 'note'].sort());
  });
});

describe('commands to a process of the same machine', () => {
  const names = new Names('near');
  const topic: Topic = { kind: 'command', shard: 'KV_0' as ShardName };
  let directory: string;
  let server: NatsServer;
  let connections: NatsConnections[];
  let buses: NatsBus[];
  let overNats: number;

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'millrace-near-'));
    server = await startNatsServer();
    connections = await Promise.all([connect({ servers: [server.url] }), connect({ servers: [server.url] })]);
    buses = connections.map(
      (own, at) => new NatsBus(own, names, { near: { dataDir: join(directory, `${at}`), machine: 'm' } }),
    );
    const [watching] = connections as [NatsConnections];
    overNats = 0;
    const countOne = () => {
      overNats += 1;
    };
    watching.control.raw.subscribe(names.allTopics('command'), { callback: countOne });
    const meet = () => {
      for (const bus of buses) for (const { address } of buses) if (address !== undefined) bus.meet(address);
      expect(buses.map(({ neighbours }) => neighbours)).to.deep.equal([1, 1]);
    };
    await eventually(meet);
  });
  after(async () => {
    await Promise.all(buses.map((bus) => bus.close()));
    await Promise.all(connections.map((each) => each.close()));
    await server.stop();
    await rm(directory, { recursive: true, force: true });
  });

  it('go to it directly when one process may receive them, and over NATS when all have to', async () => {
    const [asking, serving] = buses as [NatsBus, NatsBus];
    const served = serving.serve(topic, async (payload) => payload);
    await connections[1]?.control.flush(PATIENT_MS);
    await eventually(async () => {
      const before = overNats;
      expect(textOf(await asking.request(topic, bytes('a'), PATIENT_MS, 'one'))).to.equal('a');
      expect(overNats).to.equal(before);
    });
    const before = overNats;
    expect(textOf(await asking.request(topic, bytes('b'), PATIENT_MS))).to.equal('b');
    expect(overNats).to.equal(before + 1);
    // Its shard has another owner soon: a request to one process does not end here.
    served.yield();
    await eventually(async () => {
      const count = overNats;
      expect(textOf(await asking.request(topic, bytes('c'), PATIENT_MS, 'one'))).to.equal('c');
      expect(overNats).to.equal(count + 1);
    });
    served.stop();
  });

  it('fail with the error of the owner, and bring an answer that is too large for one message in pieces', async () => {
    const [asking, serving] = buses as [NatsBus, NatsBus];
    const large = Buffer.alloc(3 * 1024 * 1024, 5);
    const served = serving.serve(topic, async (payload) => {
      if (textOf(payload) === 'large') return large;
      throw new Error('not this one');
    });
    await connections[1]?.control.flush(PATIENT_MS);
    expect(large.equals(await asking.request(topic, bytes('large'), PATIENT_MS, 'one'))).to.equal(true);
    const failure = await asking.request(topic, bytes('x'), PATIENT_MS, 'one').catch((error: Error) => error.message);
    expect(failure).to.equal('not this one');
    served.stop();
  });

  it('use NATS when the process of this machine does not receive them (NB4)', async () => {
    const [asking, serving] = buses as [NatsBus, NatsBus];
    const served = serving.serve(topic, async (payload) => payload);
    await connections[1]?.control.flush(PATIENT_MS);
    await serving.close();
    await eventually(() => expect(asking.neighbours).to.equal(0));
    expect(textOf(await asking.request(topic, bytes('d'), PATIENT_MS, 'one'))).to.equal('d');
    served.stop();
  });
});
